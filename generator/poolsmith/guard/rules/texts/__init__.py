"""Rules over texts of the stack, wherever they stand: in ConfigMaps, values, patches, files; known by their shape."""
