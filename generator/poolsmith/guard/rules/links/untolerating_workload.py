"""Workloads that ask for GPUs, and tolerate the taints of no node that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.fleet.profiles.toleration import shown_taint
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.tolerations import tainted
from poolsmith.guard.rules.names.need import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.links.tolerations import Tainted
    from poolsmith.guard.rules.setup.setup_view import Taint

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


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for item in tainted(view):
        if names_of(view).verdict(item.need).state is State.UNDEFINED and item.gap is not None:
            yield _of_chart(item, item.gap) if item.path else _of_pod(item, item.gap)


def _of_chart(item: Tainted, taint: Taint) -> Finding[Location]:
    return Finding(
        message=f"{item.whose} makes nodes with GPUs and the taint `{shown_taint(taint)}`, and {item.runs} not "
        "tolerate it",
        place=item.need.place,
        help=f"add `{{key: {taint['key']}, operator: Exists}}` to `{item.path}`",
        related=(item.at,),
    )


def _of_pod(item: Tainted, taint: Taint) -> Finding[Location]:
    value = f", operator: Equal, value: {taint['value']}" if taint.get("value") else ", operator: Exists"
    return Finding(
        message=f"{item.need.who} {item.runs} and does not tolerate the taint `{shown_taint(taint)}` of {item.whose}, "
        "the only ones that it selects",
        place=item.need.place,
        help=f"add `{{key: {taint['key']}{value}, effect: {taint['effect']}}}` to the pod's tolerations",
        related=(item.at,),
    )
