"""What a profile says, as a document: bases merged in, defaults filled in, names as in YAML."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from poolsmith.shape.field import camel_case


def spec_document(value: Any) -> Any:
    """Of the spec of a cluster or pool. `extends` is left out: its bases are merged in."""
    if is_dataclass(value) and not isinstance(value, type):
        return {
            item.metadata["shape"].name or camel_case(item.name): spec_document(getattr(value, item.name))
            for item in fields(value)
            if item.name != "extends"
        }
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return {str(key): spec_document(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [spec_document(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)
