"""What a cluster says: read from its API server, or from a file. Nothing here ever writes to a cluster."""
