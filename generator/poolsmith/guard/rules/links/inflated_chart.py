"""What kustomize leaves out of a chart that it inflates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import is_older
from poolsmith.core.sources.pod_template import word
from poolsmith.gpu.catalog.stack_objects import OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo(
    code="PSM761",
    name="inflated-chart",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A kustomization inflates the operator's chart without its definitions, or without a namespace for objects "
    "that name none themselves.",
    why="kustomize leaves the folder `crds` out unless `includeCRDs` is set, and runs `helm template`, which writes "
    "no namespace into objects: those that the chart gives none go into `default`, while roles are bound to accounts "
    "of the release's namespace.",
    fix="write `includeCRDs: true` into the entry, and `namespace:` into the kustomization",
    bad="helmCharts: [{name: gpu-operator, version: v25.3.4, namespace: gpu-operator}]\n",
    good="namespace: gpu-operator\nhelmCharts: [{name: gpu-operator, version: v25.3.4, namespace: gpu-operator, "
    "includeCRDs: true}]\n",
    symptom='`no matches for kind "ClusterPolicy"`; `serviceaccount "gpu-operator" not found`',
    references=(
        "kubernetes-sigs/kustomize:api/types/helmchartargs.go",
        "NVIDIA/gpu-operator@v25.10.0 and v25.10.1:deployments/gpu-operator/templates/serviceaccount.yaml",
    ),
)
_HAS_NAMESPACES_FROM = "v25.10.1"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    has_definitions = any(item.kind == "CustomResourceDefinition" for item in view.objects)
    for item in view.kustomizations:
        charts = item.data.get("helmCharts")
        for index, chart in enumerate(charts if isinstance(charts, list) else ()):
            if isinstance(chart, dict) and chart.get("name") in OPERATOR:
                yield from _judged(item, index, chart, has_definitions=has_definitions)


def _judged(
    item: SetupObject, index: int, chart: dict[str, Any], *, has_definitions: bool
) -> Iterator[Finding[Location]]:
    at = f"/helmCharts/{index}"
    if chart.get("includeCRDs") is not True and not has_definitions:
        yield Finding(
            message="kustomize leaves the chart's definitions out: nothing here brings ClusterPolicy and NVIDIADriver",
            place=item.place(f"{at}/{'includeCRDs' if 'includeCRDs' in chart else 'name'}"),
            help="write `includeCRDs: true` into this entry",
        )
    version, namespace = word(chart.get("version")), word(chart.get("namespace"))
    if not item.data.get("namespace") and namespace not in ("", "default") and is_older(version, _HAS_NAMESPACES_FROM):
        yield Finding(
            message=f"the chart of {version} gives its ServiceAccounts no namespace: they go into `default`, and its "
            f"roles are bound to accounts of `{namespace}`",
            place=item.place(f"{at}/namespace"),
            help=f"write `namespace: {namespace}` into the kustomization, or take {_HAS_NAMESPACES_FROM} or later",
        )
