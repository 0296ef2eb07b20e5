"""Rules over what stands beside the GPU stack: the files of who makes the nodes, and of the network's operator."""
