"""Pass: whatever the stack runs tolerates the pools' taints. Floor: resolve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.model.cluster import NfdProvider
from poolsmith.model.node_pool import Taint, TaintEffect
from poolsmith.model.origin import Derived
from poolsmith.model.plan import ClusterPlan, ValueSetting
from poolsmith.resolve.facts import with_singleton, with_values

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.resolve.facts import Facts

OPERANDS = ("daemonsets", "tolerations")
NFD_WORKER = ("node-feature-discovery", "worker", "tolerations")
_GPU_TOLERATION: dict[str, Any] = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def tolerate_taints(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Lists replace the chart's, so they begin with it."""
    tainted = [pool for pool in plan.pools if pool.taints]
    taints = [taint for pool in tainted for taint in pool.taints]
    targets: list[tuple[str, ...]] = [OPERANDS]
    if plan.cluster.spec.nfd.provider is NfdProvider.OPERATOR:
        targets.append(NFD_WORKER)
    for path in targets:
        present = list(facts.need_chart().default(path) or [])
        extra = missing_tolerations(taints, present)
        if not extra:
            continue
        asking = [pool for pool in tainted if missing_tolerations(pool.taints, present)]
        origins = tuple(facts.at_pool(pool, "/spec/nodes/taints") for pool in asking)
        because = "nodes of tainted pools need it; the list replaces the chart's, and so begins with it"
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
    by_key: dict[str, list[dict[str, Any]]] = {}
    for toleration in present:
        by_key.setdefault(toleration.get("key") or "", []).append(toleration)
    for taint in taints:
        if taint.effect is TaintEffect.PREFER_NO_SCHEDULE:
            continue
        if not any(_covers(item, taint) for key in ("", taint.key) for item in by_key.get(key, ())):
            missing.append(_toleration(taint))
            by_key.setdefault(taint.key, []).append(missing[-1])
    return missing


def _toleration(taint: Taint) -> dict[str, Any]:
    if taint.value:
        return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect.value}
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect.value}


def _covers(toleration: dict[str, Any], taint: Taint) -> bool:
    """As the scheduler decides it: no key or effect matches all, Exists matches any value."""
    if toleration.get("key") not in (None, "", taint.key):
        return False
    if toleration.get("effect") not in (None, "", taint.effect.value):
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("value", "") == taint.value and toleration.get("key"))
