"""Layouts of vGPUs: the operator's own, or a ConfigMap for the vGPU device manager.

Source: NVIDIA/vgpu-device-manager@v0.5.0:api/spec/v1/spec.go; NVIDIA/gpu-operator:assets/state-vgpu-device-manager.
"""

from __future__ import annotations

import hashlib
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes.gpu_use import VGPU_LAYOUT
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import replace
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import HostDevice, KubernetesObject, ValueSetting
from poolsmith.fleet.plan.pool_records import report_on
from poolsmith.fleet.plan.sandbox.gpu_passthrough import pci_ids
from poolsmith.fleet.plan.sharing.mig import config_map
from poolsmith.gpu.catalog.vgpu_hosts import gpu_of, read_vgpu_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.fleet.profiles.gpu import VgpuLayout


DEFAULT = "default"
_LAYOUT = "/spec/gpu/vgpu/layout"
_DEVICES = "/spec/gpu/vgpu/devices"
_CONFIG = ("vgpuDeviceManager", "config")
_FILE = "config.yaml"


def check_layout(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> bool:
    """Whether the release knows the layout, and the GPU can be divided like that; True where that is unknown."""
    layout = pool.profile.spec.gpu.vgpu
    if layout is None:
        return True
    if not layout.devices:
        from poolsmith.gpu.pools import vgpu_layouts  # on demand

        return report_on((vgpu_layouts,), plan, pool, facts)
    found = list(_of_own(pool, layout, facts))
    for pointer, message, advice in found:
        facts.report_pool(VGPU_LAYOUT, pool, pointer, message, help=advice)
    return not found


def resources_of(pool: PoolPlan, facts: Facts) -> tuple[str, ...]:
    """What the device plugin advertises; nothing where nobody knows."""
    return tuple(device.resource for device in mediated_devices(pool, facts))


def mediated_devices(pool: PoolPlan, facts: Facts) -> tuple[HostDevice, ...]:
    """By the names that the driver of the host gives them."""
    return tuple(
        HostDevice(selector=f"NVIDIA {name}", resource=f"nvidia.com/NVIDIA_{name}", mediated=True)
        for name in types_of(pool, facts)
    )


def types_of(pool: PoolPlan, facts: Facts) -> tuple[str, ...]:
    """The types of vGPUs that a node of the pool offers."""
    layout = pool.profile.spec.gpu.vgpu
    if layout is not None and layout.devices:
        return tuple(sorted({name for group in layout.devices for name in group.vgpu_devices}))
    if layout is not None and layout.layout != DEFAULT:
        return (layout.layout,)
    defaults = read_vgpu_hosts().defaults
    return tuple(sorted({defaults[device] for device in pci_ids(pool, facts) if device in defaults}))


def _of_another_gpu(pool: PoolPlan, name: str, pointer: str, facts: Facts) -> Iterator[tuple[str, str, str]]:
    mine = read_vgpu_hosts().gpus_of(pci_ids(pool, facts))
    if mine and gpu_of(name) not in mine:
        yield (
            pointer,
            f"`{name}` is a vGPU of another GPU than {pool.profile.spec.gpu.product}",
            f"use one that begins with {listed(sorted(mine))}",
        )


def _of_own(pool: PoolPlan, layout: VgpuLayout, facts: Facts) -> Iterator[tuple[str, str, str]]:
    types = read_vgpu_hosts().types(facts.need_release().tag)
    if layout.layout in types or layout.layout == DEFAULT:
        yield _LAYOUT, f"`{layout.layout}` is a layout of the operator's", "give your own layout another name"
    taken: dict[int, int] = {}
    for number, group in enumerate(layout.devices):
        at = f"{_DEVICES}/{number}"
        indices = _indices(group.devices, pool.profile.spec.gpu.count)
        if indices is None:
            yield f"{at}/devices", "the GPUs are neither `all` nor a list of indices", "write `devices: all`"
            continue
        for index in indices:
            if index >= pool.profile.spec.gpu.count:
                yield f"{at}/devices", f"there is no GPU {index}: indices begin with 0", "remove it"
            elif index in taken:
                yield f"{at}/devices", f"GPU {index} is in two groups", "name each GPU once"
            taken[index] = number
        if not group.vgpu_devices:
            yield at, "no vGPU is named", "name types and how many of each, like `A10-12Q: 2`"
        share = Fraction(0)
        for name, count in group.vgpu_devices.items():
            yield from _of_another_gpu(pool, name, f"{at}/vgpuDevices/{name}", facts)
            share += Fraction(count, types[name]) if name in types else 0
        if share > 1:
            yield f"{at}/vgpuDevices", "that is more than one GPU holds", "make fewer of them"


def _indices(devices: Any, count: int) -> list[int] | None:
    if devices == "all":
        return list(range(count))
    if isinstance(devices, list) and devices and all(type(item) is int and item >= 0 for item in devices):
        return list(devices)
    return None


def configure_layouts(plan: ClusterPlan, hosts: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """One ConfigMap for the cluster, in the place of the operator's: what it has no layout of is lost for all pools."""
    own = [pool for pool in hosts if pool.profile.spec.gpu.vgpu is not None and pool.profile.spec.gpu.vgpu.devices]
    if not own:
        return plan
    configs: dict[str, list[dict[str, Any]]] = {}
    for pool in hosts:
        layout = pool.profile.spec.gpu.vgpu
        entry = _entry(layout, facts)
        if layout is None or entry is None:
            facts.report_pool(
                VGPU_LAYOUT,
                pool,
                "/spec/workload",
                f"pool `{own[0].name}` has a layout of its own, whose ConfigMap takes the place of the operator's: "
                f"`{pool.name}` has no layout in it",
                help="name a layout in `gpu.vgpu.layout`: a type, or one of your own",
                related=((own[0], _DEVICES, "the layout of your own"),),
            )
            return plan
        if configs.setdefault(layout.layout, entry) != entry:
            facts.report_pool(
                VGPU_LAYOUT,
                pool,
                _LAYOUT,
                f"two pools define the layout `{layout.layout}` differently",
                help="give them different names",
            )
            return plan
    text = emit({"version": "v1", "vgpu-configs": dict(sorted(configs.items()))})
    name = f"poolsmith-vgpu-layouts-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    asked = tuple(facts.at_pool(pool, _DEVICES) for pool in own)
    origin = Derived("vgpu_layouts", "pools divide their GPUs by layouts of their own", asked)
    first = min(configs)
    body = config_map(name, plan.namespace, {_FILE: text})
    plan = replace(
        plan, config_maps=(*plan.config_maps, KubernetesObject(file="vgpu-layouts.yaml", body=body, origin=origin))
    )
    because = "nodes without the label get a layout that the ConfigMap has"
    return with_values(
        plan,
        ValueSetting((*_CONFIG, "name"), name, origin),
        ValueSetting((*_CONFIG, "default"), first, Derived("vgpu_layouts", because, asked)),
    )


def _entry(layout: VgpuLayout | None, facts: Facts) -> list[dict[str, Any]] | None:
    """A layout as the device manager reads it; None for the operator's `default`, which only its own ConfigMap has."""
    if layout is None:
        return None
    if layout.devices:
        return [
            {"devices": group.devices, "vgpu-devices": dict(sorted(group.vgpu_devices.items()))}
            for group in layout.devices
        ]
    count = read_vgpu_hosts().types(facts.need_release().tag).get(layout.layout)
    return None if count is None else [{"devices": "all", "vgpu-devices": {layout.layout: count}}]
