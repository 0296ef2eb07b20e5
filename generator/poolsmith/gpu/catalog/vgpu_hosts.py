"""vGPU hosts: types of vGPUs and how many a GPU holds, and where hosts are documented."""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import at_least, version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

_TYPE = pattern(r"(?P<gpu>.+?)-(?:(?P<slices>\d+)-)?(?P<size>\d+)(?P<series>[A-Z]+)\Z")


@record
class VgpuHosts:
    """`defaults` are types by PCI device id; `also` are GPUs that share an id with another one.

    `documented` are products by the line that first names them; `boards` those that the lines `boards_not` exclude.
    """

    layouts: tuple[tuple[str, dict[str, dict[str, int]]], ...]
    defaults: dict[str, str]
    also: dict[str, tuple[str, ...]]
    documented: dict[str, tuple[str, ...]]
    never: tuple[str, ...]
    boards: tuple[str, ...]
    boards_not: tuple[str, ...]
    systems: dict[str, dict[str, tuple[str, ...]]]
    kernel_before: str
    later_kernels: tuple[str, ...]
    arch: tuple[str, ...]
    source: str

    def types(self, release: str) -> dict[str, int]:
        """Each type that the release's layouts know, and how many of it a GPU holds."""
        return {
            f"{gpu}-{suffix}": count
            for since, gpus in self.layouts
            if at_least(release, since)
            for gpu, types in gpus.items()
            for suffix, count in types.items()
        }

    def gpus_of(self, ids: tuple[str, ...]) -> set[str]:
        """The names that types of these PCI ids begin with; empty where no source has one."""
        names = {gpu_of(self.defaults[device]) for device in ids if device in self.defaults}
        return names | {other for name in names for other in self.also.get(name, ())}

    def products(self, line: str) -> set[str]:
        """Those that the pages of a line name."""
        key = version_key(line)
        return {product for since, names in self.documented.items() if version_key(since) <= key for product in names}


def gpu_of(vgpu_type: str) -> str:
    """`A10` of `A10-12Q`; all of it where it is no type."""
    found = _TYPE.fullmatch(vgpu_type)
    return found["gpu"] if found else vgpu_type


@cache
def read_vgpu_hosts() -> VgpuHosts:
    data: dict[str, Any] = store.read_yaml("vgpu_hosts.yaml")
    return VgpuHosts(
        layouts=tuple((item["since"], item["types"]) for item in data["layouts"]),
        defaults=data["defaults"],
        also={name: tuple(others) for name, others in data["also"].items()},
        documented={line: tuple(names) for line, names in data["documented"].items()},
        never=tuple(data["never"]),
        boards=tuple(data["wholeBoards"]["products"]),
        boards_not=tuple(data["wholeBoards"]["lines"]),
        systems={
            line: {name: tuple(versions) for name, versions in systems.items()}
            for line, systems in data["systems"].items()
        },
        kernel_before=data["kernelBefore"],
        later_kernels=tuple(data["contradiction"]["products"]),
        arch=tuple(data["arch"]),
        source=data["source"],
    )
