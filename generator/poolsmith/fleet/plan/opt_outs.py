"""Pass: labels that keep operands off nodes have a writer that writes them again.

The operator removes its own labels from nodes without a GPU label, those that opt out included; a kubelet or a
provisioner writes them once. Node Feature Discovery writes them together with the GPU label, and again and again, and
the operator keeps what is there.

Source: NVIDIA/gpu-operator@v24.9.2, v26.3.3:controllers/state_manager.go and @v26.7.0:controllers/
nodelabeling_controller.go, removeAllGPUStateLabels
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.scheduling import OPT_OUT_NOT_KEPT
from poolsmith.core.diagnostics.listing import listed
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.plan import NFD, PROVISIONER, ClusterPlan, LabelSetting, PoolPlan
from poolsmith.gpu.catalog.node_labels import DEPLOY
from poolsmith.gpu.catalog.operator_behaviour import behaviour_at

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts


def keep_opt_outs(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """A NodeFeatureRule carries them where the profile names the nodes; elsewhere it is told what none can carry."""
    for pool in plan.pools:
        if not pool.node_names and (lost := [label for label in pool.labels if _opts_out(label)]):
            _report(pool, lost, facts)
    return map_pools(plan, _carried)


def _opts_out(label: LabelSetting) -> bool:
    return label.key.startswith(DEPLOY) and label.writer == PROVISIONER


def _carried(pool: PoolPlan) -> PoolPlan:
    if not pool.node_names:
        return pool
    labels = (replace(label, writer=NFD) if _opts_out(label) else label for label in pool.labels)
    return replace(pool, labels=tuple(labels))


_NAMED = "list the nodes in `nodes.names`, or "
"""Nodes that an autoscaler makes have no names that a profile could know."""


def _report(pool: PoolPlan, lost: list[LabelSetting], facts: Facts) -> None:
    release = facts.need_release().tag
    when = (
        "each time it looks at a node whose GPU Node Feature Discovery has not found yet"
        if behaviour_at(release)["sweepsNodesWithoutGpu"]
        else "when a node loses the GPU labels of Node Feature Discovery"
    )
    shown = listed([f"{label.key}={label.value}" for label in lost])
    facts.report_pool(
        OPT_OUT_NOT_KEPT,
        pool,
        "/metadata/name",
        f"the nodes of pool `{pool.name}` need {shown}, which {release} removes {when}, and no NodeFeatureRule can "
        "carry it: no names tell these nodes apart",
        help=("" if pool.profile.spec.nodes.autoscaled else _NAMED)
        + "see to it that whoever makes them sets the label again",
    )
