"""The privileges of workloads, read from Kubernetes objects. Floor: operands."""
