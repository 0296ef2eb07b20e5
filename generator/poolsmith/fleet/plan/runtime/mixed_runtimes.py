"""Which container runtime the operator works with, and whether others may stand beside it.

Source: NVIDIA/gpu-operator:controllers/state_manager.go. It looks at all GPU nodes, those of sandboxes too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import node_software as runtime_codes
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.fleet.plan.facts import with_singleton
from poolsmith.fleet.plan.runtime.device_injection import uses_cdi, uses_nri
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.container_runtimes import CRIO, DOCKER, container_runtimes
from poolsmith.gpu.catalog.operands import read_operands

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan


ACKNOWLEDGEMENT = "mixed-runtimes"
RUNTIME = "/spec/runtime/name"
_WAYS_OUT = "give all pools of the cluster one runtime, or move the pool to a cluster of its own"


def operator_runtime(pools: Iterable[PoolPlan]) -> str:
    """containerd as soon as one pool has it, else that of the first; `pools` is not empty."""
    names = [pool.profile.spec.runtime.name for pool in pools]
    preferred = container_runtimes().preferred.name
    return preferred if preferred in names else names[0]


def accept_mixture(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Several runtimes in one cluster need an acknowledgement, and some exclude each other."""
    operators = operator_runtime(plan.pools)
    plan = with_singleton(plan, "container runtime", operators, plan.pools, "the operator configures one on all nodes")
    others = [pool for pool in plan.pools if pool.profile.spec.runtime.name != operators]
    if not others:
        _report_idle(plan, facts)
        return plan
    first = next(pool for pool in plan.pools if pool.profile.spec.runtime.name == operators)
    excluded = _exclusion(plan, others, operators, facts)
    if excluded is not None:
        pool, why = excluded
        facts.report_pool(
            runtime_codes.RUNTIMES_EXCLUDE,
            pool,
            RUNTIME,
            f"pool `{pool.name}` runs {pool.profile.spec.runtime.name}, pool `{first.name}` runs {operators}: {why}",
            help=_WAYS_OUT,
            related=((first, RUNTIME, f"{operators} here"),),
        )
    elif not any(item.fact == ACKNOWLEDGEMENT for item in plan.cluster.spec.acknowledge):
        pool = others[0]
        facts.report_pool(
            codes.MIXED_RUNTIMES,
            pool,
            RUNTIME,
            f"pool `{pool.name}` runs {pool.profile.spec.runtime.name}, pool `{first.name}` runs {operators}; "
            f"the operator works with {operators} on all nodes, and NVIDIA does not support a mixture",
            help=f"{_WAYS_OUT}; or take the risk, in {plan.cluster.path}: "
            f"`acknowledge: [{{fact: {ACKNOWLEDGEMENT}, by: <who>, date: <year-month-day>}}]`, "
            "and such pools get a toolkit of their own",
            related=((first, RUNTIME, f"{operators} here"),),
        )
    else:
        _warn(plan, others, operators, facts)
    return plan


def _exclusion(plan: ClusterPlan, others: list[PoolPlan], operators: str, facts: Facts) -> tuple[PoolPlan, str] | None:
    preferred = container_runtimes().preferred.name
    if operators != preferred:
        return others[0], f"without {preferred}, the operator uses the runtime of the node that is listed last"
    users = (pool for pool in others if pool.profile.spec.workload is Workload.CONTAINER)
    unfit = next((pool for pool in users if not _follows_classes(pool)), None)
    if unfit is None or not (facts.need_release().cdi_default or uses_cdi(plan, facts)):
        return None
    return unfit, (
        f"with {facts.need_release().tag} GPU pods get their devices from {preferred} by CDI, "
        f"and ask for runtime classes, which {unfit.profile.spec.runtime.name} does not follow"
    )


def _follows_classes(pool: PoolPlan) -> bool:
    runtime = container_runtimes().by_name.get(pool.profile.spec.runtime.name)
    return runtime is None or runtime.follows_classes


def _subscription(pool: PoolPlan, facts: Facts) -> list[str]:
    """What a driver that is compiled on the pool's nodes gets of the host's subscription, but not with cri-o alone."""
    spec = pool.profile.spec
    operands = read_operands(facts.need_release().tag)
    if operands is None or spec.driver.source is not DriverSource.CONTAINER:
        return []
    rule = operands.behaviour["subscriptions"].get(spec.os.id)
    return sorted(source.partition(" ")[0] for source in rule["paths"].values()) if rule and rule["offCrio"] else []


def _report_idle(plan: ClusterPlan, facts: Facts) -> None:
    for index, item in enumerate(plan.cluster.spec.acknowledge):
        if item.fact == ACKNOWLEDGEMENT:
            facts.report_cluster(
                codes.FIELD_WITHOUT_EFFECT,
                f"/spec/acknowledge/{index}/fact",
                "all pools have one container runtime: there is nothing to acknowledge",
                help="remove it",
                severity=Severity.NOTE,
            )


def _warn(plan: ClusterPlan, others: list[PoolPlan], operators: str, facts: Facts) -> None:
    """What else the operator deploys for its one runtime, where it is known to matter."""
    for pool in others:
        spec = pool.profile.spec
        if spec.workload is not Workload.CONTAINER:
            continue
        if spec.runtime.name == DOCKER and not uses_nri(plan):
            facts.report_pool(
                runtime_codes.FOREIGN_RUNTIME,
                pool,
                RUNTIME,
                f"GPU pods on pool `{pool.name}` ask for the runtime class of {operators}; docker follows it only "
                "through a cri-dockerd that passes handlers on",
                help="use a cri-dockerd with Mirantis/cri-dockerd pull request 350, of April 2024, or containerd",
            )
        mounted = _subscription(pool, facts)
        if spec.runtime.name == CRIO and mounted:
            facts.report_pool(
                runtime_codes.FOREIGN_RUNTIME,
                pool,
                RUNTIME,
                f"the driver pods of pool `{pool.name}` mount {listed(mounted)} of the host, and don't start without; "
                "the operator leaves that to cri-o only where all nodes run it",
                help="subscribe the hosts, so that these exist, or pre-install the driver",
            )
