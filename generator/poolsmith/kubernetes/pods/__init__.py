"""One reader of pods: the facts that privileges, claims and Pod Security checks are views of."""
