"""What a pool is, from whichever surface, and the rules over it."""
