"""Values over defaults, as Helm merges them.

Maps merge deep, everything else replaces; a null takes a default of the chart away. Between values files a null
is a value like any other, and later files win.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import copied

if TYPE_CHECKING:
    from collections.abc import Iterable


def merge_files(files: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Several values files, the later one on top."""
    merged: dict[str, Any] = {}
    for values in files:
        merged = _over(merged, values)
    return merged


def merge_over_defaults(defaults: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """What templates see as `.Values`. Neither argument is changed, nor shared with the result."""
    result: dict[str, Any] = {}
    for key, default in defaults.items():
        if key not in values:
            result[key] = copied(default)
            continue
        value = values[key]
        if value is None:
            continue
        if isinstance(default, dict) and isinstance(value, dict):
            result[key] = merge_over_defaults(default, value)
        else:
            result[key] = copied(value)
    for key, value in values.items():
        if key not in defaults:
            result[key] = copied(value)
    return result


def _over(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    result = dict(below)
    for key, value in above.items():
        under = result.get(key)
        if isinstance(under, dict) and isinstance(value, dict):
            result[key] = _over(under, value)
        else:
            result[key] = copied(value)
    return result
