"""A mistake in a text that a part of the stack reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Severity


@record(kw_only=False)
class TextMistake:
    """`steps` lead to its place; where nobody keeps places, `line` is that of the text, counted from zero."""

    steps: tuple[str | int, ...]
    message: str
    help: str | None = None
    severity: Severity | None = None
    """None: the rule's own."""
    line: int | None = None
