"""What `kustomize build` makes of the kustomizations of a repository, with the line that decides each value."""
