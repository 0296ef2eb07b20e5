"""Profiles before and after a change: fields with bases merged in, and pools added, removed or renamed.

A cluster or pool is renamed where the same content stands under another name and nothing else has that content. A pool
is also renamed where it is the only one of the change that selects the same nodes; a cluster where it is the only one
whose place and machines are the same, whatever is asked of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import PoolChange
from poolsmith.change.diff.rows import keyed_changes
from poolsmith.core.shape.field import camel_case
from poolsmith.core.sources.pointer import copied, mapped
from poolsmith.kubernetes.server.field_changes import FieldChange, Standing, field_changes

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

    from poolsmith.change.diff.rows import Keyed
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.profiles.cluster import ClusterSpec
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster, LoadedPool


@cache
def _names(kind: type[Any]) -> tuple[tuple[str, str], ...]:
    """Of the fields of a spec: in YAML, and in Python."""
    own = (item for item in fields(kind) if item.name != "extends")
    return tuple((item.metadata["shape"].name or camel_case(item.name), item.name) for item in own)


def spec_document(value: Any) -> Any:
    """Of the spec of a cluster or pool. `extends` is left out: its bases are merged in."""
    if is_dataclass(value) and not isinstance(value, type):
        return {name: spec_document(getattr(value, attribute)) for name, attribute in _names(type(value))}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): spec_document(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [spec_document(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


_SPEC = "/spec"
_MOST_COMPARED = 20


def cluster_fields(before: LoadedCluster, after: LoadedCluster) -> tuple[FieldChange, ...]:
    """Of the clusters' own profiles; values of charts are told for themselves."""
    if before.cluster is None or after.cluster is None:
        return ()
    old, new = spec_document(before.cluster.spec), spec_document(after.cluster.spec)
    for document in (old, new):
        document["stack"].pop("values", None)
    return field_changes(old, new, within=_SPEC, place=lambda pointer: _in_cluster(after, pointer))


def pool_changes(before: LoadedCluster, after: LoadedCluster, renamed: Mapping[str, str]) -> tuple[PoolChange, ...]:
    """By name. `renamed` are old names by new ones."""
    new_names = {old: new for new, old in renamed.items()}
    old = {new_names.get(item.pool.name, item.pool.name): item for item in before.pools}
    new = {item.pool.name: item for item in after.pools}
    stay = [new[name] for name in old if name in new]
    found = [_pool_change(item, renamed, stay) for item in keyed_changes(old, new, lambda was, now: was is now)]
    return tuple(sorted((item for item in found if item is not None), key=lambda item: item.name))


def _pool_change(
    item: Keyed[str, LoadedPool], renamed: Mapping[str, str], others: Sequence[LoadedPool]
) -> PoolChange | None:
    """None where both profiles say the same. `others`: pools that were there before."""
    name, old, new = item.key, item.old, item.new
    if new is None:
        return PoolChange(name=name, standing=item.standing)
    if old is None:
        like, differs = _most_like(new, others)
        return PoolChange(name=name, standing=item.standing, like=like, fields=differs, place=_named(new))
    fields = _fields(old, new)
    if name in renamed:
        return PoolChange(
            name=name, standing=Standing.RENAMED, renamed_from=renamed[name], fields=fields, place=_named(new)
        )
    return PoolChange(name=name, standing=item.standing, fields=fields, place=fields[0].place) if fields else None


def _most_like(new: LoadedPool, others: Sequence[LoadedPool]) -> tuple[str, tuple[FieldChange, ...]]:
    """The pool with the fewest other fields, and these; among many pools only those whose names are nearest count."""
    near = sorted(others, key=lambda item: (_far(item.pool.name, new.pool.name), item.pool.name))[:_MOST_COMPARED]
    own = _anonymous(new)
    found = [
        (item.pool.name, field_changes(_anonymous(item), own, within=_SPEC, place=new.layers.locate)) for item in near
    ]
    return min(found, key=lambda pair: (len(pair[1]), pair[0]), default=("", ()))


