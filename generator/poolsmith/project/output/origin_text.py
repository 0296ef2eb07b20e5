"""Where a value or a privilege comes from, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pointer import split
from poolsmith.fleet.plan.origin import FromProfile

if TYPE_CHECKING:
    from poolsmith.guard.ledger.line_origin import LineOrigin


def origin_text(origin: LineOrigin) -> str:
    """Of a line of a profile the file and the dotted field.

    No line number: it would change with every edit above it.
    """
    if not isinstance(origin, FromProfile):
        return str(origin)
    field = ".".join(split(origin.pointer))
    return f"{origin.path}: {field}" if field else origin.path
