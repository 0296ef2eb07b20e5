"""The field tables of docs/profiles.md, from the declarations that loading uses."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import TYPE_CHECKING, Any, get_args, get_origin

from poolsmith.core.shape.reader import FieldReader, fields_of
from poolsmith.fleet.profiles.cluster import ClusterSpec
from poolsmith.fleet.profiles.node_pool import PoolSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

BEGIN = "<!-- fields:begin -->"
END = "<!-- fields:end -->"
_KINDS = (("Kind `Cluster`", ClusterSpec), ("Kinds `NodePool` and `NodePoolBase`", PoolSpec))


def field_reference() -> str:
    """One table per spec, between the markers; ends in a newline."""
    parts = [BEGIN]
    for title, cls in _KINDS:
        rows = [
            "| field below `spec` | takes | default | meaning |",
            "| --- | --- | --- | --- |",
            *_rows(cls, ""),
        ]
        parts += ["", f"### {title}", "", *rows]
    return "\n".join((*parts, "", END, ""))


def replaced(page: str, section: str) -> str:
    """The page with the text between the markers replaced. Raises ValueError without the markers."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END + "\n")
    if not end:
        raise ValueError(f"the page has no {BEGIN} ... {END}")
    return before + section + after


def _rows(cls: type, prefix: str) -> Iterator[str]:
    for name, field in fields_of(cls).items():
        path = f"{prefix}{name}"
        cells = (f"`{path}`", _takes(field), _default(cls, field), field.shape.doc)
        yield "| " + " | ".join(map(_cell, cells)) + " |"
        inner, suffix = _element(field.hint)
        if dataclasses.is_dataclass(inner) and isinstance(inner, type):
            yield from _rows(inner, f"{path}{suffix}.")


def _cell(text: str) -> str:
    """Markdown: no cell border inside, and no HTML outside of code spans."""
    parts = text.replace("|", "\\|").split("`")
    return "`".join(part if index % 2 else part.replace("<", "\\<") for index, part in enumerate(parts))


def _element(hint: Any) -> tuple[Any, str]:
    return (get_args(hint)[0], "[]") if get_origin(hint) is tuple else (hint, "")


def _takes(field: FieldReader) -> str:
    hint, shape = field.hint, field.shape
    origin = get_origin(hint)
    if origin is tuple:
        (inner, *_) = get_args(hint)
        return "list of mappings" if dataclasses.is_dataclass(inner) else f"list: {shape.form or 'strings'}"
    if origin is dict:
        value = get_args(hint)[1]
        return (
            f"mapping: {shape.form or _bounds(shape.minimum, shape.maximum) or 'strings'}"
            if value is not Any
            else "mapping"
        )
    if hint is bool:
        return "`true` or `false`"
    if hint is int:
        return _bounds(shape.minimum, shape.maximum) or "a number"
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return ", ".join(f"`{member.value}`" for member in hint)
    if dataclasses.is_dataclass(hint):
        return "mapping"
    return shape.form or "see meaning"


def _bounds(low: int | None, high: int | None) -> str:
    return "" if low is None else f"{low:,} to {high:,}"


def _default(cls: type, field: FieldReader) -> str:
    if field.required:
        return "**required**"
    declared = next(item for item in dataclasses.fields(cls) if item.name == field.attribute)
    value = {} if declared.default is dataclasses.MISSING else declared.default
    if value is None or value in ((), {}, "") or dataclasses.is_dataclass(value):
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return f"`{value}`"
