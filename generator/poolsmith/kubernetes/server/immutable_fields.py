"""Fields that the API server lets nobody change: those of `data/api_server/immutable_fields.yaml`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_FILE = "api_server/immutable_fields.yaml"
Path = tuple[str, ...]
Body = dict[str, Any]


def _is_immutable(old: Body, _new: Body) -> bool:
    return old.get("immutable") is True


def _has_cluster_address(old: Body, new: Body) -> bool:
    """A Service that lets go of its address, or gets one, may."""
    types = [value_at(item, ("spec", "type")) for item in (old, new)]
    return "ExternalName" not in types and all(value_at(item, ("spec", "clusterIP")) for item in (old, new))


def _runs(old: Body, _new: Body) -> bool:
    """The pods of a suspended Job may still be told where to go."""
    return value_at(old, ("spec", "suspend")) is not True


_WHEN: dict[str, Callable[[Body, Body], bool]] = {
    "immutable": _is_immutable,
    "addressed": _has_cluster_address,
    "running": _runs,
}


@cache
def kinds() -> dict[tuple[str, str], list[dict[str, Any]]]:
    """The rows of the table by API group and kind."""
    table = store.table(_FILE)["kinds"]
    return {(name.rpartition("/")[0], name.rpartition("/")[2]): rows for name, rows in table.items()}


def immutable_changes(old: Body, new: Body) -> tuple[str, ...]:
    """JSON pointers of the fields that differ and may not, of two objects with one group, kind, namespace and name."""
    group = str(new.get("apiVersion", "")).rpartition("/")[0]
    rows = kinds().get((group, str(new.get("kind"))), [])
    holding = (row for row in rows if "when" not in row or _WHEN[row["when"]](old, new))
    return tuple(pointer for row in holding for pointer in _changed(row, old, new))


def _changed(row: Mapping[str, Any], old: Body, new: Body) -> Iterator[str]:
    unset = row.get("unset", {})
    for field in row.get("fields", ()):
        path = _steps(field)
        if _value(old, path, unset.get(field)) != _value(new, path, unset.get(field)):
            yield join("", *path)
    if "allOf" not in row:
        return
    above, but = _steps(row["allOf"]), list(map(_steps, row.get("but", ())))
    before, after = (mapping(value_at(item, above)) for item in (old, new))
    for key in sorted({*before, *after}):
        free = tuple(path[1:] for path in but if path[0] == key)
        if () in free:
            continue
        sides = (_value(_without(side, free, key), (key,), unset.get(key)) for side in (before, after))
        if next(sides) != next(sides):
            yield join("", *above, key)


def _steps(field: str) -> Path:
    return tuple(field.split("/"))


def _without(side: Mapping[str, Any], free: tuple[Path, ...], key: str) -> dict[str, Any]:
    """The one field of it, less what may change below."""
    kept = dict(mapping(side.get(key)))
    for path in free:
        kept.pop(path[0], None)
    return {key: kept if free else side.get(key)}


def _value(body: Mapping[str, Any], path: Path, unset: Any) -> Any:
    """What stands there. To the server, nothing and what it fills in are one, and so are nothing and what is empty."""
    found = value_at(dict(body), path)
    return unset if found in (None, "", [], {}) else found
