"""Values of the chart kata-deploy that no template of it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.charts import read_chart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = RuleInfo(
    code="PSM120",
    name="kata-deploy-value-unread",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="Values of the chart kata-deploy have a key at their top that the chart of this version does not read; "
    "most of all `nfd`, which pages of the vendor set, and which no version reads.",
    why="Helm drops the key silently. Who switches Node Feature Discovery off beside the operator's own by "
    "`nfd.enabled` has said nothing; it is off only because that is the chart's default.",
    fix="write `node-feature-discovery.enabled`; remove any other key that is not the chart's",
    bad="# values of kata-deploy 4.0.0\nnfd: {enabled: false}\n",
    good="# values of kata-deploy 4.0.0\nnode-feature-discovery: {enabled: false}\n",
    references=("kata-containers/kata-containers: tools/packaging/kata-deploy/helm-chart/kata-deploy at the tag",),
)
_CHART = "kata-deploy"
_DISCOVERY = "node-feature-discovery"
_OF_HELM = ("global", _DISCOVERY)
_MEANT = {"nfd": f"{_DISCOVERY}", "nodeFeatureDiscovery": _DISCOVERY}
_HIDDEN = ("x-", "_", ".", "$")
"""Keys that people hang anchors and comments on."""


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        chart = read_chart(_CHART, item.version or "") if item.chart == _CHART else None
        if chart is None:
            continue
        read = {path.partition(".")[0] for path in (*chart.paths, *chart.defaults)}
        for key in item.values:
            if key in read or key in _OF_HELM or not isinstance(key, str) or key.startswith(_HIDDEN):
                continue
            meant = _MEANT.get(key) or nearest(key, read, certain=True)
            yield Finding(
                message=f"the chart {_CHART} {chart.release} does not read `{shorten(key)}`: Helm drops it silently",
                place=item.locate((key,)),
                help=f"write it below `{meant}`" if meant else "remove it",
                subject=item.document.name,
            )
