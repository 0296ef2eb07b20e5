"""By which names what stays behind on a cluster is known, and how far versions on it may be apart."""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.record import record


@record
class FormerLabel:
    """A label of a node and what it stems from. Values in `harmless` change nothing; `directories` are of the host, and
    hold what was written there."""

    key: str
    of: str
    harmless: tuple[str, ...]
    directories: tuple[str, ...]


@record
class LeftOvers:
    """`names` and `prefixes` are of roles, bindings and accounts of the operator; `annotations` begin so;
    in `namespaces` stand services of admission webhooks. `hosts` are directories that the operator and installers of
    Kata have written to, by who it was. RuntimeClasses come with distributions, or are made `by_hand` where the toolkit
    is on the hosts already."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    labels: tuple[FormerLabel, ...]
    annotations: tuple[str, ...]
    namespaces: frozenset[str]
    hosts: dict[str, tuple[str, ...]]
    of_distributions: dict[str, tuple[str, ...]]
    by_hand: tuple[str, ...]
    _kubelet: dict[str, Any]

    def is_of_operator(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)

    def oldest_kubelet(self, server_minor: int) -> int:
        """The minor of the oldest kubelet that a server of this minor takes (all of major 1)."""
        since = int(self._kubelet["since"].partition(".")[2])
        return server_minor - int(self._kubelet["older" if server_minor >= since else "olderBefore"])


@cache
def read_left_overs() -> LeftOvers:
    data = store.read_yaml("verify/left_overs.yaml")
    return LeftOvers(
        names=frozenset(data["operator"]["names"]),
        prefixes=tuple(data["operator"]["prefixes"]),
        labels=tuple(
            FormerLabel(
                key=item["key"],
                of=item["of"],
                harmless=tuple(item.get("harmless", ())),
                directories=tuple(item.get("directories", ())),
            )
            for item in data["labels"]
        ),
        annotations=tuple(data["annotations"]),
        namespaces=frozenset(data["webhooks"]["namespaces"]),
        hosts={name: tuple(paths) for name, paths in data["hosts"].items()},
        of_distributions={name: tuple(found) for name, found in data["runtimeClasses"]["distributions"].items()},
        by_hand=tuple(data["runtimeClasses"]["byHand"]),
        _kubelet=data["kubelet"],
    )
