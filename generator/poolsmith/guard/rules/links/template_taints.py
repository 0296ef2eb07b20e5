"""Taints of GPU nodes to come, which the stack's own pods do not tolerate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.profiles.toleration import covered, keeps_away
from poolsmith.gpu.catalog.gpu_requests import GPU
from poolsmith.gpu.catalog.stack_objects import DEVICE_PLUGIN_CHARTS, DRA_DRIVER_CHARTS, OPERATOR
from poolsmith.guard.rules.links.machine_images import has_gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.kubernetes.repository.node_template_marks import TaintMark
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo(
    code="PSM936",
    name="template-taints",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A description of new nodes with GPUs (Karpenter, Cluster API, clouds) has a taint, and the chart of the "
    "operator, of the device plugin or of the DRA driver has no toleration for it: for its DaemonSets, or for "
    "the worker "
    "of Node Feature Discovery.",
    why="The node comes up, none of them may run there, and it never offers a GPU: the pod that it was made for stays "
    "Pending, and an autoscaler makes the next one. Nothing reports an error.",
    fix="write a toleration for the taint into the values that the finding names",
    bad="# a NodePool with the taint example.com/team:NoExecute\ndaemonsets: {tolerations: [{key: nvidia.com/gpu, "
    "operator: Exists}]}\n",
    good="daemonsets: {tolerations: [{key: example.com/team, operator: Exists}, {key: nvidia.com/gpu, operator: "
    "Exists}]}\n",
    symptom="DESIRED 0; pods never become ready on the new node, and another one is started",
    references=(
        "NVIDIA/k8s-device-plugin issue 1934",
        "kubernetes-sigs/dra-driver-nvidia-gpu issue 1047",
        "aws/karpenter-provider-aws issue 1459",
    ),
)
_WORKER = "the worker of Node Feature Discovery does"
_Daemons = tuple[tuple[str, str, str | None], ...]
_OPERATOR: _Daemons = (
    ("daemonsets.tolerations", "the operator's DaemonSets do", None),
    ("node-feature-discovery.worker.tolerations", _WORKER, "nfd.enabled"),
)
_PLUGIN: _Daemons = (
    ("tolerations", "the device plugin does", None),
    ("nfd.worker.tolerations", _WORKER, "gfd.enabled"),
)
_CLAIMS: _Daemons = (("kubeletPlugin.tolerations", "the kubelet plugin of the DRA driver does", None),)
_DAEMONS = dict.fromkeys(OPERATOR, _OPERATOR) | dict.fromkeys(DEVICE_PLUGIN_CHARTS, _PLUGIN)
_DAEMONS |= dict.fromkeys(DRA_DRIVER_CHARTS, _CLAIMS)

_LABELS = frozenset(("nvidia.com/gpu.present", "feature.node.kubernetes.io/pci-10de.present"))
"""Either is enough for the plugin's chart."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    charts = [chart for chart in view.charts if chart.name in _DAEMONS]
    if not view.is_alone or len(charts) != len({_DAEMONS[chart.name] for chart in charts}):
        return
    marks = list(_gpu_taints(view)) if charts else []
    for chart in charts:
        for path, who, switch in _DAEMONS[chart.name] if not chart.partial else ():
            if switch is None or _discovers(view, chart, switch):
                yield from _not_covered(chart, marks, path, who)


def _not_covered(
    chart: LinkedChart, marks: list[tuple[NodeTemplate, TaintMark]], path: str, who: str
) -> Iterator[Finding[Location]]:
    tolerations = chart.value(path)
    for template, mark in marks if isinstance(tolerations, list) else ():
        taint = {"key": mark.key, "value": mark.value or "", "effect": mark.effect}
        if keeps_away(taint) and covered(taint, list(mappings(tolerations))) is False:
            yield _finding(chart.place(path), template, mark, path, who)


def _gpu_taints(view: LinkView) -> Iterator[tuple[NodeTemplate, TaintMark]]:
    """Of templates whose nodes have GPUs for certain: by the taint itself, or by what Karpenter is asked for."""
    for template in view.machines.whole:
        spec = mapping(value_at(template.body, ("spec", "template", "spec")))
        if not template.announces and (has_gpus(spec) or any(mark.key == GPU for mark in template.taints)):
            yield from ((template, mark) for mark in template.taints)


def _discovers(view: LinkView, chart: LinkedChart, switch: str) -> bool:
    """Whether nodes get the labels that the chart selects by from its discovery alone."""
    return chart.value(switch) is True and (chart.is_operator or not _LABELS & view.labels_said)


def _finding(place: Location, template: NodeTemplate, mark: TaintMark, path: str, who: str) -> Finding[Location]:
    shown = f"{mark.key}{f'={mark.value}' if mark.value else ''}:{mark.effect}"
    return Finding(
        message=f"{template.title} makes nodes with GPUs and the taint `{shown}`, and {who} not tolerate it",
        place=place,
        help=f"add `{{key: {mark.key}, operator: Exists}}` to `{path}`",
        related=(template.at(mark.pointer),),
    )
