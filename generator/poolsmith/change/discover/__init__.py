"""What a cluster that runs says of its pools and of its GPU stack: pure functions over a snapshot."""
