"""What the profile of a pool says of its nodes, and its plan of their labels and taints, as facts of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pointer import join
from poolsmith.fleet.profiles.node_pool import Nic
from poolsmith.gpu.nodes.node_facts import NodeFacts, System, Told, kernel_label, one
from poolsmith.kubernetes.repository.node_template_marks import TaintMark

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.fleet.profiles.node_pool import NodeSystem, Taint

_NVIDIA, _MELLANOX = "10de", "15b3"
"""Vendors of PCI devices."""


def pool_facts(pool: PoolPlan) -> tuple[NodeFacts, ...]:
    """One for each system that its nodes may run; pointers are into the pool's profile."""
    return tuple(_facts(pool, system) for system in pool.profile.spec.systems)


def _facts(pool: PoolPlan, system: NodeSystem) -> NodeFacts:
    spec, driver = pool.profile.spec, pool.driver
    of_guest = driver is None or driver.vgpu is not None  # the version that a node tells is then another driver's
    return NodeFacts(
        systems=(System(Told(spec.os.id, "/spec/os/id"), Told(system.version, system.version_pointer)),),
        kernels=one(kernel_label(system.kernel or ""), system.kernel_pointer),
        runtimes=one(spec.runtime.name, "/spec/runtime/name"),
        runtime_versions=one(spec.runtime.version, "/spec/runtime/version"),
        architectures=one(spec.arch.value, "/spec/arch"),
        products=one(spec.gpu.product, "/spec/gpu/product"),
        counts=one(str(spec.gpu.count or ""), "/spec/gpu/count"),
        pci=(
            Told(_NVIDIA, "/spec/gpu/product"),
            *((Told(_MELLANOX, "/spec/nic"),) if spec.nic is Nic.MELLANOX else ()),
        ),
        drivers=() if of_guest or driver is None else one(driver.version, "/spec/driver/version"),
        labels={label.key: label.value for label in pool.labels},
        taints=tuple(_marks(spec.nodes.taints, "/spec/nodes/taints")),
        startup_taints=tuple(_marks(spec.nodes.startup_taints, "/spec/nodes/startupTaints")),
    )


def _marks(taints: Iterable[Taint], pointer: str) -> Iterator[TaintMark]:
    for index, taint in enumerate(taints):
        yield TaintMark(taint.key, taint.value, taint.effect.value, join(pointer, index))
