"""What is true of GPUs, drivers, charts and releases."""
