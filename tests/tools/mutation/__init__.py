"""Small faults in the package, and which tests notice them (`tools.mutate`)."""
