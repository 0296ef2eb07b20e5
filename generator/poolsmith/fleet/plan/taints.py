"""Passes: taints that a node can have, startup taints that do what they are for, and tolerations of the stack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility
from poolsmith.core.diagnostics.codes import node_software as codes
from poolsmith.core.record import replace
from poolsmith.fleet.plan.facts import map_pools, with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, ValueSetting
from poolsmith.fleet.profiles.cluster import NfdProvider, StackKind
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS, Taint, TaintEffect
from poolsmith.fleet.profiles.toleration import Tolerations

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import PoolPlan


NODES = "/spec/nodes"
STARTUP = f"{NODES}/startupTaints"


def check_taints(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Each pool's own; who tolerates them is decided later."""
    for pool in plan.pools:
        _check_keys(pool, facts)
        _check_twice(pool, facts)
        _check_startup(plan, pool, facts)
        _check_autoscaled(plan, pool, facts)
        _check_installer(plan, pool, facts)
    notes = [_note(pool) for pool in plan.pools if pool.profile.spec.nodes.startup_taints]
    if not notes:
        return plan
    plan = map_pools(plan, lambda pool: replace(pool, autoscaler_flags=tuple(_flags(plan, pool, facts))))
    return replace(plan, notes=(*plan.notes, *notes))


def _note(pool: PoolPlan) -> str:
    keys = ", ".join(taint.key for taint in pool.profile.spec.nodes.startup_taints)
    return (
        f"You must remove the startup taint {keys} from each new node of pool {pool.name} when its GPUs can be used, "
        "with a tool of your own: neither the generated files nor the operator do it."
    )


def _flags(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> Iterator[str]:
    """What a cluster-autoscaler that one runs oneself must be told; Karpenter needs none of it."""
    known = facts.catalog.scheduling.startup_taints
    if pool.profile.spec.nodes.autoscaled and plan.cluster.spec.kubernetes.distribution not in known.without_flag:
        for taint in pool.profile.spec.nodes.startup_taints:
            if not known.known_by_prefix(taint.key):
                yield f"{known.flag}={taint.key}"


def _all(pool: PoolPlan) -> Iterator[tuple[str, Taint]]:
    """Each taint of a new node, after its pointer."""
    nodes = pool.profile.spec.nodes
    yield from ((f"{NODES}/taints/{index}", taint) for index, taint in enumerate(nodes.taints))
    yield from ((f"{STARTUP}/{index}", taint) for index, taint in enumerate(nodes.startup_taints))


def _check_keys(pool: PoolPlan, facts: Facts) -> None:
    for pointer, taint in _all(pool):
        if taint.key in facts.catalog.scheduling.system_taints:
            facts.report_pool(
                compatibility.RESERVED_LABEL,
                pool,
                f"{pointer}/key",
                f"Kubernetes itself sets and removes the taint `{taint.key}`",
                help="remove it, or use a key of your own, like example.com/gpu",
            )


def _check_twice(pool: PoolPlan, facts: Facts) -> None:
    seen: dict[tuple[str, TaintEffect], str] = {}
    for pointer, taint in _all(pool):
        first = seen.setdefault((taint.key, taint.effect), pointer)
        if first != pointer:
            facts.report_pool(
                codes.TAINT_TWICE,
                pool,
                pointer,
                f"pool `{pool.name}` has the taint `{taint.key}` with the effect {taint.effect} twice",
                help="keep one of them, or give them different effects",
                related=((pool, first, "the first one"),),
            )


def _check_startup(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> None:
    known = facts.catalog.scheduling.startup_taints
    distribution = plan.cluster.spec.kubernetes.distribution
    nodes = pool.profile.spec.nodes
    for index, taint in enumerate(nodes.startup_taints):
        if taint.effect is TaintEffect.PREFER_NO_SCHEDULE:
            facts.report_pool(
                compatibility.FIELD_WITHOUT_EFFECT,
                pool,
                f"{STARTUP}/{index}/effect",
                "a startup taint with the effect PreferNoSchedule keeps no pod away",
                help="write `effect: NoSchedule`",
            )
        elif nodes.autoscaled and distribution in known.without_flag and not known.known_by_prefix(taint.key):
            facts.report_pool(
                codes.STARTUP_TAINT_PERMANENT,
                pool,
                f"{STARTUP}/{index}/key",
                f"the autoscaler of {distribution} does not know that the taint `{taint.key}` is temporary",
                help=f"use a key like `{known.example_without_flag}`",
            )


def _check_autoscaled(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> None:
    nodes = pool.profile.spec.nodes
    if not nodes.autoscaled:
        return
    if not nodes.startup_taints:
        known = facts.catalog.scheduling.startup_taints
        managed = plan.cluster.spec.kubernetes.distribution in known.without_flag
        key = known.example_without_flag if managed else known.example
        facts.report_pool(
            codes.STARTUP_TAINT_MISSING,
            pool,
            f"{NODES}/autoscaled",
            f"pool `{pool.name}` is autoscaled, and nothing keeps pods off new nodes until their GPUs can be used",
            help=f"write `startupTaints: [{{key: {key}, effect: NoSchedule}}]`, and let something remove it",
        )
    if pool.node_names:
        facts.report_pool(
            codes.AUTOSCALED_BY_NAME,
            pool,
            f"{NODES}/names",
            f"pool `{pool.name}` is autoscaled, and gets its label after its nodes have joined",
            help="remove `names`, and let the provisioner set the label",
        )


def _check_installer(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> None:
    """The installer of Kata takes no tolerations in every era."""
    if pool.profile.spec.workload not in KATA_WORKLOADS or plan.cluster.spec.stack.kind is not StackKind.OPERATOR:
        return
    era = facts.catalog.sandboxes.eras[facts.need_release().sandbox_era]
    kept_away = [item for item in _all(pool) if item[1].effect is not TaintEffect.PREFER_NO_SCHEDULE]
    if era.installer is not None and not era.installer_tolerations and kept_away:
        pointer, taint = kept_away[0]
        facts.report_pool(
            codes.TAINT_WITHOUT_TOLERATION,
            pool,
            pointer,
            f"what installs Kata on pool `{pool.name}` can't be made to tolerate the taint `{taint.key}`",
            help="taint the nodes once Kata is installed, or leave the taint out",
        )


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
