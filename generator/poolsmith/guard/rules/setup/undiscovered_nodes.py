"""Taints of GPU nodes that the worker of Node Feature Discovery does not tolerate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.setup.setup_view import named
from poolsmith.guard.rules.setup.taint_gaps import Bearer, taint_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo(
    code="PSM271",
    name="undiscovered-nodes",
    applies_to="setup",
    what="GPU nodes have a taint that the worker of Node Feature Discovery does not tolerate.",
    why="Without the worker, a node never gets its labels. Without the label the operator does not see its GPU, so "
    "nothing else starts there. `daemonsets.tolerations` do not reach the worker: it belongs to another chart.",
    symptom="no label `feature.node.kubernetes.io/pci-10de.present` on the node, all DaemonSets of the operator at "
    "`DESIRED 0`, no event, and `No GPU node can be found in the cluster` in the operator's log.",
    fix="add the toleration to `node-feature-discovery.worker.tolerations`; the list replaces the chart's, so repeat "
    "its entries",
    bad="daemonsets:\n  tolerations: [{operator: Exists}]\n",
    good="daemonsets:\n  tolerations: [{operator: Exists}]\n"
    "node-feature-discovery:\n  worker:\n    tolerations: [{operator: Exists}]\n",
    references=(
        "NVIDIA/k8s-device-plugin issue 1934",
        "NVIDIA/gpu-feature-discovery issue 70",
        "NVIDIA/gpu-operator issue 423",
    ),
)
NEEDS = ("nodes", "values")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for gap in taint_gaps(view):
        if gap.bearer is Bearer.WORKER and gap.near is None:
            yield Finding(
                message=f"{gap.what} can't run on {named(gap.nodes)}: nothing tolerates the taint `{gap.shown}`, so "
                "the operator never sees a GPU there",
                place=gap.location,
                help=gap.advice,
                related=gap.taint_places,
            )
