"""What a profile says, as a document: bases merged in, defaults filled in, names as in YAML."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any

from poolsmith.core.shape.field import camel_case


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
