"""Values that are filled in after the file is written: what they will be, nobody can tell from it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.schema.violation import What

if TYPE_CHECKING:
    from poolsmith.kubernetes.schema.violation import Violation

_OPEN = re.compile(r"\$\{[A-Za-z_][^{}]*(?:\{[^{}]*\}[^{}]*)?\}|\{\{.*\}\}|<%.*%>", re.DOTALL)
"""Flux and envsubst, Helm and Jinja, ERB; a default of a variable may be a variable."""
_OF_ONE_VALUE = frozenset((What.TYPE, What.VALUE, What.DUPLICATE))
_OF_ALL_BELOW = frozenset((What.RULE,))


def without_open_values(violations: tuple[Violation, ...], body: Any) -> tuple[Violation, ...]:
    """Those that hold whatever is filled in."""
    return tuple(item for item in violations if not _is_open(item, body))


def _is_open(violation: Violation, body: Any) -> bool:
    if violation.what in _OF_ONE_VALUE:
        value = _at(body, violation)
        return isinstance(value, str) and is_open(value)
    if violation.what in _OF_ALL_BELOW:
        return _has_open(_at(body, violation))
    return False


def _at(node: Any, violation: Violation) -> Any:
    for step in reversed(violation.steps):
        try:
            node = node[step]
        except (LookupError, TypeError):
            return None
    return node


def is_open(text: str) -> bool:
    """Whether a text has a place that something is put into."""
    return ("${" in text or "{{" in text or "<%" in text) and _OPEN.search(text) is not None


def _has_open(value: Any) -> bool:
    if isinstance(value, str):
        return is_open(value)
    if isinstance(value, dict):
        return any(_has_open(item) for item in value.values())
    return isinstance(value, list) and any(map(_has_open, value))
