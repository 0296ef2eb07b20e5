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
        path = row["path"]
        if "list" in row:
            yield from _listed(row, fields)
            continue
        if not fields.is_set(path) or ("create" in row and fields.value(row["create"]) is True):
            continue
        if fields.value(f"{path.partition('.')[0]}.enabled") is False:
            continue
        namespace, name = _named(row, fields)
        if name in ("", row.get("own")) or FILLED_LATER.search(name):
            continue
        yield Need(
            kind=row["kind"],
            name=name,
            where=f"{fields.shown}{path}",
            who=fields.who,
            locate=fields.place,
            pointer=path,
            namespace=None if row["kind"] in ("PriorityClass", "RuntimeClass") else namespace,
            keys=dict.fromkeys(_keys(row, fields), path),
            follows=fields.follows if "mounted" in row else None,
        )


def _listed(row: Mapping[str, Any], fields: NamingFields) -> Iterator[Need]:
    """Names in a list of each of the parts of the stack."""
    for part in row["list"]:
        path = f"{part}.{row['path']}" if part else row["path"]
        held = fields.value(path) if fields.is_set(path) else None
        for index, name in enumerate(held if isinstance(held, list) else ()):
            if isinstance(name, str) and name and not FILLED_LATER.search(name):
                yield Need(
                    kind=row["kind"],
                    name=name,
                    where=f"{fields.shown}{path}[{index}]",
                    who=fields.who,
                    locate=fields.place,
                    pointer=f"{path}.{index}",
                    namespace=fields.namespace,
                )


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
