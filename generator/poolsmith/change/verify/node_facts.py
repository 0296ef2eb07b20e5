"""What nodes say of themselves that contradicts the profile of their pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.plan.sharing.mig import WHOLE_GPU, is_partitioned
from poolsmith.fleet.plan.sharing.mig_geometry import UNIFORM
from poolsmith.gpu.catalog.node_labels import (
    CHANGING,
    DEPLOY,
    GPU_COUNT,
    MIG_STATE,
    PAUSED,
    UPGRADE_SETTLED,
    UPGRADE_STATE,
    VGPU_STATE,
)
from poolsmith.gpu.nodes.comparison import Difference, compare
from poolsmith.gpu.nodes.node_facts import first

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.gpu.nodes.live_nodes import LiveNode
    from poolsmith.gpu.nodes.node_facts import NodeFacts


_DONE = "success"


@record
class Known:
    """What nodes of one pool are compared with: what its profile says of them, for each system; the resources that its
    plugins advertise by name, and whether how many of them there are follows from the profile alone."""

    gpus: Gpus
    facts: tuple[NodeFacts, ...]
    offers: frozenset[str]
    counts: bool


def facts_of(node: LiveNode, pool: PoolPlan, known: Known) -> Iterator[Difference]:
    """Facts that contradict the profile; what neither node nor profile tells is no contradiction."""
    yield from compare(node.facts, known.facts, known.gpus).differs
    yield from _of_slices(node, pool)
    yield from _of_offers(node, pool, known)


def _of_slices(node: LiveNode, pool: PoolPlan) -> Iterator[Difference]:
    """Slices of one size stand in the place of whole GPUs; those of several have names of their own."""
    part = first(node.facts.slices)
    mig = pool.profile.spec.gpu.mig
    if part and (mig is None or not is_partitioned(pool)):
        yield Difference("what its GPUs are cut into", "/spec/gpu", part, ("nothing",))
    elif part and mig is not None and not mig.devices and not is_changing(node):
        wanted = UNIFORM.match(mig.layout)
        if wanted is not None and part != wanted["profile"].replace("+", "."):
            yield Difference("what its GPUs are cut into", "/spec/gpu/mig/layout", part, (wanted["profile"],))


def _of_offers(node: LiveNode, pool: PoolPlan, known: Known) -> Iterator[Difference]:
    """By name; of whole GPUs by number, too, where none is missing, which is told for itself."""
    offered = {name: number for name, number in node.offered(known.gpus).items() if number not in ("", "0")}
    if not offered or not known.offers or is_changing(node):
        return
    if other := sorted(offered.keys() - known.offers):
        yield Difference("what it offers to pods", "/spec/gpu", ", ".join(other), tuple(sorted(known.offers)))
        return
    spec = pool.profile.spec
    count = str(spec.gpu.count)
    if known.counts and is_partitioned(pool):
        yield from _of_mig(node, pool, offered)
        return
    if not known.counts or node.labels.get(GPU_COUNT, count) != count:
        return
    sharing = spec.sharing
    slicing = sharing.time_slicing.shared.get(WHOLE_GPU) if sharing.time_slicing is not None else None
    replicas = slicing or (sharing.mps.replicas if sharing.mps is not None else 1)
    for name, number in offered.items():
        if name.startswith(WHOLE_GPU) and number != str(spec.gpu.count * replicas):
            pointer = "/spec/sharing" if replicas > 1 else "/spec/gpu/count"
            yield Difference(f"how many `{name}` it offers", pointer, number, (str(spec.gpu.count * replicas),))


def _of_mig(node: LiveNode, pool: PoolPlan, offered: dict[str, str]) -> Iterator[Difference]:
    """How many slices it offers, where the layout tells it and nothing shares them."""
    sharing = pool.profile.spec.sharing
    if sharing.time_slicing is not None or sharing.mps is not None or node.labels.get(MIG_STATE, _DONE) != _DONE:
        return
    for name, wanted in pool.slices:
        if name in offered and offered[name] != str(wanted):
            yield Difference(f"how many `{name}` it offers", "/spec/gpu/mig", offered[name], (str(wanted),))


def is_changing(node: LiveNode) -> bool:
    """Whether an operand works on its GPUs at this moment."""
    if node.labels.get(UPGRADE_STATE, "") not in UPGRADE_SETTLED:
        return True
    if any(node.labels.get(key) in CHANGING for key in (MIG_STATE, VGPU_STATE)):
        return True
    return any(PAUSED in value for key, value in node.labels.items() if key.startswith(DEPLOY))
