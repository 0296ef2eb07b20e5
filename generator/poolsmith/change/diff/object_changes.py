"""Objects before and after a change: those that are applied, those that charts render, those that the operator makes.

An object is the same one while API group, kind, namespace and name are: another version of the API is a changed field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import ObjectChange
from poolsmith.core.record import record
from poolsmith.fleet.operands.installation import Maker
from poolsmith.kubernetes.server.field_change import FieldChange, Standing
from poolsmith.kubernetes.server.field_changes import field_changes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.operands.installation import Installation
    from poolsmith.fleet.operands.manifest import ManifestTree

Key = tuple[str, str, str, str]
_MADE = (Maker.OPERATOR, Maker.OPERAND)


@record(kw_only=False)
class StandingObject:
    """An object, the generated file that holds it (empty: none does), and whether the operator makes it."""

    body: dict[str, Any]
    file: str = ""
    made: bool = False


def applied_objects(tree: ManifestTree) -> dict[Key, StandingObject]:
    """The objects of the generated files."""
    found: dict[Key, StandingObject] = {}
    for file, body in tree.objects():
        if (key := _key(body)) is not None:
            found.setdefault(key, StandingObject(body, file))
    return found


def made_objects(installation: Installation) -> dict[Key, StandingObject]:
    """What charts and the operator make of these."""
    found: dict[Key, StandingObject] = {}
    for item in installation.made:
        if item.maker is not Maker.POOLSMITH and (key := _key(item.body)) is not None:
            found.setdefault(key, StandingObject(item.body, made=item.maker in _MADE))
    return found


def object_changes(before: dict[Key, StandingObject], after: dict[Key, StandingObject]) -> tuple[ObjectChange, ...]:
    """What is applied first, then by kind, namespace and name. What comes or goes as a whole has no fields."""
    return in_order(_changes(before, after))


def differing(
    before: dict[Key, StandingObject], after: dict[Key, StandingObject]
) -> Iterator[tuple[Key, StandingObject, StandingObject]]:
    """What both sides have, and not alike."""
    for key in sorted(before.keys() & after.keys()):
        if before[key].body is not after[key].body and before[key].body != after[key].body:
            yield key, before[key], after[key]


def in_order(changes: Iterable[ObjectChange]) -> tuple[ObjectChange, ...]:
    return tuple(sorted(changes, key=_order))


def _changes(before: dict[Key, StandingObject], after: dict[Key, StandingObject]) -> Iterator[ObjectChange]:
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old is None and new is not None:
            yield _told(key, new, Standing.ADDED)
        elif new is None and old is not None:
            yield _told(key, old, Standing.REMOVED)
        elif old is not None and new is not None and (fields := field_changes(old.body, new.body)):
            yield _told(key, new, Standing.CHANGED, fields)


def _told(key: Key, item: StandingObject, standing: Standing, fields: Iterable[FieldChange] = ()) -> ObjectChange:
    _, kind, namespace, name = key
    return ObjectChange(
        api_version=str(item.body.get("apiVersion", "")),
        kind=kind,
        name=name,
        standing=standing,
        namespace=namespace,
        file=item.file,
        made=item.made,
        fields=tuple(fields),
    )


def _key(body: Any) -> Key | None:
    """None of what is no object."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata"), dict):
        return None
    group = str(body.get("apiVersion", "")).rpartition("/")[0]
    metadata = body["metadata"]
    name = metadata.get("name") or metadata.get("generateName")
    if not body.get("kind") or not name:
        return None
    return group, str(body["kind"]), str(metadata.get("namespace") or ""), str(name)


def _order(item: ObjectChange) -> tuple[object, ...]:
    return item.made, item.file == "", item.kind, item.namespace, item.name, item.api_version
