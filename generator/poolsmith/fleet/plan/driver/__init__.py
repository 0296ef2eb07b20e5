"""Where the driver of a pool comes from, and what it has to fit."""
