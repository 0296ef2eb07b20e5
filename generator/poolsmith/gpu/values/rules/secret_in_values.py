"""Secrets that stand in values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.masking import is_placeholder, is_secret_name, shape_of
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM429")
_DEEPEST = 60


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), document.values)]
    while pending:
        path, node = pending.pop()
        if len(path) > _DEEPEST:
            continue
        if isinstance(node, dict):
            if path[:1] == ("extraObjects",) and node.get("kind") == "Secret":
                yield from _secret_object(path, node)
                continue
            if (named := _named(node)) is not None:
                yield _told((*path, "value"), named)
                continue
            pending.extend(((*path, str(key)), value) for key, value in reversed(node.items()))
        elif isinstance(node, list):
            pending.extend(((*path, index), value) for index, value in reversed(list(enumerate(node))))
        elif isinstance(node, str) and (what := _what(path, node)):
            yield _told(path, what)


def _secret_object(path: tuple[str | int, ...], node: dict[str, Any]) -> Iterator[Finding[ValuePlace]]:
    for field in ("data", "stringData"):
        entries = node.get(field)
        if isinstance(entries, dict) and any(
            isinstance(text, str) and not is_placeholder(text) for text in entries.values()
        ):
            yield _told((*path, field), "a Secret with its content")


def _named(node: dict[str, Any]) -> str | None:
    """A variable whose name says that its value is a secret."""
    name, value = node.get("name"), node.get("value")
    if not isinstance(name, str) or not isinstance(value, str):
        return None
    what = shape_of(value) or ("a value for a variable of that name" if is_secret_name(name) else None)
    return None if what is None or is_placeholder(value) else what


def _what(path: tuple[str | int, ...], text: str) -> str:
    key = path[-1] if path else ""
    what = shape_of(text)
    if not what and isinstance(key, str) and is_secret_name(key):
        what = "a text under a key of that name"
    return "" if not what or is_placeholder(text) else what


def _told(path: tuple[str | int, ...], what: str) -> Finding[ValuePlace]:
    return Finding(
        place=path,
        message=f"`{dotted(path)}` holds what looks like {what}",
        help="name a Secret that is made elsewhere, and revoke this one",
    )
