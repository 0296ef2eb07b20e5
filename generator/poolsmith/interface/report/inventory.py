"""What a fleet has, pool by pool, in forms that other tools can rely on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.record import record
from poolsmith.interface.report.diff_json import record_body
from poolsmith.interface.report.escaped_text import csv_table

if TYPE_CHECKING:
    from poolsmith.interface.report.formats import ReportContext


@record
class InventoryLabel:
    """A label, or a part of a selector."""

    key: str
    value: str


@record
class InventoryTaint:
    key: str
    value: str
    effect: str


@record
class InventoryResource:
    """An extended resource of each node. `count` is None where the size of a layout is not known."""

    name: str
    count: int | None


@record
class InventorySystem:
    """One of the systems that nodes of a pool run; several while they are rolled."""

    version: str
    kernel: str | None


@record
class InventoryPool:
    """A pool. `selector` are the labels that its nodes have and no others; `nodes` is None where nobody said it."""

    cluster: str
    pool: str
    owner: str | None
    ring: str | None
    release: str
    selector: tuple[InventoryLabel, ...]
    taints: tuple[InventoryTaint, ...]
    nodes: int | None
    product: str
    gpus: int
    mig_layout: str | None
    resources: tuple[InventoryResource, ...]
    runtime_classes: tuple[str, ...]
    driver: str
    driver_version: str | None
    os: str
    systems: tuple[InventorySystem, ...]
    arch: str
    workload: str
    profile: str


@record
class UnknownCluster:
    """A cluster of which nothing can be said."""

    cluster: str
    why: str


@record
class Inventory:
    pools: tuple[InventoryPool, ...] = ()
    unknown: tuple[UnknownCluster, ...] = ()


def inventory_json(inventory: Inventory, context: ReportContext) -> str:
    """Version 1; `poolsmith schema inventory` prints its JSON Schema."""
    body = {"version": 1, "tool": context.tool, **record_body(inventory)}
    return json.dumps(body, indent=2) + "\n"


_COLUMNS = (
    "cluster",
    "pool",
    "owner",
    "ring",
    "release",
    "selector",
    "taints",
    "nodes",
    "product",
    "gpus",
    "mig_layout",
    "resources",
    "runtime_classes",
    "driver",
    "driver_version",
    "os",
    "kernels",
    "arch",
    "workload",
    "profile",
)


def inventory_csv(inventory: Inventory) -> str:
    """A pool a line (RFC 4180). No cell is a formula to a spreadsheet."""
    return csv_table(_COLUMNS, map(_cells, inventory.pools))


def inventory_text(inventory: Inventory) -> str:
    """A block for each pool."""
    lines = []
    for pool in inventory.pools:
        offered = ", ".join(resource_words(item) for item in pool.resources) or "no resource"
        nodes = "" if pool.nodes is None else f", {pool.nodes:,} nodes"
        lines += [
            f"{pool.cluster}/{pool.pool}" + (f" ({pool.owner})" if pool.owner else ""),
            f"  nodes     {' '.join(f'{item.key}={item.value}' for item in pool.selector)}{nodes}",
            f"  GPUs      {pool.gpus} x {pool.product}: {offered}",
            f"  driver    {pool.driver} {pool.driver_version or ''}".rstrip(),
            f"  system    {pool.os} {', '.join(dict.fromkeys(item.version for item in pool.systems))}, {pool.arch}",
        ]
        if pool.taints:
            lines.append(f"  taints    {', '.join(map(taint_words, pool.taints))}")
        if pool.runtime_classes:
            lines.append(f"  classes   {', '.join(pool.runtime_classes)}")
    lines += [f"unknown: {item.cluster}: {item.why}" for item in inventory.unknown]
    return "".join(f"{masked(line)}\n" for line in lines)


def _cells(pool: InventoryPool) -> list[str]:
    return [
        pool.cluster,
        pool.pool,
        pool.owner or "",
        pool.ring or "",
        pool.release,
        " ".join(f"{item.key}={item.value}" for item in pool.selector),
        " ".join(map(taint_words, pool.taints)),
        "" if pool.nodes is None else str(pool.nodes),
        pool.product,
        str(pool.gpus),
        pool.mig_layout or "",
        " ".join(map(resource_words, pool.resources)),
        " ".join(pool.runtime_classes),
        pool.driver,
        pool.driver_version or "",
        f"{pool.os} {' '.join(dict.fromkeys(item.version for item in pool.systems))}",
        " ".join(dict.fromkeys(item.kernel for item in pool.systems if item.kernel)),
        pool.arch,
        pool.workload,
        pool.profile,
    ]


def taint_words(taint: InventoryTaint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def resource_words(item: InventoryResource) -> str:
    return f"{item.name}={'?' if item.count is None else item.count}"
