"""Which pools' driver pods are replaced between two states of a cluster, and how.

Source of how: NVIDIA/gpu-operator@v26.3.3 and @v26.7.0:controllers/{object_controls,nvidiadriver_controller}.go; driver
DaemonSets have the update strategy OnDelete, and an object's DaemonSets are its own.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping


POLICY = "ClusterPolicy"


@record
class PoolDriver:
    """The driver pods of a pool. `owner` is the object that describes them, `ClusterPolicy` or `NVIDIADriver/<name>`.

    `template` stands for all that the pods are made of; `key` is the DaemonSet's, by namespace, kind and name. `system`
    are the labels of kernel and operating system that its nodes must have; of several in a pool each has its own.
    """

    owner: str
    image: str
    template: str
    key: str = ""
    system: tuple[tuple[str, str], ...] = ()


class DriverChangeKind(StrEnum):
    """What disturbs most comes first."""

    DELETED = "deleted"
    REMOVED = "removed"
    HANDED_OVER = "handed-over"
    UPDATED = "updated"
    INSTALLED = "installed"


_WORDS = {
    DriverChangeKind.DELETED: "the driver pods of all its nodes are deleted at once, and others start",
    DriverChangeKind.REMOVED: "its driver pods are deleted, and none follow",
    DriverChangeKind.HANDED_OVER: "running driver pods stay until the driver upgrade replaces them, node by node",
    DriverChangeKind.UPDATED: "the driver upgrade replaces its pods node by node; without autoUpgrade they stay until "
    "somebody deletes them",
    DriverChangeKind.INSTALLED: "driver pods start",
}


@record
class DriverChange:
    """One pool's. `old` is None for installed, `new` for removed ones."""

    kind: DriverChangeKind
    pool: str
    old: PoolDriver | None = None
    new: PoolDriver | None = None

    @property
    def words(self) -> str:
        """What happens on the nodes, in one sentence."""
        return _WORDS[self.kind]


def driver_changes(
    old: Mapping[str, tuple[PoolDriver, ...]],
    new: Mapping[str, tuple[PoolDriver, ...]],
    *,
    hands_over: bool,
    same_systems: Collection[str] = (),
) -> tuple[DriverChange, ...]:
    """By kind, then by pool. `hands_over`: the operator leaves the pods of a ClusterPolicy to driver objects.

    `same_systems`: pools whose nodes keep kernel and operating system.
    """
    found = []
    for pool in old.keys() | new.keys():
        for before, after in _pairs(old.get(pool, ()), new.get(pool, ()), same_systems=pool in same_systems):
            kind = _kind(before, after, hands_over=hands_over)
            if kind is not None:
                found.append(DriverChange(kind=kind, pool=pool, old=before, new=after))
    order = list(DriverChangeKind)
    return tuple(sorted(found, key=lambda change: (order.index(change.kind), change.pool)))


def _pairs(
    old: tuple[PoolDriver, ...], new: tuple[PoolDriver, ...], *, same_systems: bool
) -> Iterator[tuple[PoolDriver | None, PoolDriver | None]]:
    """Those of the same system, where the same owner has pods for each: nodes that are rolled take the pods of their
    new system, and pods of the old one stay until its last node is gone. Where no node is rolled and the operator names
    the system otherwise, what it no longer makes is deleted, and what it makes instead starts (NVIDIA/gpu-operator@
    v26.7.0:internal/state/driver.go, cleanupStaleDriverDaemonsets)."""
    drivers = (*old, *new)
    if not (old and new and all(item.system for item in drivers) and len({item.owner for item in drivers}) == 1):
        yield (old[0] if old else None, new[0] if new else None)
        return
    before = {item.system: item for item in old}
    left = iter([item for item in old if item.system not in {other.system for other in new}] if same_systems else ())
    for item in new:
        yield before.get(item.system) or next(left, None), item


def _kind(before: PoolDriver | None, after: PoolDriver | None, *, hands_over: bool) -> DriverChangeKind | None:
    if before is None:
        return None if after is None else DriverChangeKind.INSTALLED
    if after is None:
        return DriverChangeKind.REMOVED
    if before.owner != after.owner:
        keeps = hands_over and before.owner == POLICY
        return DriverChangeKind.HANDED_OVER if keeps else DriverChangeKind.DELETED
    if before.key != after.key:
        return DriverChangeKind.DELETED
    return None if before == after else DriverChangeKind.UPDATED
