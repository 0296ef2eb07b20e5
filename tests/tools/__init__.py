"""Tools of those who maintain poolsmith: they make the catalog's data from what others publish. No run needs them."""
