"""What the API server does with an object."""
