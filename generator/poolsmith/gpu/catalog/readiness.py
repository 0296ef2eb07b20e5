"""What operands wait for on a node: files in one folder, which validations write."""

from __future__ import annotations

from functools import cache

from poolsmith.core.facts import store
from poolsmith.core.record import record


@record
class Readiness:
    """`files` are by validation, `needed_files` and `needed_workloads` what one needs to pass, `told` by container."""

    folder: str
    files: dict[str, str]
    needed_files: dict[str, str]
    needed_workloads: dict[str, tuple[str, ...]]
    told: dict[str, tuple[str, ...]]


@cache
def read_readiness() -> Readiness:
    data = store.read_yaml("readiness.yaml")
    return Readiness(
        folder=data["folder"],
        files=data["files"],
        needed_files={name: need["file"] for name, need in data["needs"].items() if "file" in need},
        needed_workloads={
            name: tuple(need["workloads"]) for name, need in data["needs"].items() if "workloads" in need
        },
        told={name: tuple(files) for name, files in data["told"].items()},
    )
