"""Workloads that ask for GPUs, and tolerate the taints of no node that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.fleet.profiles.toleration import covered, keeps_away
from poolsmith.gpu.catalog.gpu_requests import GPU, gpu_resources
from poolsmith.gpu.catalog.node_labels import matches
from poolsmith.guard.rules.setup.setup_view import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupNode, Taint

RULE = RuleInfo(
    code="PSM758",
    name="untolerating-workload",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A workload asks for GPUs, and each GPU node that it selects has a taint that it does not tolerate.",
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


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for pod in view.pods if view.nodes else ():
        wanted = set(gpu_resources(pod.spec))
        if not wanted or pod.spec.get("nodeName"):
            continue
        nodes = [node for node in view.nodes or () if _is_selected(pod, node)]
        gaps = [(node, gap) for node in nodes if (gap := _gap(pod, node, wanted)) is not None]
        if gaps and len(gaps) == len(nodes):
            yield _finding(pod, [node for node, _ in gaps], gaps[0][1])


def _is_selected(pod: LinkedPod, node: SetupNode) -> bool:
    selector = {str(key): str(value) for key, value in mapping(pod.spec.get("nodeSelector")).items()}
    return matches(node.labels, {key: value for key, value in selector.items() if key in node.labels})


def _gap(pod: LinkedPod, node: SetupNode, wanted: set[str]) -> Taint | None:
    tolerations = list(mappings(pod.spec.get("tolerations")))
    for taint in node.taints:
        is_own = taint.get("key") in (None, "", *wanted, GPU)  # a taint without a key is none
        if keeps_away(taint) and not is_own and covered(taint, tolerations) is False:
            return taint
    return None


def _finding(pod: LinkedPod, nodes: list[SetupNode], taint: Taint) -> Finding[Location]:
    key, given, effect = taint["key"], taint.get("value"), taint["effect"]
    value = f", operator: Equal, value: {given}" if given else ", operator: Exists"
    shown = f"{key}={given}:{effect}" if given else f"{key}:{effect}"
    return Finding(
        message=f"{pod.owner.name} asks for GPUs and does not tolerate the taint `{shown}` of {named(nodes)}, the only "
        "ones that it selects",
        place=pod.place("/tolerations" if "tolerations" in pod.spec else ""),
        help=f"add `{{key: {key}{value}, effect: {effect}}}` to the pod's tolerations",
        related=tuple(node.place("/metadata/name", "such a node") for node in nodes[:1]),
    )
