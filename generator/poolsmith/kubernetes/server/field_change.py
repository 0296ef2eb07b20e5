"""One field of a document that differs."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location


class Standing(StrEnum):
    """Of a cluster, a pool, an object or an image, between base and change."""

    ADDED = "added"
    REMOVED = "removed"
    RENAMED = "renamed"
    CHANGED = "changed"


@record
class FieldChange:
    """One field of a document: a JSON pointer (RFC 6901), and what stood and stands there.

    `Standing.ADDED` has no `old`, `REMOVED` no `new`. Secrets are masked already.
    """

    pointer: str
    standing: Standing
    old: Any = None
    new: Any = None
    place: Location | None = None
    """The line of a profile that causes it, where one is known."""
