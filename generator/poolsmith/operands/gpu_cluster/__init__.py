"""What the operator creates for a GPUCluster: the stack of dynamic resource allocation. Floor: operands."""
