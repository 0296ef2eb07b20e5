"""The operator's DaemonSets for a ClusterPolicy, a function for each component."""
