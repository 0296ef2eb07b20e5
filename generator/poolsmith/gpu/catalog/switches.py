"""What switches a workload, a container or a privilege on: a value, or a line of a profile."""

from __future__ import annotations

from dataclasses import field
from functools import cache, cached_property
from typing import Any, TypeVar

from poolsmith.core.facts import store
from poolsmith.core.latest import Latest
from poolsmith.core.pattern import fits
from poolsmith.core.record import record

_NAMES = 1_000
"""Of workloads whose switches are remembered."""
ValuePath = tuple[str, ...]
Entry = TypeVar("Entry")


@record(kw_only=False)
class Switch:
    """Paths of values of the operator's chart, and JSON pointers into the profiles of a pool and of its cluster.

    `by_default` says whether a value that nobody set brings it about as well.
    """

    values: tuple[ValuePath, ...] = ()
    pool: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    by_default: bool = True


@record
class Business:
    """What a pool's profile says where a workload has something to do.

    `asked` are pointers into the profile with the words that count there, no words meaning any; one of them is enough.
    `unset` are values that take the workload to other pools where a user sets them, `switch` is the value that switches
    it off in the whole cluster, `declare` what a profile may say where it has to stay.
    """

    asked: tuple[tuple[str, frozenset[str]], ...]
    unset: tuple[ValuePath, ...] = ()
    switch: ValuePath | None = None
    declare: str = ""


@record(slots=False)
class Switches:
    """`privileges` maps a privilege to the key of a component, `labels` a node label to pointers into the profile.

    `volumes` are host paths by the name of their volume. `networks` are the values that put a workload into the
    node's network.
    """

    workloads: tuple[tuple[str, Switch], ...]
    business: tuple[tuple[str, Business], ...]
    networks: tuple[tuple[str, ValuePath], ...]
    containers: dict[str, Switch]
    privileges: dict[str, str]
    labels: dict[str, tuple[str, ...]]
    volumes: dict[str, Switch]
    source: str
    _known: Latest = field(default_factory=lambda: Latest(_NAMES), compare=False, repr=False)

    @cached_property
    def pointers(self) -> tuple[str, ...]:
        """Every pointer into a pool's profile that decides on something."""
        found = [
            *(pointer for _, switch in self.workloads for pointer in switch.pool),
            *(pointer for switch in self.containers.values() for pointer in switch.pool),
            *(pointer for pointers in self.labels.values() for pointer in pointers),
            *(pointer for switch in self.volumes.values() for pointer in switch.pool),
        ]
        return tuple(sorted(set(found)))

    def of_workload(self, name: str) -> Switch:
        return self._first(self.workloads, name) or Switch()

    def business_of(self, name: str) -> Business | None:
        """None for a workload that has something to do on each pool where it runs."""
        return self._first(self.business, name)

    def network_of(self, name: str) -> ValuePath | None:
        return self._first(self.networks, name)

    def _first(self, entries: tuple[tuple[str, Entry], ...], name: str) -> Entry | None:
        """The entry of the first pattern that a workload's name matches."""
        return self._known.of(
            (id(entries), name), lambda: next((entry for form, entry in entries if fits(name, form)), None)
        )


@cache
def read_switches() -> Switches:
    data = store.read_yaml("switches.yaml")
    return Switches(
        workloads=tuple((item["workload"], _switch(item)) for item in data["workloads"]),
        business=tuple((item["workload"], _business(item)) for item in data["business"]),
        networks=tuple((item["workload"], tuple(item["value"].split("."))) for item in data["networks"]),
        containers={item["container"]: _switch(item) for item in data["containers"]},
        privileges=dict(data["privileges"]),
        labels={label: tuple(pointers) for label, pointers in data["labels"].items()},
        volumes={item["volume"]: _switch(item) for item in data["volumes"]},
        source=data["source"],
    )


def _switch(item: dict[str, Any]) -> Switch:
    return Switch(
        values=_paths(item.get("values", ())),
        pool=tuple(item.get("pool", ())),
        cluster=tuple(item.get("cluster", ())),
        by_default=item.get("default", True),
    )


def _business(item: dict[str, Any]) -> Business:
    return Business(
        asked=tuple((pointer, frozenset(words)) for pointer, words in item["asked"].items()),
        unset=_paths(item.get("unset", ())),
        switch=tuple(item["switch"].split(".")) if "switch" in item else None,
        declare=item.get("declare", ""),
    )


def _paths(dotted: Any) -> tuple[ValuePath, ...]:
    return tuple(tuple(path.split(".")) for path in dotted)
