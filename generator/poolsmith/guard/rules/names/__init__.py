"""Names that something needs, what the files supply, and the verdict over both."""
