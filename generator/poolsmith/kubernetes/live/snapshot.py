"""What was read from a cluster: lists of objects, and what could not be listed, and why."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.live.resources import Resource

KubernetesObject = dict[str, Any]


class State(StrEnum):
    """What became of a list."""

    READ = "read"
    ABSENT = "absent"
    """The server does not serve the kind: there is no object of it."""
    FORBIDDEN = "forbidden"
    FAILED = "failed"


@record(kw_only=False)
class Listed:
    """One kind, of the whole cluster or of `namespaces`. `reason` is empty where all was read."""

    resource: Resource
    state: State
    items: tuple[KubernetesObject, ...] = ()
    reason: str = ""
    namespaces: tuple[str, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether what is not among the items is not in the cluster."""
        return self.state in (State.READ, State.ABSENT)


@record
class Snapshot:
    """`server` is the version as `v1.34.1`, `context` what the reader calls the cluster, `taken` when, in UTC."""

    context: str
    server: str
    taken: str
    lists: tuple[Listed, ...]

    def listed(self, resource: Resource) -> Listed | None:
        """None where nobody asked for the kind."""
        return next((item for item in self.lists if item.resource == resource), None)

    def items(self, resource: Resource) -> tuple[KubernetesObject, ...]:
        found = self.listed(resource)
        return () if found is None else found.items

    @property
    def unread(self) -> Iterator[Listed]:
        """What was asked for and could not be read whole."""
        return (item for item in self.lists if not item.is_known)

    def with_lists(self, other: Snapshot) -> Snapshot:
        """This one, where the other's lists take the place of those of the same kinds."""
        newer = {item.resource for item in other.lists}
        kept = tuple(item for item in self.lists if item.resource not in newer)
        return Snapshot(context=self.context, server=self.server, taken=self.taken, lists=(*kept, *other.lists))
