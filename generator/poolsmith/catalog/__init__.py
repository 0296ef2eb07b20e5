"""Catalog: versioned facts as data, each with its source, and typed look-ups."""

from poolsmith.catalog.catalog import Catalog

__all__ = ["Catalog"]
