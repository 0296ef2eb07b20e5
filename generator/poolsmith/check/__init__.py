"""Check: rules over any tree of manifests."""
