"""What the operator's chart makes of values: custom resources, ConfigMaps, workloads."""