def whole_pools(loaded: LoadedCluster, standing: Standing) -> tuple[PoolChange, ...]:
    """The pools of a cluster that comes or goes as a whole."""
    return tuple(
        PoolChange(
            name=item.pool.name,
            standing=standing,
            place=_named(item) if standing is Standing.ADDED else None,
        )
        for item in loaded.pools
    )


def _fields(before: LoadedPool, after: LoadedPool) -> tuple[FieldChange, ...]:
    return field_changes(
        spec_document(before.pool.spec), spec_document(after.pool.spec), within=_SPEC, place=after.layers.locate
    )


def _named(item: LoadedPool) -> Location:
    return item.layers.own.locate("/metadata/name")


def _in_cluster(loaded: LoadedCluster, pointer: str) -> Location | None:
    return loaded.file.locate(pointer) if loaded.file is not None else None


_MOST_PAIRS = 10_000


def renamed_pools(before: LoadedCluster, after: LoadedCluster) -> dict[str, str]:
    """Old names by new ones, of pools that are in one of them only."""
    old = {item.pool.name: item for item in before.pools}
    new = {item.pool.name: item for item in after.pools}
    gone = {name: item for name, item in old.items() if name not in new}
    come = {name: item for name, item in new.items() if name not in old}
    found = _paired(_meanings(gone), _meanings(come))
    left = {name: _selected(item) for name, item in gone.items() if name not in found.values()}
    right = {name: _selected(item) for name, item in come.items() if name not in found}
    return found | _paired(left, right, only=True)


def renamed_clusters(gone: Mapping[str, LoadedCluster], come: Mapping[str, LoadedCluster]) -> dict[str, str]:
    """Old names by new ones. A cluster whose delivery keeps the name of one that is gone is that one; else the
    cluster's own profile has to be the same, and half of its pools at least."""
    found: dict[str, str] = {}
    if len(gone) * len(come) > _MOST_PAIRS:
        return found
    for new, after in sorted(come.items()):
        if (kept := _kept_name(after)) in gone and kept not in found.values():
            found[new] = kept
            continue
        likely = [
            (share, old)
            for old, before in gone.items()
            if old not in found.values() and (share := _likeness(before, after)) * 2 >= 1
        ]
        if likely:
            best = max(share for share, _ in likely)
            found[new] = min(
                (name for share, name in likely if share == best), key=lambda name: (_far(name, new), name)
            )
    return found | _moved_clusters(
        {name: item for name, item in gone.items() if name not in found.values()},
        {name: item for name, item in come.items() if name not in found},
    )


def _moved_clusters(gone: Mapping[str, LoadedCluster], come: Mapping[str, LoadedCluster]) -> dict[str, str]:
    """Those that are the same but for what somebody asks of them: each only where no other one may be meant."""
    likely = [
        (new, old) for new, after in come.items() for old, before in gone.items() if _is_same_place(before, after)
    ]
    news, olds = Counter(new for new, _ in likely), Counter(old for _, old in likely)
    return {new: old for new, old in likely if news[new] == olds[old] == 1}


_ASKED = ("stack", "delivery", "acknowledge")
_MACHINE = ("os", "kernel", "runtime", "gpu")


def _is_same_place(before: LoadedCluster, after: LoadedCluster) -> bool:
    """Whether it is one cluster with half of its pools at least: under their names, whatever is to run there and
    delivers it; or under others, where nothing else differs."""
    if before.cluster is None or after.cluster is None:
        return False
    was, now = before.cluster.spec, after.cluster.spec
    if was.delivery.destination and now.delivery.destination and was.delivery.destination != now.delivery.destination:
        return False
    old, new = (_without(spec_document(spec), _ASKED) for spec in (was, now))
    if _with_name(old, before.name, after.name) != new:
        return False
    is_asked_alike = _with_name(_cluster_document(was), before.name, after.name) == _cluster_document(now)
    told_by = _meaning if is_asked_alike else _machine
    then, there = (Counter(told_by(item) for item in side.pools) for side in (before, after))
    return (then & there).total() * 2 >= max(then.total(), there.total()) > 0


