"""Sources: bytes and files, in and out. YAML as Kubernetes reads it; trees written atomically."""
