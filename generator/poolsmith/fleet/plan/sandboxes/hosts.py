"""What hosts of sandboxed pools have to be set up for: declared by a kernel argument, or acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.fleet.profiles.driver import DriverSource

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.sandboxes import KataEra


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
            f"nobody says of the hosts of pool `{pool.name}` that " + "; that ".join(item.says for item in missing),
            help=("declare the kernel argument, or acknowledge what" if provable else "acknowledge what")
            + " somebody has looked up: `acknowledge: ["
            + ", ".join(f"{{fact: {item.fact}}}" for item in missing)
            + "]`",
        )
