"""Files that users give to `expand` and `check`: values, objects, nodes, os-release."""
