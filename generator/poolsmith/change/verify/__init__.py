"""A live cluster held against what is committed and predicted for it: pure functions over a snapshot."""
