"""Catalog: versioned facts as data, each with its source, and typed look-ups."""

from __future__ import annotations

TYPE_CHECKING = False  # a hook asks for the words of the stack before anything else
if TYPE_CHECKING:
    from typing import Any

    from poolsmith.gpu.catalog.catalog import Catalog as Catalog


def __getattr__(name: str) -> Any:
    """`Catalog` is imported when it is asked for: judging files needs only the schemas beside it."""
    if name == "Catalog":
        from poolsmith.gpu.catalog.catalog import Catalog  # on demand

        return Catalog
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
