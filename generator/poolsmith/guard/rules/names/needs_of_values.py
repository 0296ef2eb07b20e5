"""What Helm values, or an object with the same fields, name."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.guard.rules.names.need import Need

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location

FILLED_LATER = pattern(r"\$\{|\{\{|\$\(")
"""How texts show that something else still writes into them."""
_INDEX = pattern(r"\.(\d+)$")


@record
class NamingFields:
    """`value` and `is_set` take dotted paths: what holds in the end, and whether the user says it."""

    value: Callable[[str], Any]
    is_set: Callable[[str], bool]
    place: Callable[[str], Location]
    namespace: str | None
    who: str
    follows: str | None = None
    """The namespace that kustomize renders the pods into, where it does."""
    shown: str = ""
    """What stands before a path in messages."""


def needs_of(rows: Iterable[Mapping[str, Any]], fields: NamingFields) -> Iterator[Need]:
    """By the rows of data/named_objects.yaml."""
    for row in rows:
        for path, namespace, name in _listed(row, fields) if "list" in row else _of_row(row, fields):
            if name not in ("", row.get("own")) and not FILLED_LATER.search(name):
                yield Need(
                    kind=row["kind"],
                    name=name,
                    where=fields.shown + _INDEX.sub(r"[\1]", path),
                    who=fields.who,
                    locate=fields.place,
                    pointer=path,
                    namespace=None if row["kind"] in ("PriorityClass", "RuntimeClass") else namespace,
                    keys=dict.fromkeys(_keys(row, fields), path),
                    values=tuple(row.get("oneOf", ())),
                    refused=row.get("refused"),
                    follows=fields.follows if "mounted" in row else None,
                )


def _of_row(row: Mapping[str, Any], fields: NamingFields) -> Iterator[tuple[str, str | None, str]]:
    """The path, the namespace and the name, of a part that is on and makes no object of its own."""
    path = row["path"]
    makes = "create" in row and fields.value(row["create"]) is True
    if fields.is_set(path) and not makes and fields.value(f"{path.partition('.')[0]}.enabled") is not False:
        yield path, *_named(row, fields)


def _listed(row: Mapping[str, Any], fields: NamingFields) -> Iterator[tuple[str, str | None, str]]:
    """Names in a list of each of the parts of the stack."""
    for part in row["list"]:
        path = f"{part}.{row['path']}" if part else row["path"]
        held = fields.value(path) if fields.is_set(path) else None
        for index, name in enumerate(held if isinstance(held, list) else ()):
            yield f"{path}.{index}", fields.namespace, name if isinstance(name, str) else ""


def _named(row: Mapping[str, Any], fields: NamingFields) -> tuple[str | None, str]:
    """The namespace and the name; an empty name where there is none."""
    value = fields.value(row["path"])
    if "after" not in row:
        return fields.namespace, value if isinstance(value, str) else ""
    words = value if isinstance(value, list) else []
    found = next((after for before, after in pairwise(words) if before == row["after"]), "")
    namespace, _, name = found.partition(":") if isinstance(found, str) else ("", "", "")
    return namespace, name


def _keys(row: Mapping[str, Any], fields: NamingFields) -> tuple[str, ...]:
    has_token = "withToken" in row and fields.value(row["withToken"]) is True
    return (*row["keys"], *((store.table("named_objects.yaml")["token"],) if has_token else ()))
