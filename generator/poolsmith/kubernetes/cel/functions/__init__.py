"""The functions of Kubernetes that the engine lacks, over plain values."""
