"""Pass: MIG and sharing without the operator. What fits is judged by the operator's passes; who does it is another.

Partitions are made on the hosts, before the device plugin starts: nothing here makes them. The plugin is told how to
name and to share them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import hand_installed
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.mig import partition_gpus
from poolsmith.fleet.plan.mig_checks import LAYOUT
from poolsmith.fleet.plan.plan import ClusterPlan, LabelSetting, PoolPlan
from poolsmith.fleet.plan.sharing import SHARING, share_gpus
from poolsmith.fleet.profiles.acknowledged_facts import MIG_PARTITIONS
from poolsmith.gpu.catalog.node_labels import MIG_CONFIG, MPS_CAPABLE

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts


def use_gpus(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Resources, strategies, and the plugin's configurations; nothing of it is a value of the operator's chart."""
    judged = partition_gpus(plan, facts)
    plan = replace(judged, values=plan.values, config_maps=plan.config_maps)
    plan = map_pools(plan, lambda pool: _without_manager(pool, facts))
    plan = share_gpus(plan, facts)
    return map_pools(plan, lambda pool: _serve_mps(plan, pool, facts))


def _without_manager(pool: PoolPlan, facts: Facts) -> PoolPlan:
    """No MIG manager reads its label here; somebody has to say that the hosts make the partitions."""
    if pool.profile.spec.gpu.mig is None:
        return pool
    if all(item.fact != MIG_PARTITIONS for item in pool.profile.spec.acknowledge):
        facts.report_pool(
            hand_installed.PARTITIONS_UNDECLARED,
            pool,
            LAYOUT,
            f"nothing says that the hosts of pool `{pool.name}` make these partitions, and this stack has no MIG "
            "manager",
            help=f"make them with nvidia-mig-parted before the kubelet starts, and write `acknowledge: [{{fact: "
            f"{MIG_PARTITIONS}}}]`",
        )
    return replace(pool, labels=tuple(label for label in pool.labels if label.key != MIG_CONFIG))


def _serve_mps(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolPlan:
    """The control daemon runs where a label says so; without GPU feature discovery the provisioner has to write it."""
    if pool.profile.spec.sharing.mps is None or plan.cluster.spec.stack.gpu_feature_discovery:
        return pool
    label = LabelSetting(MPS_CAPABLE, "true", "provisioner", facts.at_pool(pool, f"{SHARING}/mps"))
    return replace(pool, labels=(*pool.labels, label))
