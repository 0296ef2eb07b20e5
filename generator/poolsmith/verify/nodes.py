"""Nodes: in which pool each is, and whether its facts are those of the profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.node_labels import GPU_PRESENT, KERNEL, OS_ID, OS_VERSION
from poolsmith.diagnostics import diagnose
from poolsmith.diagnostics.codes.live import NODE_IN_NO_POOL, NODE_NOT_LABELLED, NODE_OTHER_THAN_PROFILE
from poolsmith.diagnostics.listing import counted, listed
from poolsmith.live.resources import NODES
from poolsmith.operands.node_labels import has_gpu
from poolsmith.plan.plan import PROVISIONER
from poolsmith.record import record
from poolsmith.sources.pod_template import mapping, mappings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.catalog.gpus import Gpus
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.plan.plan import PoolPlan
    from poolsmith.verify.view import LiveView

_PRODUCT = "nvidia.com/gpu.product"
_COUNT = "nvidia.com/gpu.count"
_DRIVER = "nvidia.com/cuda.driver-version.full"
_OLD_DRIVER = tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev"))
_SHARED, _OF_A_SLICE = "-SHARED", "-MIG-"
"""What GPU feature discovery appends to a product that is shared. Source: NVIDIA/k8s-device-plugin."""
_FEW = 4


@record(kw_only=False)
class Fact:
    """One thing that a node is, where the profile says it, and what the profile says."""

    what: str
    pointer: str
    live: str
    wanted: tuple[str, ...]


def judge_nodes(view: LiveView) -> Iterator[Diagnostic]:
    """Nodes of one pool that are wrong alike stand together."""
    by_value = {pool.label_value: pool for pool in view.cluster.plan.pools}
    key = view.cluster.plan.cluster.spec.pool_label
    wrong: dict[tuple[str, Fact], list[str]] = {}
    unlabelled: dict[tuple[str, str], list[str]] = {}
    for node in view.snapshot.items(NODES):
        name, labels = str(node["metadata"]["name"]), _labels(node)
        pool = by_value.get(labels.get(key, ""))
        if pool is None:
            if _carries_gpu(node, labels):
                yield _in_no_pool(view, name, key, labels.get(key))
            continue
        for fact in facts_of(node, pool, view.cluster.gpus):
            wrong.setdefault((pool.name, fact), []).append(name)
        for text in _lacks(node, pool, key):
            unlabelled.setdefault((pool.name, text), []).append(name)
    layers = {item.pool.name: item.layers for item in view.cluster.loaded.pools}
    for (pool_name, fact), names in wrong.items():
        wanted = listed(fact.wanted)
        message = f"{_nodes(names)} of pool `{pool_name}`: {fact.what} is `{fact.live}`, and the profile says {wanted}"
        yield diagnose(
            NODE_OTHER_THAN_PROFILE,
            message,
            layers[pool_name].locate(fact.pointer),
            subject=f"{view.cluster.name}/{pool_name}",
        )
    for (pool_name, text), names in unlabelled.items():
        place = layers[pool_name].locate("/metadata/name")
        yield diagnose(
            NODE_NOT_LABELLED,
            f"{_nodes(names)} of pool `{pool_name}` {text}",
            place,
            subject=f"{view.cluster.name}/{pool_name}",
        )


def facts_of(node: dict[str, Any], pool: PoolPlan, gpus: Gpus) -> Iterator[Fact]:
    """Facts that contradict the profile; what neither node nor profile tells is no contradiction."""
    labels, info = _labels(node), mapping(mapping(node.get("status")).get("nodeInfo"))
    spec = pool.profile.spec
    systems = spec.systems
    kernel = str(info.get("kernelVersion") or labels.get(KERNEL) or "")
    version = labels.get(OS_VERSION, "")
    kernels = tuple(dict.fromkeys(system.kernel for system in systems if system.kernel))
    versions = tuple(dict.fromkeys(system.version for system in systems))
    if kernel and kernels and kernel not in kernels:
        yield Fact("the kernel", systems[0].kernel_pointer, kernel, kernels)
    if labels.get(OS_ID) and labels[OS_ID] != spec.os.id:
        yield Fact("the operating system", "/spec/os/id", labels[OS_ID], (spec.os.id,))
    elif version and not any(_is_version(version, wanted) for wanted in versions):
        yield Fact("the version of the operating system", systems[0].version_pointer, version, versions)
    runtime, _, runtime_version = str(info.get("containerRuntimeVersion") or "").partition("://")
    if runtime and runtime != spec.runtime.name.replace("crio", "cri-o"):
        yield Fact("the container runtime", "/spec/runtime/name", runtime, (spec.runtime.name,))
    elif runtime_version and spec.runtime.version and not _is_version(runtime_version, spec.runtime.version):
        yield Fact("the container runtime's version", "/spec/runtime/version", runtime_version, (spec.runtime.version,))
    architecture = str(info.get("architecture") or "")
    if architecture and architecture != spec.arch:
        yield Fact("the architecture of the processor", "/spec/arch", architecture, (spec.arch.value,))
    yield from _of_gpus(labels, pool, gpus)


def _of_gpus(labels: Mapping[str, str], pool: PoolPlan, gpus: Gpus) -> Iterator[Fact]:
    spec = pool.profile.spec
    product = labels.get(_PRODUCT, "")
    if product and not _is_product(product, spec.gpu.product, gpus):
        yield Fact("the GPU", "/spec/gpu/product", product, (spec.gpu.product,))
    count = labels.get(_COUNT, "")
    if count and _OF_A_SLICE not in product and spec.gpu.count and count != str(spec.gpu.count):
        yield Fact("the number of GPUs", "/spec/gpu/count", count, (str(spec.gpu.count),))
    driver = pool.driver
    if driver is None or driver.version is None or driver.vgpu is not None:
        return
    old = [labels[key] for key in _OLD_DRIVER if key in labels]
    live = labels.get(_DRIVER) or ".".join(old)
    if live and not _is_version(live, driver.version):
        yield Fact("the driver", "/spec/driver/version", live, (driver.version,))


def _is_product(live: str, wanted: str, gpus: Gpus) -> bool:
    """Whether both name one product; of one that the catalog does not know, as it is written."""
    bare = live.partition(_OF_A_SLICE)[0].removesuffix(_SHARED)
    ours, theirs = gpus.find(wanted), gpus.find(bare)
    if ours is None or theirs is None:
        return bare.replace(" ", "-") == wanted.replace(" ", "-")
    return ours.product == theirs.product


def _is_version(live: str, wanted: str) -> bool:
    """The same, or a closer one: `1.7.24` is 1.7, `580.95.05` is branch 580."""
    return live == wanted or live.startswith((f"{wanted}.", f"{wanted}-", f"{wanted}+"))


def _lacks(node: dict[str, Any], pool: PoolPlan, pool_label: str) -> Iterator[str]:
    labels = _labels(node)
    for label in pool.labels:
        if label.writer == PROVISIONER and label.key != pool_label and labels.get(label.key) != label.value:
            live = labels.get(label.key)
            has = "has no label" if live is None else f"has `{live}` as label"
            yield f"{has} `{label.key}`, and `{label.value}` is wanted"
    given = mappings(mapping(node.get("spec")).get("taints"))
    taints = {(item.get("key"), item.get("value") or "", item.get("effect")) for item in given}
    for taint in pool.taints:
        if (taint.key, taint.value, taint.effect.value) not in taints:
            yield f"has no taint `{taint.key}={taint.value}:{taint.effect.value}`"


def _in_no_pool(view: LiveView, name: str, key: str, value: str | None) -> Diagnostic:
    why = f"it has no label `{key}`" if value is None else f"`{key}` is `{value}`, and no pool has that value"
    place = view.cluster.of_cluster("/metadata/name")
    message = f"node `{name}` of cluster `{view.cluster.name}` has a GPU and is in no pool: {why}"
    return diagnose(NODE_IN_NO_POOL, message, place, subject=view.cluster.subject("Node", name))


def _carries_gpu(node: dict[str, Any], labels: Mapping[str, str]) -> bool:
    resources = mapping(mapping(node.get("status")).get("capacity"))
    offers = any(key.startswith("nvidia.com/") for key in resources)
    return offers or has_gpu(labels) or labels.get(GPU_PRESENT) == "true"


def _labels(node: dict[str, Any]) -> dict[str, str]:
    found = mapping(mapping(node["metadata"]).get("labels"))
    return {str(key): str(value) for key, value in found.items()}


def _nodes(names: list[str]) -> str:
    if len(names) == 1:
        return f"node `{names[0]}`"
    return f"{counted(len(names), 'node')} ({listed(names, _FEW)})"
