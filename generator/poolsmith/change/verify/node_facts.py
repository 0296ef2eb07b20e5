"""What nodes say of themselves that contradicts the profile of their pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.plan.sharing.mig import WHOLE_GPU, is_partitioned
from poolsmith.fleet.plan.sharing.mig_geometry import UNIFORM
from poolsmith.gpu.catalog.node_labels import (
    ARCHITECTURE,
    CHANGING,
    DEPLOY,
    GPU_COUNT,
    KERNEL,
    MIG_STATE,
    OS_ID,
    OS_VERSION,
    PAUSED,
    UPGRADE_SETTLED,
    UPGRADE_STATE,
    VGPU_STATE,
    driver_version,
    product_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.discover.gpu_nodes import LiveNode
    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.gpu.catalog.live_cluster import NodeMarks


@record(kw_only=False)
class Fact:
    """One thing that a node is, where the profile says it, and what the profile says."""

    what: str
    pointer: str
    live: str
    wanted: tuple[str, ...]


@record
class Known:
    """What is compared with: of each pool the resources that its plugins advertise by name, and whether how many of
    them there are follows from the profile alone."""

    gpus: Gpus
    marks: NodeMarks
    offers: frozenset[str]
    counts: bool


def facts_of(node: LiveNode, pool: PoolPlan, known: Known) -> Iterator[Fact]:
    """Facts that contradict the profile; what neither node nor profile tells is no contradiction."""
    yield from _of_system(node, pool, known.marks)
    yield from _of_machine(node, pool)
    yield from _of_gpus(node, pool, known.gpus)
    yield from _of_slices(node, pool)
    yield from _of_offers(node, pool, known)


def _of_system(node: LiveNode, pool: PoolPlan, marks: NodeMarks) -> Iterator[Fact]:
    """Of Node Feature Discovery and as the kubelet calls the system: the first of them that contradicts."""
    spec = pool.profile.spec
    versions = tuple(dict.fromkeys(system.version for system in spec.systems))
    by_labels = (node.labels.get(OS_ID, ""), node.labels.get(OS_VERSION, ""))
    for identity, version in (by_labels, marks.system(node.info.get("osImage", "")) or ("", None)):
        if identity and identity != spec.os.id:
            yield Fact("the operating system", "/spec/os/id", identity, (spec.os.id,))
            return
        if version and not any(_is_version(version, wanted) for wanted in versions):
            yield Fact("the version of the operating system", spec.systems[0].version_pointer, version, versions)
            return


def _of_machine(node: LiveNode, pool: PoolPlan) -> Iterator[Fact]:
    """As the kubelet tells; of the kernel and the processor labels tell, too, and the operator looks at those."""
    spec = pool.profile.spec
    kernels = tuple(dict.fromkeys(system.kernel for system in spec.systems if system.kernel))
    for kernel in (node.info.get("kernelVersion"), node.labels.get(KERNEL)):
        if kernel and kernels and kernel not in kernels:
            yield Fact("the kernel", spec.systems[0].kernel_pointer, kernel, kernels)
            break
    runtime, _, version = node.info.get("containerRuntimeVersion", "").partition("://")
    if runtime and runtime != spec.runtime.name.replace("crio", "cri-o"):
        yield Fact("the container runtime", "/spec/runtime/name", runtime, (spec.runtime.name,))
    elif version and spec.runtime.version and not _is_version(version, spec.runtime.version):
        yield Fact("the container runtime's version", "/spec/runtime/version", version, (spec.runtime.version,))
    for architecture in (node.info.get("architecture"), node.labels.get(ARCHITECTURE)):
        if architecture and architecture != spec.arch:
            yield Fact("the architecture of the processor", "/spec/arch", architecture, (spec.arch.value,))
            break


def _of_gpus(node: LiveNode, pool: PoolPlan, gpus: Gpus) -> Iterator[Fact]:
    spec = pool.profile.spec
    product, part = product_of(node.labels)
    if product and not _is_product(product, spec.gpu.product, gpus):
        yield Fact("the GPU", "/spec/gpu/product", product, (spec.gpu.product,))
    count = node.labels.get(GPU_COUNT, "")
    if count and not part and spec.gpu.count and count != str(spec.gpu.count):
        yield Fact("the number of GPUs", "/spec/gpu/count", count, (str(spec.gpu.count),))
    driver = pool.driver
    live = driver_version(node.labels)
    if driver is None or driver.version is None or driver.vgpu is not None:
        return
    if live and not _is_version(live, driver.version):
        yield Fact("the driver", "/spec/driver/version", live, (driver.version,))


def _of_slices(node: LiveNode, pool: PoolPlan) -> Iterator[Fact]:
    """Slices of one size stand in the place of whole GPUs; those of several have names of their own."""
    part = product_of(node.labels)[1]
    mig = pool.profile.spec.gpu.mig
    if part and (mig is None or not is_partitioned(pool)):
        yield Fact("what its GPUs are cut into", "/spec/gpu", part, ("nothing",))
    elif part and mig is not None and not mig.devices and not is_changing(node):
        wanted = UNIFORM.match(mig.layout)
        if wanted is not None and part != wanted["profile"].replace("+", "."):
            yield Fact("what its GPUs are cut into", "/spec/gpu/mig/layout", part, (wanted["profile"],))


def _of_offers(node: LiveNode, pool: PoolPlan, known: Known) -> Iterator[Fact]:
    """By name; of whole GPUs by number, too, where none is missing, which is told for itself."""
    offered = {name: number for name, number in node.offered(known.gpus).items() if number not in ("", "0")}
    if not offered or not known.offers or is_changing(node):
        return
    if other := sorted(offered.keys() - known.offers):
        yield Fact("what it offers to pods", "/spec/gpu", ", ".join(other), tuple(sorted(known.offers)))
        return
    spec = pool.profile.spec
    count = str(spec.gpu.count)
    if not known.counts or is_partitioned(pool) or node.labels.get(GPU_COUNT, count) != count:
        return
    sharing = spec.sharing
    slicing = sharing.time_slicing.shared.get(WHOLE_GPU) if sharing.time_slicing is not None else None
    replicas = slicing or (sharing.mps.replicas if sharing.mps is not None else 1)
    for name, number in offered.items():
        if name.startswith(WHOLE_GPU) and number != str(spec.gpu.count * replicas):
            pointer = "/spec/sharing" if replicas > 1 else "/spec/gpu/count"
            yield Fact(f"how many `{name}` it offers", pointer, number, (str(spec.gpu.count * replicas),))


def is_changing(node: LiveNode) -> bool:
    """Whether an operand works on its GPUs at this moment."""
    if node.labels.get(UPGRADE_STATE, "") not in UPGRADE_SETTLED:
        return True
    if any(node.labels.get(key) in CHANGING for key in (MIG_STATE, VGPU_STATE)):
        return True
    return any(PAUSED in value for key, value in node.labels.items() if key.startswith(DEPLOY))


def _is_product(live: str, wanted: str, gpus: Gpus) -> bool:
    """Whether both name one product; of one that the catalog does not know, as it is written."""
    ours, theirs = gpus.find(wanted), gpus.find(live)
    if ours is None or theirs is None:
        return live.replace(" ", "-") == wanted.replace(" ", "-")
    return ours.product == theirs.product


def _is_version(live: str, wanted: str) -> bool:
    """The same, or a closer one: `1.7.24` is 1.7, `580.95.05` is branch 580."""
    return live == wanted or live.startswith((f"{wanted}.", f"{wanted}-", f"{wanted}+"))