def _machine(item: LoadedPool) -> Hashable:
    """Its name, and what its machines are."""
    document = spec_document(item.pool.spec)
    return item.pool.name, repr([document.get(key) for key in _MACHINE])


def _without(document: Mapping[str, Any], keys: Collection[str]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key not in keys}


def _kept_name(loaded: LoadedCluster) -> str:
    """What the delivery goes on to be called; empty where the profile does not say."""
    return (loaded.cluster.spec.delivery.name or "") if loaded.cluster is not None else ""


def _likeness(before: LoadedCluster, after: LoadedCluster) -> float:
    """The share of pools that both have, by name and content; none where the clusters' own profiles differ."""
    if before.cluster is None or after.cluster is None or not before.pools or not after.pools:
        return 0.0
    was = _with_name(_cluster_document(before.cluster.spec), before.name, after.name)
    if was != _cluster_document(after.cluster.spec):
        return 0.0
    old = {item.pool.name: spec_document(item.pool.spec) for item in before.pools}
    same = sum(1 for item in after.pools if old.get(item.pool.name) == spec_document(item.pool.spec))
    return same / max(len(old), len(after.pools))


def _cluster_document(spec: ClusterSpec) -> dict[str, Any]:
    """Without what somebody only says of it, and what a rename keeps: it is acknowledged in the same change."""
    document = _without(spec_document(spec), ("acknowledge",))
    document["delivery"] = {key: value for key, value in document["delivery"].items() if key != "name"}
    return document


def _with_name(value: Any, old: str, new: str) -> Any:
    """A document as it would be of a cluster of another name: addresses and paths often hold it."""
    return mapped(value, lambda item: item.replace(old, new) if isinstance(item, str) else item)


def _paired(gone: Mapping[str, Hashable], come: Mapping[str, Hashable], *, only: bool = False) -> dict[str, str]:
    """Those that are told by the same; with `only`, where no other one is."""
    by_meaning: dict[Hashable, list[str]] = defaultdict(list)
    for name, meaning in gone.items():
        if meaning is not None:
            by_meaning[meaning].append(name)
    wanted: dict[Hashable, list[str]] = defaultdict(list)
    for name, meaning in come.items():
        if meaning in by_meaning:
            wanted[meaning].append(name)
    found = {}
    for meaning, names in wanted.items():
        others = by_meaning[meaning]
        if only and (len(names) > 1 or len(others) > 1):
            continue
        for name in sorted(names):
            if others:
                nearest = min(others, key=lambda other: (_far(other, name), other))
                others.remove(nearest)
                found[name] = nearest
    return found


def _far(one: str, other: str) -> int:
    """How many letters two names do not begin or end with together."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    return max(len(one), len(other)) - start - end


def _meanings(pools: Mapping[str, LoadedPool]) -> dict[str, Hashable]:
    return {name: _meaning(item) for name, item in pools.items()}


def _meaning(item: LoadedPool) -> Hashable:
    """All that the profile says but its name; a label that follows from the name is part of that."""
    return repr(_anonymous(item))


def _anonymous(item: LoadedPool) -> dict[str, Any]:
    document: dict[str, Any] = copied(spec_document(item.pool.spec))
    nodes = document.get("nodes", {})
    if nodes.get("labelValue") in (item.pool.name, item.pool.object_name):
        nodes["labelValue"] = None
    document.pop("objectName", None)
    return document


def _selected(item: LoadedPool) -> Hashable:
    """The nodes that it names itself; None where they follow from its name."""
    nodes = item.pool.spec.nodes
    if nodes.names:
        return ("names", *nodes.names)
    if item.pool.label_value != item.pool.name:
        return ("label", item.pool.label_value)
    return None
