"""Schema validation: structural schemas compiled to closures, and what they say about objects."""
