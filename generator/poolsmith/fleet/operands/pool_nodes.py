"""A pool's nodes as the operator will see them: one stands for all that run the same system.

The first has the name of the pool. While nodes are rolled to another kernel or version there is one more for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.plan.pool_facts import pool_facts
from poolsmith.fleet.profiles.cluster import StackKind
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.container_runtimes import container_runtimes
from poolsmith.gpu.catalog.node_labels import GPU_PRODUCT, KERNEL, MPS_CAPABLE
from poolsmith.gpu.nodes.label_facts import discovered_labels
from poolsmith.gpu.nodes.node_facts import first

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.gpus import GpuEntry, Gpus
    from poolsmith.gpu.nodes.node_facts import NodeFacts

UNKNOWN_KERNEL = "not-declared"
"""In the place of a kernel release that the profile does not declare: nodes carry the label, whatever its value."""
UNKNOWN_VERSION = "not-declared"
"""In the place of the version of the hypervisor's driver, which only guests see."""
_LABEL_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_. ")
_VGPU_HOST_DRIVER = "nvidia.com/vgpu.host-driver-version"


def pool_nodes(plan: ClusterPlan, gpus: Gpus) -> tuple[Node, ...]:
    """In the order of the pools, and for each pool in that of its systems."""
    stack = plan.cluster.spec.stack
    discovered = stack.kind is not StackKind.DEVICE_PLUGIN or stack.gpu_feature_discovery
    return tuple(
        _node(pool, gpus.find(pool.profile.spec.gpu.product), facts, number, discovered=discovered)
        for pool in plan.pools
        for number, facts in enumerate(pool_facts(pool))
    )


def _node(pool: PoolPlan, gpu: GpuEntry | None, facts: NodeFacts, number: int, *, discovered: bool) -> Node:
    spec = pool.profile.spec
    name = f"{pool.name}.{number + 1}" if number else pool.name
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        KERNEL: UNKNOWN_KERNEL,
        **discovered_labels(facts),
    }
    if spec.workload is Workload.CONTAINER and discovered:
        labels |= _discovered(pool, gpu)
    labels |= {label.key: label.value for label in pool.labels}
    return Node(
        name=name,
        pool=pool.name,
        labels=dict(sorted(labels.items())),
        runtime=container_runtimes().to_status(first(facts.runtimes), first(facts.runtime_versions)),
        taints=tuple(taint.body for taint in pool.taints),
    )


def product_label(product: str) -> str:
    """A product as GPU feature discovery writes it into a label: what no label may hold is left out.

    Source: NVIDIA/k8s-device-plugin:internal/lm/resource.go, `sanitise`.
    """
    return "-".join("".join(letter for letter in product if letter in _LABEL_LETTERS).split())


def _discovered(pool: PoolPlan, gpu: GpuEntry | None) -> dict[str, str]:
    """The labels of GPU feature discovery by which something is scheduled."""
    product = gpu.product if gpu is not None else pool.profile.spec.gpu.product
    labels = {GPU_PRODUCT: product_label(product)}
    if gpu is not None and isinstance(gpu.mig, bool):
        labels["nvidia.com/mig.capable"] = str(gpu.mig).lower()
    if pool.profile.spec.sharing.mps is not None:
        labels[MPS_CAPABLE] = "true"
    if pool.driver is not None and pool.driver.vgpu is not None:
        labels[_VGPU_HOST_DRIVER] = UNKNOWN_VERSION
    return labels
