"""Which driver images somebody lists, and what drivers need."""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record


@record
class PrecompiledRow:
    """Images of one system and kernel (major.minor) for some branches and flavours of the kernel."""

    os_tag: str
    kernel: str
    branches: tuple[int, ...]
    flavours: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.os_tag} with kernel {self.kernel} for {', '.join(map(str, self.branches))}"


@record
class CompiledImages:
    """What is known of a system's driver containers; empty where nothing is.

    `from_branch`: no older one. `without`: versions that were built after the system had been dropped. `kernels`: those
    that the documentation names for compiling. `processors`: for these only, empty for all.
    """

    from_branch: int | None = None
    processors: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()


@record
class DriverImages:
    """Rows of precompiled images by line; compiled ones by the system's part of the tag."""

    precompiled: dict[str, tuple[PrecompiledRow, ...]]
    compiled: dict[str, CompiledImages]
    gds_systems: dict[str, tuple[str, ...]]
    rdma_systems: dict[str, tuple[str, ...]]
    auto_only: str
    auto_since: str
    by_variable: tuple[str, ...]
    coherent_processor: str
    coherent_since: str
    partly_partitioned: tuple[str, ...]
    partly_partitioned_instead: str

    def compiled_on(self, tag: str) -> CompiledImages | None:
        """What is known of a system's driver containers; of its major version where its minor has no row."""
        return self.compiled.get(tag) or self.compiled.get(tag.partition(".")[0])


@remembered
def read_driver_images() -> DriverImages:
    """As the catalog has them; read once."""
    return _driver_images(store.read_yaml("driver_images.yaml"))


def _driver_images(data: dict[str, Any]) -> DriverImages:
    modules, memory = data["kernelModules"], data["coherentMemory"]
    return DriverImages(
        precompiled={line: tuple(_rows(entry)) for line, entry in data["precompiled"].items()},
        compiled={
            tag: CompiledImages(
                from_branch=entry.get("fromBranch"),
                processors=tuple(entry.get("processors", ())),
                without=tuple(entry.get("without", ())),
                kernels=tuple(entry.get("kernels", ())),
            )
            for tag, entry in data["compiled"].items()
        },
        gds_systems={line: tuple(tags) for line, tags in data["gpuDirectStorage"].items()},
        rdma_systems={line: tuple(tags) for line, tags in data["gpuDirectRdma"].items()},
        auto_only=modules["auto"]["only"],
        auto_since=modules["auto"]["since"],
        by_variable=tuple(modules["byVariable"]),
        coherent_processor=memory["processor"],
        coherent_since=memory["since"],
        partly_partitioned=tuple(data["partlyPartitioned"]["versions"]),
        partly_partitioned_instead=data["partlyPartitioned"]["instead"],
    )


def _rows(entry: dict[str, Any]) -> list[PrecompiledRow]:
    return [
        PrecompiledRow(
            os_tag=row["os"],
            kernel=row["kernel"],
            branches=tuple(row["branches"]),
            flavours=(*entry["flavours"], *row.get("flavours", ())),
        )
        for row in entry["rows"]
    ]
