"""Clusters that are alike are resolved once: they differ in the cluster's name, and in where Argo CD delivers to.

A plan says both only in its cluster and its pools, in the lines that values come from, and in findings. So the plan of
one is the plan of the other, once these are put in place. Where a plan or a finding says the name anywhere else, where
passes may ask for it, or where a finding stands elsewhere in the other's file, the cluster is resolved by itself.
"""

from __future__ import annotations

import hashlib
import marshal
from collections import OrderedDict
from dataclasses import replace
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.input_tree import Seen
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.plan.pipeline import Resolved, resolve_cluster
from poolsmith.fleet.profiles.cluster import Cluster
from poolsmith.fleet.profiles.node_pool import NodePool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog

_REMEMBERED, _KINDS = 32, 4
_PLAIN = (str, int, float, bytes, type(None), Enum)
_DESTINATION = ("name", "server")


class AlikePlans:
    """The last plans that are one for several clusters."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._seen = Seen()
        self._known: OrderedDict[bytes, _Mould] = OrderedDict()

    def of(self, loaded: LoadedCluster) -> tuple[Resolved, bytes]:
        """As `resolve_cluster`, and what is the same for all clusters that have this plan; empty where that is none."""
        key = _key(loaded)
        if (mould := self._known.get(key)) is not None and (found := mould.of(loaded)) is not None:
            self._known.move_to_end(key)
            return found, key
        resolved = resolve_cluster(loaded, self._catalog)
        if key and resolved.plan is not None and self._seen.has(key):
            self._known[key] = _Mould(resolved.plan, _Findings(loaded, resolved.diagnostics))
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return resolved, b""


class AlikeFindings:
    """Findings on clusters that are alike, made once for all of them."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bytes], _Findings] = OrderedDict()

    def of(
        self, work: str, alike: bytes, loaded: LoadedCluster, find: Callable[[], Iterable[Diagnostic]]
    ) -> tuple[Diagnostic, ...]:
        """What `find` finds, which follows from the plan and the profiles alone. `alike` as `AlikePlans` tells it."""
        known = self._known.get((work, alike))
        if known is not None and (moved := known.of(loaded)) is not None:
            self._known.move_to_end((work, alike))
            return moved
        found = tuple(find())
        if alike:
            self._known[work, alike] = _Findings(loaded, found)
            while len(self._known) > _REMEMBERED * _KINDS:
                self._known.popitem(last=False)
        return found


def _key(loaded: LoadedCluster) -> bytes:
    """Of all that passes read; empty of a cluster whose name they may ask for, or that is more than its files say."""
    file, cluster = loaded.file, loaded.cluster
    if file is None or cluster is None or cluster.spec.delivery.after or cluster.spec.ring is not None:
        return b""
    metadata = {**file.data["metadata"], "name": ""}
    spec = dict(file.data["spec"])
    delivery = dict(spec.get("delivery") or {})
    if isinstance(destination := delivery.get("destination"), dict):
        blank = {name: "" for name in _DESTINATION if isinstance(destination.get(name), str)}
        delivery["destination"] = destination | blank
    spec["delivery"] = delivery
    own = file.path.rpartition("/")[0]
    pools = [[(one.path.removeprefix(own), one.digest) for one in item.layers.files] for item in loaded.pools]
    try:
        said = marshal.dumps((file.path.removeprefix(own), {**file.data, "metadata": metadata, "spec": spec}, pools), 2)
    except ValueError:
        return b""
    return hashlib.blake2b(said, digest_size=16).digest()


@record(kw_only=False)
class _Spots:
    """Where lines of profiles stand in a value: indices or names of fields, and where in what is there. None: it is
    itself a line, or a profile."""

    inner: tuple[tuple[Any, _Spots | None], ...]


@record(kw_only=False, slots=False)
class _Findings:
    """On a cluster that others may be like."""

    loaded: LoadedCluster
    diagnostics: tuple[Diagnostic, ...]

    @cached_property
    def finder(self) -> _Finder | None:
        """Of lines of the cluster's own files; None where findings say its name where it can't be replaced."""
        own = {item.pool.path for item in self.loaded.pools}
        own |= {self.loaded.file.path} if self.loaded.file is not None else set()
        finder = _Finder(self.loaded.name, own)
        try:
            for item in self.diagnostics:
                finder.look(_said(item))
        except _NameIsSaidError:
            return None
        return finder

    def of(self, loaded: LoadedCluster) -> tuple[Diagnostic, ...] | None:
        """What is found of the other cluster; None where that can't be told."""
        moved = _Moved(self.loaded, loaded)
        if self.finder is None or not all(map(moved.has_same, self.diagnostics)):
            return None
        return tuple(map(moved.diagnostic, self.diagnostics))


@record(kw_only=False, slots=False)
class _Mould:
    """A cluster that others may be like, as it was resolved."""

    plan: ClusterPlan
    findings: _Findings

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

    def __init__(self, one: LoadedCluster, other: LoadedCluster) -> None:
        pairs = list(zip(one.pools, other.pools, strict=True))
        self._files = one.file, other.file
        self._names = one.name, other.name
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
        return replace(item, subject=subject, primary=self._place(item.primary), related=related)

    def _place(self, place: Location) -> Location:
        path = place.span.path
        return replace(place, span=replace(place.span, path=self._paths.get(path, path)))


class _NameIsSaidError(Exception):
    """Where it can't be replaced."""


def _said(item: Diagnostic) -> list[str | None]:
    """All texts of a finding but its subject and the paths of its places."""
    notes = [text for place in (item.primary, *item.related) for text in (place.note, place.source_line)]
    return [item.message, item.help, *notes]


class _Finder:
    def __init__(self, name: str, own: set[str]) -> None:
        self._name = name
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
        """Raises _NameIsSaidError where the name stands in it, or it is of an unknown kind."""
        if isinstance(value, str) and self._name in value:
            raise _NameIsSaidError
        if isinstance(value, dict):
            self.look([*value, *value.values()])
        elif isinstance(value, list | tuple):
            for item in value:
                self.look(item)
        elif not isinstance(value, _PLAIN):
            raise _NameIsSaidError
