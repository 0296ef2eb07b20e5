"""Rules over the setup of one cluster: drivers, toolkits, nodes and what stands beside them."""
