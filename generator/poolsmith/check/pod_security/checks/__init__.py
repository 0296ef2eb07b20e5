"""One check of the Pod Security Standards per file, each named after its upstream id."""
