"""Pools whose whole GPUs are passed through to virtual machines, by KubeVirt."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.plan import PROVISIONER, HostDevice, LabelSetting
from poolsmith.fleet.plan.sandboxes.resources import model_resource, pci_ids
from poolsmith.gpu.catalog.node_labels import WORKLOAD

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan


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
