"""When a part of a chart's entry applies.

A condition is a list of terms that must all hold. A term is a path of values or a `@name` that is true as templates
see it, `!` before it for the opposite, `a|b` for either of them; or one path and a test: `a = text`, `a != text`,
`a contains text`, `a is string`, `a is bool`, `a is set`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.operands.chart.go_template import is_true, printed

if TYPE_CHECKING:
    from collections.abc import Callable

_TESTS: dict[str, Callable[[Any, str], bool]] = {
    "=": lambda value, text: printed(value) == text,
    "!=": lambda value, text: printed(value) != text,
    "contains": lambda value, text: text in value if isinstance(value, str | list) else False,
    "is": lambda value, kind: _KINDS[kind](value),
}
_KINDS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "set": lambda value: value is not None,
}


def holds(terms: list[str], value_of: Callable[[str], Any]) -> bool:
    """Whether all terms hold; `value_of` answers for a path or an `@name`. Raises what it raises."""
    return all(_holds(term, value_of) for term in terms)


def _holds(term: str, value_of: Callable[[str], Any]) -> bool:
    words = term.split(" ", 2)
    if len(words) > 1:
        path, test, text = words
        return _TESTS[test](value_of(path), text)
    if term.startswith("!"):
        return not _holds(term[1:], value_of)
    return any(is_true(value_of(path)) for path in term.split("|"))
