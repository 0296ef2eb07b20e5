"""Rules over the privileges that a cluster's profiles come to. Nothing here reads files."""
