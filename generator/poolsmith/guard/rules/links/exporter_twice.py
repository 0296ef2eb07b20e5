"""Two exporters of GPU metrics on the same nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.links.exporters import EXPORTER, exporters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

RULE = RuleInfo(
    code="PSM781",
    name="exporter-twice",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="The operator runs dcgm-exporter, and the chart dcgm-exporter runs another one on the same nodes. An error "
    "where both take the node's own port.",
    why="Each series is there twice, so that sums are doubled; profiling metrics have one reader at a time. On the "
    "node's network port 9400 has one owner: the second pod stays Pending.",
    fix="keep one of them: `dcgmExporter: {enabled: false}` for the operator",
    bad="# the chart dcgm-exporter beside the operator\ndcgmExporter: {enabled: true}\n",
    good="# the chart dcgm-exporter beside the operator\ndcgmExporter: {enabled: false}\n",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:assets/state-dcgm-exporter",
        "NVIDIA/dcgm-exporter@4.5.3-4.8.2:deployment/values.yaml, hostNetwork",
    ),
)
_APART = ("nodeSelector", "affinity")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    found = [chart for chart in exporters(view) if view.is_whole and not chart.partial]
    operator = next((chart for chart in found if chart.is_operator), None)
    for chart in found:
        if chart.name == EXPORTER and operator is not None and not any(map(chart.says, _APART)):
            yield _finding(chart, operator)


def _finding(chart: LinkedChart, operator: LinkedChart) -> Finding[Location]:
    collides = chart.value("hostNetwork") is True and operator.value("dcgmExporter.hostNetwork") is True
    return Finding(
        message="the chart dcgm-exporter exports the same GPUs as the operator's own exporter"
        + (": both want port 9400 of the node" if collides else ""),
        place=chart.declared_at,
        help="write `dcgmExporter: {enabled: false}` into the operator's values, or take this chart away",
        related=(operator.place("dcgmExporter.enabled"),),
        severity=Severity.ERROR if collides else None,
    )
