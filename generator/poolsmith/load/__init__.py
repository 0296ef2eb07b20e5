"""Load: files to the typed model, with every mistake at its line."""
