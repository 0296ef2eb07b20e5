"""Which tables of the catalog name a GPU product, and what belongs into those that do not.

Only the entry in `gpus.yaml` has to be there: it makes a product known. Each other table says one thing of some products,
and has no row where the source does not name them.

    PYTHONPATH=generator:tests .venv/bin/python -m tools.gpu_tables "RTX 5880 Ada"
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.gpu.catalog.gpus import GpuEntry, Gpus, gpus_from
from poolsmith.gpu.catalog.vgpu_hosts import gpu_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

GPUS = "gpus.yaml"


@dataclass(frozen=True)
class Table:
    """`names` are the names of products, or their PCI device ids, that the file has at this place."""

    file: str
    place: str
    write: str
    names: Callable[[dict[str, Any]], Iterable[str]]

    def read(self) -> tuple[str, ...]:
        return tuple(map(str, self.names(store.read_yaml(self.file))))


def _products(data: dict[str, Any]) -> Iterable[str]:
    return [entry["product"] for entry in data["gpus"]]


TABLES = (
    Table(GPUS, "gpus", "architecture, PCI ids and MIG profiles of the product", _products),
    Table(
        GPUS,
        "productLabels",
        "the label nvidia.com/gpu.product of its nodes, if it is not the name in the brackets of pci.ids",
        lambda data: data["productLabels"].values(),
    ),
    Table(
        "distributions.yaml",
        "distributions[].accelerators",
        "the name by which a cloud rents it out",
        lambda data: [name for item in data["distributions"] for name in item.get("accelerators", ())],
    ),
    Table("dra.yaml", "domains", "the product, if its NVLink reaches over several nodes", lambda data: data["domains"]),
    Table(
        "neighbours/instance_types.yaml",
        "instanceTypes[].model",
        "the machines that have it, and how many of it",
        lambda data: [item["model"] for item in data["instanceTypes"]],
    ),
    Table(
        "neighbours/instance_types.yaml",
        "uncounted",
        "machines that have a share of one, of which the cloud counts none",
        lambda data: data["uncounted"],
    ),
    Table(
        "releases.yaml",
        "releases.*.passthroughRawIds",
        "its PCI id, in releases whose passthrough plugin knows no name of it",
        lambda data: [name for item in data["releases"].values() for name in item["passthroughRawIds"]],
    ),
    Table(
        "sandbox.yaml",
        "eras.*.supported.gpus",
        "the product, if the page of Kata names it",
        lambda data: [name for era in data["eras"].values() for name in era.get("supported", {}).get("gpus", ())],
    ),
    Table(
        "sandbox.yaml",
        "eras.*.ccDevices",
        "its PCI id, if the chart lists it as capable of confidential computing",
        lambda data: [name for era in data["eras"].values() for name in era.get("ccDevices", ())],
    ),
    Table(
        "vgpu_hosts.yaml",
        "documented",
        "the product, from the line on whose page names it for vGPU hosts",
        lambda data: [name for names in data["documented"].values() for name in names],
    ),
    Table("vgpu_hosts.yaml", "never", "the product, if no line has vGPUs of it", lambda data: data["never"]),
    Table(
        "vgpu_hosts.yaml",
        "wholeBoards.products",
        "the product, if it is soldered to an HGX board",
        lambda data: data["wholeBoards"]["products"],
    ),
    Table(
        "vgpu_hosts.yaml",
        "contradiction.products",
        "the product, if the pages contradict each other on its systems",
        lambda data: data["contradiction"]["products"],
    ),
    Table(
        "vgpu_hosts.yaml",
        "defaults",
        "its PCI id, with the vGPU type that the layout `default` makes of it",
        lambda data: data["defaults"],
    ),
    Table(
        "vgpu_hosts.yaml",
        "layouts[].types",
        "its vGPU types, and how many of each it holds",
        lambda data: [
            device
            for device, default in data["defaults"].items()
            if any(gpu_of(default) in layout["types"] for layout in data["layouts"])
        ],
    ),
)


def read_gpus() -> Gpus:
    return gpus_from(store.read_yaml(GPUS))


def named(table: Table, gpu: GpuEntry, gpus: Gpus) -> bool:
    """By a name of it, by one of its PCI ids, or by its model alone."""
    ids = {device.id for device in gpu.devices}
    return any(name in ids or gpus.find(name) == gpu or gpu.product in _of_model(name, gpus) for name in table.read())


def _of_model(name: str, gpus: Gpus) -> tuple[str, ...]:
    """What a model such as H100 stands for, where it is no product by itself."""
    return gpus.similar(name) if gpus.find(name) is None and name.isalnum() else ()


def report(gpu: GpuEntry, gpus: Gpus) -> str:
    rows = [
        (f"{table.file}: {table.place}", "" if named(table, gpu, gpus) else f"  to write: {table.write}")
        for table in TABLES
    ]
    width = max(len(place) for place, _ in rows)
    return "".join(
        f"{'lacks' if missing else 'has':<6} {place.ljust(width) if missing else place}{missing}\n"
        for place, missing in rows
    )


def main(words: list[str]) -> int:
    gpus = read_gpus()
    gpu = gpus.find(" ".join(words))
    if gpu is None:
        print(f"{GPUS} has no product {' '.join(words)}: write {TABLES[0].write} there first", file=sys.stderr)
        return 1
    print(report(gpu, gpus), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
