"""Pass: whatever the stack runs tolerates the pools' taints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.plan.facts import with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, ValueSetting
from poolsmith.fleet.profiles.cluster import NfdProvider
from poolsmith.fleet.profiles.toleration import Tolerations

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.profiles.node_pool import Taint

OPERANDS = ("daemonsets", "tolerations")
NFD_WORKER = ("node-feature-discovery", "worker", "tolerations")
_GPU_TOLERATION: dict[str, Any] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def tolerate_taints(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Lists replace the chart's, so they begin with it."""
    tainted = [pool for pool in plan.pools if pool.taints_of_new_nodes]
    taints = [taint for pool in tainted for taint in pool.taints_of_new_nodes]
    targets: list[tuple[str, ...]] = [OPERANDS]
    if plan.cluster.spec.nfd.provider is NfdProvider.OPERATOR:
        targets.append(NFD_WORKER)
    for path in targets:
        present = list(facts.need_chart().default(path) or [])
        extra = missing_tolerations(taints, present)
        if not extra:
            continue
        asking = [pool for pool in tainted if missing_tolerations(pool.taints_of_new_nodes, present)]
        origins = tuple(
            facts.at_pool(pool, f"/spec/nodes/{field}")
            for pool in asking
            for field, found in (("taints", pool.taints), ("startupTaints", pool.profile.spec.nodes.startup_taints))
            if missing_tolerations(found, present)
        )
        because = "nodes of tainted pools need it; the list replaces the chart's, so it starts with those entries"
        plan = with_values(plan, ValueSetting(path, present + extra, Derived("scheduling", because, origins)))
        if path == OPERANDS:
            plan = with_singleton(plan, "tolerations", str(len(present + extra)), asking, ".".join(path))
    return plan


def tolerations_of(taints: Iterable[Taint]) -> list[dict[str, Any]]:
    """What pods on a pool's nodes need beside the toleration that every operand has."""
    return missing_tolerations(taints, [_GPU_TOLERATION])


def all_tolerations(taints: Iterable[Taint]) -> list[dict[str, Any]]:
    """What a pod needs to run on tainted nodes; each toleration once."""
    return missing_tolerations(taints, [])


def missing_tolerations(taints: Iterable[Taint], present: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tolerations for the taints that `present` does not cover, in the taints' order, each once."""
    missing: list[dict[str, Any]] = []
    known = Tolerations(present)
    for taint in taints:
        if not known.cover(taint.body):
            missing.append(_toleration(taint))
            known.add(missing[-1])
    return missing


def _toleration(taint: Taint) -> dict[str, Any]:
    if taint.value:
        return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect.value}
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect.value}
