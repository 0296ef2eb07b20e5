"""Importing: a release's entries, made from its chart and from the operator's own repository."""
