"""Where privileges come from, with the line of the file where that stands today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pointer import split
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.project.output.origin_text import origin_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.guard.ledger.line_origin import LineOrigin, LineOrigins


class OriginLines:
    """`starts` are the numbers of the lines. Many lines of a ledger have the same origins: each is written once."""

    def __init__(self, starts: Mapping[FromProfile, int]) -> None:
        self._starts = starts
        self._known: dict[LineOrigins, tuple[str, ...]] = {}

    def of(self, origins: LineOrigins) -> tuple[str, ...]:
        if origins not in self._known:
            self._known[origins] = tuple(map(self.text, origins))
        return self._known[origins]

    def text(self, origin: LineOrigin) -> str:
        if not isinstance(origin, FromProfile) or origin not in self._starts:
            return origin_text(origin)
        return f"{origin.path}:{self._starts[origin]}: {'.'.join(split(origin.pointer))}"
