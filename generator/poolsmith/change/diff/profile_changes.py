"""Profiles before and after a change: fields with bases merged in, pools added, removed, renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import PoolChange
from poolsmith.change.diff.spec_document import spec_document
from poolsmith.kubernetes.server.field_change import FieldChange, Standing
from poolsmith.kubernetes.server.field_changes import field_changes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster, LoadedPool

_SPEC = "/spec"


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
    old = {item.pool.name: item for item in before.pools}
    new = {item.pool.name: item for item in after.pools}
    found = [
        PoolChange(name=name, standing=Standing.REMOVED)
        for name in old
        if name not in new and name not in renamed.values()
    ]
    for name, item in new.items():
        was = old.get(renamed.get(name, name))
        if was is None:
            found.append(PoolChange(name=name, standing=Standing.ADDED, place=_named(item)))
            continue
        fields = _fields(was, item)
        if name in renamed:
            found.append(
                PoolChange(
                    name=name,
                    standing=Standing.RENAMED,
                    renamed_from=renamed[name],
                    fields=fields,
                    place=_named(item),
                )
            )
        elif fields:
            found.append(PoolChange(name=name, standing=Standing.CHANGED, fields=fields, place=fields[0].place))
    return tuple(sorted(found, key=lambda item: item.name))


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
