"""What will a delivery engine always show as out of sync? The server's own hand in what is applied, and its cures."""
