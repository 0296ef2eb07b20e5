"""Pass: which sandboxes a cluster's pools ask for, the operator's values for them, and the setup of their hosts.

A profile declares the setup of a host by a kernel argument, or acknowledges it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.fleet.plan.facts import with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ValueSetting
from poolsmith.fleet.plan.pool_records import report_on
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS, Workload

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.sandboxes import KataEra


_WORKLOAD = "/spec/workload"


def plan_sandboxes(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Sandbox mode of the cluster, labels and resources of the pools, units of other operators."""
    sandboxed = [pool for pool in plan.pools if pool.profile.spec.workload is not Workload.CONTAINER]
    if not sandboxed:
        return plan
    from poolsmith.fleet.plan.sandbox.gpu_passthrough import pass_through  # on demand
    from poolsmith.fleet.plan.sandbox.kata import plan_kata  # on demand
    from poolsmith.fleet.plan.sandbox.vgpu_pools import host_vgpus  # on demand
    from poolsmith.gpu.pools import sandboxed_gpus  # on demand

    for pool in sandboxed:
        report_on((sandboxed_gpus,), plan, pool, facts)
    kata = [pool for pool in sandboxed if pool.profile.spec.workload in KATA_WORKLOADS]
    machines = [pool for pool in sandboxed if pool not in kata]
    era = facts.catalog.sandboxes.eras[facts.need_release().sandbox_era] if kata else None
    if kata and machines:
        _refuse_both(kata, machines, facts)
        return plan
    if era is not None and era.installer is None:
        _refuse_era(kata, era, facts)
        return plan
    for pool in sandboxed:
        check_hosts(plan, pool, era if pool in kata else None, facts)
    plan = _switch_on(plan, sandboxed, era, facts)
    hosts = [pool for pool in machines if pool.profile.spec.workload is Workload.VM_VGPU]
    plan = pass_through(plan, [pool for pool in machines if pool not in hosts], facts)
    plan = host_vgpus(plan, hosts, facts)
    return plan_kata(plan, kata, era, facts) if era is not None else plan


def _refuse_both(kata: list[PoolPlan], machines: list[PoolPlan], facts: Facts) -> None:
    facts.report_pool(
        gpu_use.SANDBOX_CONTRADICTION,
        machines[0],
        _WORKLOAD,
        f"pool `{machines[0].name}` gives GPUs to virtual machines, pool `{kata[0].name}` to Kata; "
        "the operator runs the device plugin of one of them in a cluster",
        help="move one of the pools to a cluster of its own",
        related=((kata[0], _WORKLOAD, "the Kata pool"),),
    )


def _refuse_era(kata: list[PoolPlan], era: KataEra, facts: Facts) -> None:
    releases, eras = facts.catalog.releases, facts.catalog.sandboxes.eras
    known = [
        tag
        for tag, item in releases.by_tag.items()
        if eras[item.sandbox_era].installer is not None and releases.is_supported(tag)
    ]
    facts.report_pool(
        gpu_use.SANDBOX_ERA,
        kata[0],
        _WORKLOAD,
        f"Kata with {facts.need_release().tag}: {era.says}",
        help="pin one of " + ", ".join(known) + " for Kata pools" if known else "leave the pool out",
    )


def _switch_on(plan: ClusterPlan, sandboxed: list[PoolPlan], era: KataEra | None, facts: Facts) -> ClusterPlan:
    asked = tuple(facts.at_pool(pool, _WORKLOAD) for pool in sandboxed)
    because = "a pool runs sandboxed workloads; without it the workload label does nothing"
    settings = [ValueSetting(("sandboxWorkloads", "enabled"), True, Derived("sandbox", because, asked))]
    if facts.need_release().cc_manager_default and (era is None or not era.manages_plain):
        because = "without Kata pools the validator would wait for a manager that is not deployed"
        settings.append(ValueSetting(("ccManager", "enabled"), False, Derived("sandbox", because, asked)))
    plan = with_singleton(plan, "sandboxed workloads", "enabled", sandboxed, "sandboxWorkloads.enabled")
    managed = [pool for pool in plan.pools if pool.driver is not None and pool.driver.managed]
    if managed:
        facts.report_pool(
            gpu_use.AUTO_UPGRADE_OFF,
            sandboxed[0],
            _WORKLOAD,
            f"because of pool `{sandboxed[0].name}` the operator upgrades no drivers in this cluster, "
            f"also not on pool `{managed[0].name}`",
            help="delete driver pods by hand after a driver change, or move the pool to a cluster of its own",
            related=((managed[0], "/spec/driver", "upgraded by hand from now on"),),
        )
    return with_values(plan, *settings)


def check_hosts(plan: ClusterPlan, pool: PoolPlan, era: KataEra | None, facts: Facts) -> None:
    """One finding for all that nobody says of a pool's hosts."""
    spec = pool.profile.spec
    said = {item.fact for item in spec.acknowledge}
    missing = [
        item
        for item in facts.catalog.sandboxes.host_facts
        if item.concerns(
            workload=spec.workload.value,
            era=era,
            tee=spec.sandbox.tee.value if spec.sandbox.tee is not None else None,
            kubernetes=plan.cluster.spec.kubernetes.version,
            stack=plan.cluster.spec.stack.kind.value,
            domain=spec.gpu.multi_node_nvlink and spec.driver.source is DriverSource.PREINSTALLED,
        )
        and item.fact not in said
        and not any(proof in spec.kernel.args for proof in item.proofs)
    ]
    if missing:
        provable = any(item.proofs for item in missing)
        facts.report_pool(
            gpu_use.HOST_FACTS_UNDECLARED,
            pool,
            "/spec/workload",
            f"no profile line says of the hosts of pool `{pool.name}` that "
            + "; that ".join(item.says for item in missing),
            help=("declare the kernel argument, or acknowledge what" if provable else "acknowledge what")
            + " somebody has looked up: `acknowledge: ["
            + ", ".join(f"{{fact: {item.fact}}}" for item in missing)
            + "]`",
        )
