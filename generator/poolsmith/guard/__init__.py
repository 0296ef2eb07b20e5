"""What may run, who granted it, and what is wrong."""
