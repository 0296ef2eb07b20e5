"""Rules over any tree of manifests, one file each."""
