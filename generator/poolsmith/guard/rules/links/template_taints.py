"""Taints of the nodes that Karpenter makes, which the stack's own pods do not tolerate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings
from poolsmith.fleet.profiles.toleration import covered, keeps_away
from poolsmith.gpu.catalog.stack_objects import DEVICE_PLUGIN_CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import GpuTaint, LinkedChart, LinkView

RULE = RuleInfo(
    code="PSM936",
    name="template-taints",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A NodePool of Karpenter makes nodes with GPUs and a taint, and the operator's or the device plugin's chart "
    "beside it gives its DaemonSets, or the worker of Node Feature Discovery, no toleration for it.",
    why="The node comes up, none of them may run there, and it never offers a GPU: the pod that it was made for stays "
    "Pending, and Karpenter makes the next one. Nothing reports an error.",
    fix="write a toleration for the taint into the values that the finding names",
    bad="# a NodePool with the taint example.com/team:NoExecute\ndaemonsets: {tolerations: [{key: nvidia.com/gpu, "
    "operator: Exists}]}\n",
    good="daemonsets: {tolerations: [{key: example.com/team, operator: Exists}, {key: nvidia.com/gpu, operator: "
    "Exists}]}\n",
    symptom="DESIRED 0; pods never become ready on the new node, and another one is started",
    references=("NVIDIA/k8s-device-plugin issue 1934", "aws/karpenter-provider-aws issue 1459"),
)
_OPERATOR = (
    ("daemonsets.tolerations", "the operator's DaemonSets do", None),
    ("node-feature-discovery.worker.tolerations", "the worker of Node Feature Discovery does", "nfd.enabled"),
)
_PLUGIN = (
    ("tolerations", "the device plugin does", None),
    ("nfd.worker.tolerations", "the worker of Node Feature Discovery does", "gfd.enabled"),
)

_LABELS = frozenset(("nvidia.com/gpu.present", "feature.node.kubernetes.io/pci-10de.present"))
"""Either is enough for the plugin's chart."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for chart in view.charts:
        rows = _OPERATOR if chart.is_operator else _PLUGIN if chart.name in DEVICE_PLUGIN_CHARTS else ()
        for path, who, switch in rows:
            if chart.partial or (switch is not None and not _discovers(view, chart, switch)):
                continue
            yield from _gaps(view, chart, path, who)


def _discovers(view: LinkView, chart: LinkedChart, switch: str) -> bool:
    """Whether nodes get the labels that the chart selects by from its discovery alone."""
    return chart.value(switch) is True and (chart.is_operator or not _LABELS & view.labels_said)


def _gaps(view: LinkView, chart: LinkedChart, path: str, who: str) -> Iterator[Finding[Location]]:
    tolerations = chart.value(path)
    if not isinstance(tolerations, list):
        return
    for mark in view.gpu_taints:
        if keeps_away(mark.taint) and covered(mark.taint, list(mappings(tolerations))) is False:
            yield Finding(
                message=f"{mark.owner} makes nodes with GPUs and the taint `{_shown(mark)}`, and {who} not tolerate it",
                place=chart.place(path),
                help=f"add `{{key: {mark.taint['key']}, operator: Exists}}` to `{path}`",
                related=(mark.place,),
            )


def _shown(mark: GpuTaint) -> str:
    taint: Any = mark.taint
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"
