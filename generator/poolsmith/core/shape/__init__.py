"""Shape: how fields of poolsmith's own kinds are declared, read, and explained when they are misspelt."""
