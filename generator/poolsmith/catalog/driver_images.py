"""Which driver images somebody lists, and what drivers need."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from poolsmith.catalog import store
from poolsmith.catalog.versions import version_key

_KERNEL = re.compile(r"(?P<minor>\d+\.\d+)\.\d+-\d+-(?P<flavour>[a-z][a-z0-9-]*)\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrecompiledRow:
    """Images of one system and kernel (major.minor) for some branches and flavours of the kernel."""

    os_tag: str
    kernel: str
    branches: tuple[int, ...]
    flavours: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.os_tag} with kernel {self.kernel} for {', '.join(map(str, self.branches))}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledImages:
    """What is known of a system's driver containers; empty where nothing is.

    `branches`: these only. `without`: versions that were built after the system had been dropped. `kernels`: those that
    the documentation names for compiling.
    """

    branches: tuple[int, ...] = ()
    without: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()

    def leaves_out(self, branch: int | None, version: str) -> bool:
        """Whether no container of that driver was built for the system."""
        return bool(self.branches and branch not in self.branches) or version in self.without


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def precompiled_rows(self, line: str, os_tag: str, kernel: str, branch: int) -> tuple[PrecompiledRow, ...]:
        """The rows of a line that name this system, kernel release and branch."""
        match = _KERNEL.match(kernel)
        return tuple(
            row
            for row in self.precompiled.get(line, ())
            if match is not None
            and row.os_tag == os_tag
            and row.kernel == match["minor"]
            and branch in row.branches
            and match["flavour"] in row.flavours
        )

    def nearest_rows(self, line: str, os_tag: str) -> tuple[PrecompiledRow, ...]:
        """Those of the system, or all of a line that has none for it."""
        rows = self.precompiled.get(line, ())
        return tuple(row for row in rows if row.os_tag == os_tag) or rows

    def chooses_modules(self, version: str) -> bool:
        """Whether the driver container of a version, or of a branch, knows `auto`."""
        key = version_key(version)
        if len(key) == 1:
            return key >= version_key(self.auto_since)[:1]
        return version == self.auto_only or key >= version_key(self.auto_since)

    def loads_open_modules(self, chosen: str, version: str | None, *, may_choose: bool) -> bool:
        """Whether a GPU that needs open modules gets them. `chosen` is open, proprietary, auto or empty.

        `may_choose`: the release leaves the choice to the driver container. Without a version it is taken to know how.
        """
        if chosen in ("open", "proprietary"):
            return chosen == "open"
        return may_choose and (version is None or self.chooses_modules(version))

    def told_by_variable(self, version: str) -> bool:
        """Whether a driver container takes the kind of modules from KERNEL_MODULE_TYPE only."""
        key, firsts = version_key(version), [version_key(item) for item in self.by_variable]
        if key[0] > firsts[-1][0]:
            return True
        return any(key[0] == first[0] and (len(key) == 1 or key >= first) for first in firsts)

    def is_coherent(self, version: str, processor: str | None) -> bool:
        """Whether a driver turns on coherent memory on such a host by default."""
        key, since = version_key(version), version_key(self.coherent_since)
        return processor == self.coherent_processor and key >= since[: len(key)]


@cache
def read_driver_images() -> DriverImages:
    """As the catalog has them; read once."""
    return _driver_images(store.read_yaml("driver_images.yaml"))


def _driver_images(data: dict[str, Any]) -> DriverImages:
    modules, memory = data["kernelModules"], data["coherentMemory"]
    return DriverImages(
        precompiled={line: tuple(_rows(entry)) for line, entry in data["precompiled"].items()},
        compiled={
            tag: CompiledImages(
                branches=tuple(entry.get("branches", ())),
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
