"""Nulls that a chart writes into its custom resources by itself, and the values that cure them."""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record

REFUSED = "refused"
"""Server-side apply refuses the object; the other effect is `drift`: the server stores something else."""


@record
class ChartNull:
    """A null at a field of the ClusterPolicy's spec, and what to write as a value at the same path."""

    path: tuple[str, ...]
    effect: str
    value: Any
    releases: frozenset[str]
    source: str

    @property
    def dotted(self) -> str:
        return ".".join(self.path)


@remembered
def _known() -> tuple[ChartNull, ...]:
    return tuple(
        ChartNull(
            path=tuple(item["path"].split(".")),
            effect=item["effect"],
            value=item["value"],
            releases=frozenset(item["releases"]),
            source=item["source"],
        )
        for item in store.read_yaml("chart_nulls.yaml")["nulls"]
    )


def nulls_of(release: str) -> tuple[ChartNull, ...]:
    """Those of one release of the operator's chart, in the order of the data."""
    return tuple(item for item in _known() if release in item.releases)
