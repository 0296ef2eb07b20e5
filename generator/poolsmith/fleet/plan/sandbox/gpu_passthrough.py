"""Pools whose whole GPUs are passed through to KubeVirt's virtual machines, and the extended resource of such a GPU.

Source: NVIDIA/kubevirt-gpu-device-plugin and NVIDIA/sandbox-device-plugin, which make it from the names of pci.ids.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.pattern import pattern
from poolsmith.core.record import replace
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.plan import PROVISIONER, HostDevice, LabelSetting
from poolsmith.gpu.catalog.node_labels import WORKLOAD

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.gpus import GpuDevice


DOMAIN = "nvidia.com/"
_DROPPED = pattern(r"[^A-Za-z0-9_-]")


def model_resource(
    pool: PoolPlan,
    facts: Facts,
    *,
    raw_ids: frozenset[str] = frozenset(),
    keeps_dashes: bool = False,
    among: tuple[str, ...] = (),
) -> str | None:
    """By the GPU's model; None with a finding where it is not known.

    `raw_ids` are PCI ids that the plugin knows no name of; `keeps_dashes` is how the plugin for Kata makes names. Where
    several ids are of the model, it is one of those `among` which only some nodes are chosen.
    """
    gpu = pool.profile.spec.gpu
    if gpu.passthrough_resource is not None:
        return gpu.passthrough_resource
    entry = facts.catalog.gpus.find(gpu.product)
    devices = [device for device in entry.devices if gpu.pci_device_id in (None, device.id)] if entry else []
    devices = [device for device in devices if device.id in among] or devices
    names = {DOMAIN + device.id if device.id in raw_ids else _resource(device, keeps_dashes) for device in devices}
    if len(names) == 1 and None not in names:
        return names.pop()
    ids = ", ".join(device.id for device in entry.devices) if entry else ""
    facts.report_pool(
        codes.UNKNOWN_GPU,
        pool,
        "/spec/gpu/product",
        f"the passthrough resource of `{gpu.product}` is "
        + (f"one of several; its PCI ids are {ids}" if names else "unknown"),
        help="add `gpu.pciDeviceId`" if names else "add `gpu.passthroughResource`",
    )
    return None


def pci_ids(pool: PoolPlan, facts: Facts) -> tuple[str, ...]:
    """PCI device ids of the pool's GPUs, without the vendor; empty where nobody knows."""
    gpu = pool.profile.spec.gpu
    entry = facts.catalog.gpus.find(gpu.product)
    known = tuple(device.id for device in entry.devices if gpu.pci_device_id in (None, device.id)) if entry else ()
    return known or ((gpu.pci_device_id,) if gpu.pci_device_id else ())


def _resource(device: GpuDevice, keeps_dashes: bool) -> str | None:
    if not keeps_dashes or device.name is None or "-" not in device.name:
        return device.resource
    words = re.sub(r"\s+", "_", device.name.upper().replace("/", "_").replace(".", "_"))
    return DOMAIN + _DROPPED.sub("", words)


_VENDOR = "10DE"
_NOTE = (
    "Virtual machines: KubeVirt's own object has to permit their GPUs; kubevirt/permitted-host-devices.yaml has the "
    "part to add to it."
)


def pass_through(plan: ClusterPlan, machines: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """The workload label, and what one GPU is advertised as."""
    if not machines:
        return plan
    plan = map_pools(plan, lambda pool: _pass(pool, facts) if pool in machines else pool)
    return with_kubevirt_note(plan)


def with_kubevirt_note(plan: ClusterPlan) -> ClusterPlan:
    """Once, however many pools give GPUs to virtual machines."""
    return plan if _NOTE in plan.notes else replace(plan, notes=(*plan.notes, _NOTE))


def workload_label(pool: PoolPlan, value: str, facts: Facts) -> LabelSetting:
    """What the operator reads on a node."""
    return LabelSetting(WORKLOAD, value, PROVISIONER, facts.at_pool(pool, "/spec/workload"))


def _pass(pool: PoolPlan, facts: Facts) -> PoolPlan:
    label = workload_label(pool, "vm-passthrough", facts)
    raw = facts.need_release().passthrough_raw_ids
    resource = model_resource(pool, facts, raw_ids=raw)
    return replace(
        pool,
        labels=(*pool.labels, label),
        passthrough_resource=resource,
        host_devices=tuple(
            HostDevice(selector=f"{_VENDOR}:{device.upper()}", resource=resource, mediated=False)
            for device in pci_ids(pool, facts)
        )
        if resource
        else (),
    )
