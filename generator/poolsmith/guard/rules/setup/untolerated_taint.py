"""Taints of GPU nodes that the operator's DaemonSets or a driver object do not tolerate."""

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
    code="PSM270",
    name="untolerated-taint",
    applies_to="setup",
    what="GPU nodes have a taint that some DaemonSet doesn't tolerate: one of the operator's, that of these nodes' "
    "driver object, or another DaemonSet that selects them.",
    why="No pod is created for such a node, and nothing reports it: the DaemonSets want no pod there, and are "
    "ready. An NVIDIADriver does not inherit `daemonsets.tolerations`.",
    symptom="`DESIRED 0`, or fewer than there are GPU nodes; `0/1 nodes are available: 1 node(s) had untolerated "
    "taint`; `nvidia.com/gpu` never becomes allocatable.",
    fix="add the toleration to `daemonsets.tolerations`, and to `spec.tolerations` of each NVIDIADriver of these "
    "nodes; the list replaces the chart's, so repeat its entries",
    bad="daemonsets:\n  tolerations:\n    - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}\n"
    "# on nodes with the taint team=ml:NoSchedule\n",
    good="daemonsets:\n  tolerations:\n    - {key: nvidia.com/gpu, operator: Exists, effect: NoSchedule}\n"
    "    - {key: team, operator: Exists, effect: NoSchedule}\n",
    references=("NVIDIA/gpu-operator issues 397 and 2717", "nebari-dev/nebari issue 3074"),
)
NEEDS = ("nodes", "values")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for gap in taint_gaps(view):
        if gap.bearer is not Bearer.WORKER and gap.near is None:
            yield Finding(
                message=f"{gap.what} can't run on {named(gap.nodes)}: nothing tolerates the taint `{gap.shown}`",
                place=gap.location,
                help=gap.advice,
                related=gap.taint_places,
            )
