"""One GPU for several pods: MIG, time-slicing, MPS."""
