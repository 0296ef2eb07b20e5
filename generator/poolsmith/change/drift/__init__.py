"""What will a delivery engine report as different for ever? The server's own hand in what is applied, and its cures."""
