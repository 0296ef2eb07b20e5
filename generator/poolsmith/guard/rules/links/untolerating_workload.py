"""Workloads that ask for GPUs, and tolerate the taints of no node that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.fleet.profiles.toleration import covered, keeps_away
from poolsmith.gpu.catalog.gpu_requests import GPU
from poolsmith.gpu.catalog.node_labels import matches
from poolsmith.guard.rules.links.plugin_by_hand import is_plugin as stands_for_plugin
from poolsmith.guard.rules.setup.setup_view import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupNode, Taint
    from poolsmith.kubernetes.repository.node_template_marks import TaintMark
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo(
    code="PSM758",
    name="untolerating-workload",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A workload asks for GPUs, or is a device plugin, and each GPU node that it selects has a taint that "
    "it does not tolerate. Nodes are "
    "those that are given, else what files say of nodes to come.",
    why="The pod stays Pending. Clusters add a toleration by themselves only for a taint that is called like the "
    "resource, and only where the admission plugin ExtendedResourceToleration is switched on.",
    fix="add the toleration to the pod",
    bad="# on nodes with the taint example.net/gpu=vision:NoSchedule\n"
    "containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]\n",
    good="tolerations: [{key: example.net/gpu, operator: Exists, effect: NoSchedule}]\n"
    "containers: [{resources: {limits: {nvidia.com/gpu: 1}}}]\n",
    symptom="`0/8 nodes are available: 8 node(s) had untolerated taint {example.net/gpu: vision}`",
    references=("kubernetes.io: Taints and Tolerations",),
)


_ADDS_NONE = ("talos", "rke2 or k3s")
"""Tools whose API servers add no tolerations, unless they are told to."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _of_nodes(view) if view.nodes else _of_templates(view)


def _of_nodes(view: LinkView) -> Iterator[Finding[Location]]:
    """Of device plugins by hand, too; beside an operator a rule over its setup judges DaemonSets."""
    beside_none = not any(chart.is_operator for chart in view.charts)
    for pod in view.pods:
        is_plugin = beside_none and pod.owner.kind == "DaemonSet" and stands_for_plugin(pod)
        if not (pod.gpu_resources or is_plugin) or pod.spec.get("nodeName"):
            continue
        nodes = [node for node in view.nodes or () if _is_selected(pod, node)]
        gaps = [
            next((taint for taint in node.taints if _keeps_out(pod, taint, adds=not is_plugin)), None) for node in nodes
        ]
        if nodes and gaps[0] is not None and all(gap is not None for gap in gaps):
            yield _finding(pod, named(nodes), gaps[0], nodes[0].place("/metadata/name", "such a node"))


def _of_templates(view: LinkView) -> Iterator[Finding[Location]]:
    """Where files describe nodes to come, by those that have all labels which the pod selects by."""
    pods = [
        pod
        for pod in view.pods
        if (view.is_whole or view.is_alone) and pod.spec.get("nodeSelector") and pod.asks_for_gpus
    ]
    for pod in pods:
        selected = [view.machines.whole[index] for index in view.machines.by_labels.of(_selector(pod))]
        gaps = [(item, gap) for item in selected if (gap := _gap_of_template(pod, item)) is not None]
        if gaps and len(gaps) == len(selected):
            item, mark = gaps[0]
            taint = {"key": mark.key, "value": mark.value or "", "effect": mark.effect}
            yield _finding(pod, item.title, taint, item.at(mark.pointer, "the taint"))


def _gap_of_template(pod: LinkedPod, item: NodeTemplate) -> TaintMark | None:
    for mark in item.taints:
        taint = {"key": mark.key, "value": mark.value or "", "effect": mark.effect}
        if mark.value is not None and _keeps_out(pod, taint, adds=item.tool not in _ADDS_NONE):
            return mark
    return None


def _selector(pod: LinkedPod) -> dict[str, str]:
    return {str(key): str(value) for key, value in mapping(pod.spec.get("nodeSelector")).items()}


def _is_selected(pod: LinkedPod, node: SetupNode) -> bool:
    return matches(node.labels, {key: value for key, value in _selector(pod).items() if key in node.labels})


def _keeps_out(pod: LinkedPod, taint: Taint, *, adds: bool = True) -> bool:
    """`adds`: the cluster may tolerate by itself what is called like the resource."""
    known = (GPU, *pod.gpu_resources) if adds else ()
    is_own = taint.get("key") in (None, "", *known)  # a taint without a key is none
    return keeps_away(taint) and not is_own and covered(taint, list(mappings(pod.spec.get("tolerations")))) is False


def _finding(pod: LinkedPod, whose: str, taint: Taint, place: Location) -> Finding[Location]:
    key, given, effect = taint["key"], taint.get("value"), taint["effect"]
    value = f", operator: Equal, value: {given}" if given else ", operator: Exists"
    shown = f"{key}={given}:{effect}" if given else f"{key}:{effect}"
    return Finding(
        message=f"{pod.owner.name} {_does(pod)} and does not tolerate the taint `{shown}` of {whose}, the only "
        "ones that it selects",
        place=pod.place("/tolerations" if "tolerations" in pod.spec else ""),
        help=f"add `{{key: {key}{value}, effect: {effect}}}` to the pod's tolerations",
        related=(place,),
    )


def _does(pod: LinkedPod) -> str:
    return "offers GPUs" if stands_for_plugin(pod) else "asks for GPUs"
