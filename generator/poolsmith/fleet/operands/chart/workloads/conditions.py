"""The conditions in a chart's entry: lists of terms that must all hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.helm.go_template import is_true, printed

if TYPE_CHECKING:
    from collections.abc import Callable

_TESTS: dict[str, Callable[[Any, str], bool]] = {
    "=": lambda value, text: printed(value) == text,
    "!=": lambda value, text: printed(value) != text,
    "in": lambda value, words: printed(value) in words.split("|"),
    "contains": lambda value, text: text in value if isinstance(value, str | list) else False,
    "is": lambda value, kind: _KINDS[kind](value),
    ">": lambda value, number: _whole_number(value) > int(number),
}
_KINDS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "set": lambda value: value is not None,
    "other": lambda value: value is not None and not isinstance(value, bool),
    "untext": lambda value: value is not None and not isinstance(value, str),
    "unlisted": lambda value: value is not None and not isinstance(value, list),
    "worded": lambda value: isinstance(value, str) and bool(value.strip()),
    "single": lambda value: isinstance(value, dict) and len(value) == 1,
}


def _whole_number(value: Any) -> int:
    """Sprig's `int`: zero for what is none."""
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        return 0


def holds(terms: list[str], value_of: Callable[[str], Any]) -> bool:
    """Whether all terms hold; `value_of` answers for a path or an `@name`. Raises what it raises."""
    return all(_holds(term, value_of) for term in terms)


def _holds(term: str, value_of: Callable[[str], Any]) -> bool:
    words = term.split(" ", 2)
    if len(words) > 1:
        path, test, text = words
        if test == "within":
            return value_of(path) in (value_of(text) or ())
        return _TESTS[test](value_of(path), text)
    if term.startswith("!"):
        return not _holds(term[1:], value_of)
    return any(is_true(value_of(path)) for path in term.split("|"))
