"""From one cluster to another that is like it: its plan and its findings, with lines of the other's own files.

Where a plan or a finding says the name anywhere else, or where a finding stands elsewhere in the other's file, nothing
is told of the other.
"""

from __future__ import annotations

from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record, replace
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.plan.pipeline import Resolved
from poolsmith.fleet.profiles.cluster import Cluster
from poolsmith.fleet.profiles.node_pool import NodePool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster

_PLAIN = (str, int, float, bytes, type(None), Enum)


@record(kw_only=False)
class _Spots:
    """Where lines of profiles stand in a value: indices or names of fields, and where in what is there. None: it is
    itself a line, or a profile."""

    inner: tuple[tuple[Any, _Spots | None], ...]


@record(kw_only=False, slots=False)
class MovableFindings:
    """On a cluster that others may be like. Subjects, messages and help say `name`, where it is not the cluster's."""

    loaded: LoadedCluster
    diagnostics: tuple[Diagnostic, ...]
    name: str = ""

    @cached_property
    def finder(self) -> _Finder | None:
        """Knows lines of the cluster's own files; None where findings say its name where it can't be replaced."""
        own = {item.pool.path for item in self.loaded.pools}
        own |= {self.loaded.file.path} if self.loaded.file is not None else set()
        cluster = self.loaded.cluster
        destination = cluster.spec.delivery.destination if cluster is not None else None
        places = (destination.name, destination.server) if destination is not None else ()
        finder = _Finder({self.loaded.name, *filter(None, places)}, own)
        try:
            for item in self.diagnostics:
                finder.look(_said(item, own))
        except _NameIsSaidError:
            return None
        return finder

    def of(self, loaded: LoadedCluster) -> tuple[Diagnostic, ...] | None:
        """What is found of the other cluster; None where that can't be told."""
        moved = _Moved(self.loaded, loaded, self.name)
        if self.finder is None or not all(map(moved.has_same, self.diagnostics)):
            return None
        return tuple(map(moved.diagnostic, self.diagnostics))


@record(kw_only=False, slots=False)
class MovablePlan:
    """A cluster that others may be like, as it was resolved."""

    plan: ClusterPlan
    findings: MovableFindings

    @cached_property
    def spots(self) -> _Spots | None:
        """None where the plan says the name where it can't be replaced."""
        try:
            return None if self.findings.finder is None else self.findings.finder.spots(self.plan)
        except _NameIsSaidError:
            return None

    def of(self, loaded: LoadedCluster) -> Resolved | None:
        """What the other cluster resolves to, by this one; None where that can't be told."""
        diagnostics = self.findings.of(loaded) if self.spots is not None else None
        if diagnostics is None:
            return None
        return Resolved(_Moved(self.findings.loaded, loaded).value(self.plan, self.spots), diagnostics)


class _Moved:
    """From one cluster to another that is like it."""

    def __init__(self, one: LoadedCluster, other: LoadedCluster, name: str = "") -> None:
        pairs = list(zip(one.pools, other.pools, strict=True))
        self._files = one.file, other.file
        self._names = name or one.name, other.name
        self._profiles: dict[int, Any] = {id(mine.pool): theirs.pool for mine, theirs in pairs}
        self._profiles[id(one.cluster)] = other.cluster
        self._paths = {mine.pool.path: theirs.pool.path for mine, theirs in pairs}
        if one.file is not None and other.file is not None:
            self._paths[one.file.path] = other.file.path

    def value(self, value: Any, spots: _Spots | None) -> Any:
        if spots is None:
            if type(value) is FromProfile:
                return FromProfile(self._paths[value.path], value.pointer)
            return self._profiles[id(value)]
        if type(value) is tuple:
            items = list(value)
            for index, inner in spots.inner:
                items[index] = self.value(items[index], inner)
            return tuple(items)
        return replace(value, **{name: self.value(getattr(value, name), inner) for name, inner in spots.inner})

    def has_same(self, item: Diagnostic) -> bool:
        """Whether the other has the same at the places of a finding. Pools have the same texts; clusters may differ."""
        one = self._names[0]
        is_own = item.subject == one or item.subject.startswith(f"{one}/")
        return is_own and all(map(self._has_same, (item.primary, *item.related)))

    def _has_same(self, place: Location) -> bool:
        mine, theirs = self._files
        if mine is None or theirs is None or place.span.path != mine.path:
            return True
        if mine.content.secrets.known or theirs.content.secrets.known:
            return False
        return mine.content.placed(place.pointer) == theirs.content.placed(place.pointer)

    def diagnostic(self, item: Diagnostic) -> Diagnostic:
        one, other = self._names
        subject = other + item.subject.removeprefix(one)
        related = tuple(map(self._place, item.related))
        primary, message = self._place(item.primary), item.message.replace(one, other)
        help_ = item.help and item.help.replace(one, other)
        return replace(item, subject=subject, message=message, help=help_, primary=primary, related=related)

    def _place(self, place: Location) -> Location:
        path = place.span.path
        return replace(place, span=replace(place.span, path=self._paths.get(path, path)))


class _NameIsSaidError(Exception):
    """Where it can't be replaced."""


def _said(item: Diagnostic, own: set[str]) -> list[str | None]:
    """All texts of a finding but its subject, with the paths of its places that are not the cluster's own."""
    places = (item.primary, *item.related)
    notes = [text for place in places for text in (place.note, place.source_line)]
    return [item.message, item.help, *notes, *(place.span.path for place in places if place.span.path not in own)]


class _Finder:
    def __init__(self, names: set[str], own: set[str]) -> None:
        self._names = names
        self._own = own

    def spots(self, value: Any) -> _Spots | None:
        """Raises _NameIsSaidError."""
        inner = tuple(self._inner(value))
        return _Spots(inner) if inner else None

    def _inner(self, value: Any) -> Iterator[tuple[Any, _Spots | None]]:
        parts: Iterable[tuple[Any, Any]]
        if type(value) is tuple:
            parts = enumerate(value)
        else:
            parts = ((name, getattr(value, name)) for name in value.__dataclass_fields__)
        for name, part in parts:
            if self._is_line(part):
                yield name, None
            elif type(part) is tuple or hasattr(part, "__dataclass_fields__"):
                if (found := self.spots(part)) is not None:
                    yield name, found
            else:
                self.look(part)

    def _is_line(self, value: Any) -> bool:
        """Whether it is put in place as a whole."""
        return isinstance(value, Cluster | NodePool) or (type(value) is FromProfile and value.path in self._own)

    def look(self, value: Any) -> None:
        """Raises _NameIsSaidError where one of the names stands in it, or it is of an unknown kind."""
        if isinstance(value, str) and any(name in value for name in self._names):
            raise _NameIsSaidError
        if isinstance(value, dict):
            self.look([*value, *value.values()])
        elif isinstance(value, list | tuple):
            for item in value:
                self.look(item)
        elif not isinstance(value, _PLAIN):
            raise _NameIsSaidError
