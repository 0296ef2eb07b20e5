"""What switches a workload, a container or a privilege on: a value, or a line of a profile. Floor: catalog."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from poolsmith.catalog import store

ValuePath = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Switch:
    """Paths of values of the operator's chart, and JSON pointers into a pool's profile."""

    values: tuple[ValuePath, ...] = ()
    pool: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """`privileges` maps a privilege to the key of a component, `labels` a node label to pointers into the profile.

    `paths` are values that are host paths, `variables` are values that are lists of {name, value}; `folders` are host
    paths that follow from a pool's line.
    """

    workloads: tuple[tuple[str, Switch], ...]
    containers: dict[str, Switch]
    privileges: dict[str, str]
    labels: dict[str, tuple[str, ...]]
    paths: tuple[ValuePath, ...]
    variables: tuple[ValuePath, ...]
    folders: tuple[tuple[str, tuple[str, ...]], ...]
    source: str

    def of_workload(self, name: str) -> Switch:
        return next((switch for pattern, switch in self.workloads if fnmatchcase(name, pattern)), Switch())


@cache
def read_switches() -> Switches:
    data = store.read_yaml("switches.yaml")
    return Switches(
        workloads=tuple((item["workload"], _switch(item)) for item in data["workloads"]),
        containers={item["container"]: _switch(item) for item in data["containers"]},
        privileges=dict(data["privileges"]),
        labels={label: tuple(pointers) for label, pointers in data["labels"].items()},
        paths=_paths(data["paths"]),
        variables=_paths(data["variables"]),
        folders=tuple((folder, tuple(item["pool"])) for item in data["folders"] for folder in item["folders"]),
        source=data["source"],
    )


def _switch(item: dict[str, Any]) -> Switch:
    return Switch(_paths(item.get("values", ())), tuple(item.get("pool", ())))


def _paths(dotted: Any) -> tuple[ValuePath, ...]:
    return tuple(tuple(path.split(".")) for path in dotted)
