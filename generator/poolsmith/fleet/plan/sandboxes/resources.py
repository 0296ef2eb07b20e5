"""The extended resource of one passed-through GPU.

Source: NVIDIA/kubevirt-gpu-device-plugin and NVIDIA/sandbox-device-plugin, which make it from the names of pci.ids.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.gpu.catalog.gpus import GpuDevice

DOMAIN = "nvidia.com/"
_DROPPED = re.compile(r"[^A-Za-z0-9_-]")


def model_resource(
    pool: PoolPlan, facts: Facts, *, raw_ids: frozenset[str] = frozenset(), keeps_dashes: bool = False
) -> str | None:
    """By the GPU's model; None with a finding where it is not known.

    `raw_ids` are PCI ids that the plugin knows no name of; `keeps_dashes` is how the plugin for Kata makes names.
    """
    gpu = pool.profile.spec.gpu
    if gpu.passthrough_resource is not None:
        return gpu.passthrough_resource
    entry = facts.catalog.gpus.find(gpu.product)
    devices = [device for device in entry.devices if gpu.pci_device_id in (None, device.id)] if entry else []
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
