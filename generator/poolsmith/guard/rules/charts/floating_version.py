"""A chart of the GPU stack whose version is whatever is newest on the day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_contents import recorded_tags
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.stack_objects import CHARTS
from poolsmith.gpu.catalog.version_ranges import lines_in
from poolsmith.gpu.values.release_tier import NEWEST, is_floating

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = RuleInfo.of("PSM580")
_FEW = 6


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        if item.chart in CHARTS and is_floating(item):
            yield Finding(
                message=_why((item.version or "").strip(), item),
                place=item.version_at(),
                help="write one version, such as the one that runs now",
                subject=item.document.name,
            )


def _why(said: str, item: ChartInstallation) -> str:
    if not said:
        return f"no version of the chart {item.chart} is written: the newest one is taken, whichever that is"
    if said in NEWEST:
        return f"`{said}` is no version of the chart {item.chart}: it stands for another one each time"
    message = f"`{shorten(said)}` is a range of versions of the chart {item.chart}: the newest in it is taken"
    lines = lines_in(said, recorded_tags()) if item.chart == OPERATOR_CHART else ()
    if len(lines) > 1:
        message += f", and it lets in the release lines {listed(list(lines[-_FEW:]), _FEW)}"
    return message
