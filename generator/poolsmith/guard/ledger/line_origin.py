"""What a line of a ledger goes back to."""

from __future__ import annotations

from typing import NamedTuple

from poolsmith.fleet.plan.origin import Origin


class ChartDefault(NamedTuple):
    """A value of the operator's chart that nobody set; `written` is what the chart has there, as JSON."""

    path: tuple[str, ...]
    written: str

    def __str__(self) -> str:
        return f"chart default {'.'.join(self.path)}: {self.written}"


class Through(NamedTuple):
    """The object that a privilege came through: a chart, a custom resource, or a workload."""

    name: str

    def __str__(self) -> str:
        return self.name


LineOrigin = Origin | ChartDefault | Through
LineOrigins = tuple[LineOrigin, ...]
