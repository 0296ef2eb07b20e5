"""Values for a chart inside of a chart, which its condition leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import CHART_NAMES
from poolsmith.guard.rules.setup.value_turned_off import RULE
from poolsmith.kubernetes.repository.chart_folders import deciding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

__all__ = ("RULE", "check")


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    tables = store.table("upstream_charts.yaml")["subcharts"]
    for item in installations:
        for row in () if item.unknown else tables.get(CHART_NAMES.get(item.chart, ""), ()):
            yield from _switched_off(item, item.values, row)


def _switched_off(item: ChartInstallation, values: Any, row: dict[str, Any]) -> Iterator[Finding[Location]]:
    """A note where somebody says that it is off: what is left there does no harm."""
    switch, said = deciding(row["condition"], lambda path: value_at(values, path.split(".")))
    is_on, first, key = row["default"] if said is None else said, row["condition"].partition(",")[0], row["key"]
    below = [
        name
        for name, value in mapping(values.get(key)).items()
        if f"{key}.{name}" != switch and value not in (None, {})
    ]
    if is_on is False and below:
        why = f"`{switch}` is false" if switch else f"`{first}` is off by default"
        yield Finding(
            message=f"`{key}.{below[0]}` has no effect: {why}, and Helm leaves the chart out that it is for",
            place=item.locate((key, str(below[0]))),
            help=f"write `{first}: true`, or remove `{key}`",
            subject=item.document.name,
            severity=Severity.NOTE if switch else Severity.WARNING,
        )
