"""What the operator creates for a GPUCluster."""
