"""Use cases on a cluster that runs: nothing here writes to it."""
