"""Custom resources that an engine applies together with what brings their definitions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS, OLM_PACKAGE, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM778")
_BRINGS = {
    "nvidia.com": (*OPERATOR, OLM_PACKAGE),
    "nfd.k8s-sigs.io": (*OPERATOR, "node-feature-discovery"),
    "nfd.openshift.io": ("nfd",),
    "resource.nvidia.com": DRA_DRIVER_CHARTS,
    "mellanox.com": ("network-operator", "nvidia-network-operator"),
}
"""Charts and packages that bring the definitions of a group."""


_SWITCH, _RULES, _OF_RULES = "nfd.enabled", "nfd.deployNodeFeatureRules", "nfd.k8s-sigs.io"
"""Of the network operator's chart, which renders rules whether or not it brings their definition. Source:
Mellanox/network-operator@v24.10.1:deployment/network-operator/templates/nodefeaturerules.yaml, values.yaml."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _rendered(view)
    defined = {word(value_at(item.spec, ("names", "kind"))) for item in view.of_kind("CustomResourceDefinition")}
    for unit in view.units:
        charts = {name: item for item in unit if (name := _brought(view, item))}
        yield from _late(unit, charts, defined) if charts else ()


def _brought(view: LinkView, item: SetupObject) -> str:
    """The chart or the package that it installs; empty of other objects."""
    if item.kind == "Subscription" and item.group == "operators.coreos.com":
        return word(item.spec.get("name"))
    if item.kind != "HelmRelease" or not item.group.startswith("helm.toolkit.fluxcd.io"):
        return ""
    chart = value_at(item.spec, ("chart", "spec", "chart")) or _referenced(view, mapping(item.spec.get("chartRef")))
    return word(chart).rpartition("/")[2]


def _referenced(view: LinkView, reference: Mapping[str, Any]) -> Any:
    """The chart of the source that a release names."""
    named = (item for item in view.of_kind(word(reference.get("kind"))) if item.own_name == reference.get("name"))
    return next((item.spec.get("url", item.spec.get("chart")) for item in named), None)


def _late(
    unit: Sequence[SetupObject], charts: dict[str, SetupObject], defined: set[str]
) -> Iterator[Finding[Location]]:
    for item in unit:
        release = next((charts[name] for name in _BRINGS.get(item.group, ()) if name in charts), None)
        if release is not None and item.kind not in defined:
            yield Finding(
                message=f"{item.name} is applied together with {release.name}, which brings the definition of "
                f"{item.kind}: on a new cluster neither is applied",
                place=item.place("/kind"),
                help="move it into a Kustomization of its own with `dependsOn`; with Argo CD annotate it "
                "`argocd.argoproj.io/sync-options: SkipDryRunOnMissingResource=true`",
                related=(release.place("/metadata/name", "what brings it"),),
            )


def _rendered(view: LinkView) -> Iterator[Finding[Location]]:
    for chart in view.named(*_BRINGS["mellanox.com"]):
        is_off = chart.value(_SWITCH) is False and chart.value(_RULES) in (True, MISSING)
        if is_off and not chart.partial and not any(map(_brings_rules, view.charts)) and not _defines_rules(view):
            yield Finding(
                message=f"the chart {chart.name} brings NodeFeatureRules, and nothing here brings their definition: "
                "where Node Feature Discovery is not installed otherwise, the release fails",
                place=chart.place(_SWITCH),
                help=f"write `{_SWITCH}: true`, or `{_RULES}: false`, or install Node Feature Discovery before",
                severity=Severity.NOTE,
            )


def _brings_rules(chart: LinkedChart) -> bool:
    return chart.name in _BRINGS[_OF_RULES] and chart.value(_SWITCH) is not False


def _defines_rules(view: LinkView) -> bool:
    found = view.of_kind("CustomResourceDefinition")
    return any(item.own_name.endswith(_OF_RULES) for item in found)
