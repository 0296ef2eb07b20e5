"""How charts reach the cluster: engines, sources, mirrors, and values that keep engines quiet."""
