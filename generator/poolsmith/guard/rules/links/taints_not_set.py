"""Taints in rules of Node Feature Discovery, whose master may not set any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

RULE = RuleInfo(
    code="PSM934",
    name="taints-not-set",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A NodeFeatureRule has taints, and the Node Feature Discovery that is installed beside it does not set any: "
    "`enableTaints` is off.",
    why="The labels of the rule are written, its taints are passed over with a line in the master's log: nothing keeps "
    "other pods off the nodes.",
    fix="write `master: {enableTaints: true}` into the values of Node Feature Discovery",
    bad="rules: [{name: gpu, taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}]\n",
    good="master: {enableTaints: true}\n",
    symptom="GPU nodes without the taint, full of other pods",
    references=(
        "kubernetes-sigs/node-feature-discovery@v0.18.3:deployment/helm/node-feature-discovery/values.yaml",
        "NVIDIA/gpu-operator issue 801",
    ),
)
_NFD = "node-feature-discovery"
_SWITCHES = ("master.enableTaints", "master.config.enableTaints")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    charts = [*((chart, "") for chart in view.named(_NFD)), *_within(view)]
    if not charts or any(chart.partial or _may_taint(chart, top) for chart, top in charts):
        return
    for item in view.of_kind("NodeFeatureRule"):
        for index, rule in enumerate(mappings(item.spec.get("rules"))):
            if rule.get("taints"):
                yield Finding(
                    message=f"{item.name} has taints, and Node Feature Discovery sets none: `enableTaints` is off",
                    place=item.place(f"/spec/rules/{index}/taints"),
                    help="write `master: {enableTaints: true}` into its values",
                    related=(charts[0][0].place(f"{charts[0][1]}master.enableTaints"),),
                )


def _within(view: LinkView) -> Iterator[tuple[LinkedChart, str]]:
    for chart in view.charts:
        if chart.is_operator and chart.value("nfd.enabled") is not False:
            yield chart, f"{_NFD}."


def _may_taint(chart: LinkedChart, top: str) -> bool:
    return any(chart.value(f"{top}{path}") is True for path in _SWITCHES)
