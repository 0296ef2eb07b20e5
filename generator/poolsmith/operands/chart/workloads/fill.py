"""A chart's entry filled in from values.

In a text, `${path}` is a value and `${@name}` a variable or definition; of `${a|@b|'text'}` the first that is true
counts. A text that is nothing but that becomes the value itself and is left out when it is false or empty, unless
it ends in `!` and is not null. A mapping may be one of:
`{$when, $then, $else}`  one of two, or nothing;
`{$when, $items}`        in a list: several items; the condition may be absent;
`{$each: path, $as}`     a list made of a list, whose items are `@item`;
`{$merge: [...]}`        mappings laid on each other;
`{$joined: path}`        a list as one text, with commas;
`{$text: path}`          the value as text: JSON, where the chart writes YAML.

A condition is a list of terms that must all hold. A term is a path of values or a `@name` that is true as templates
see it, `!` before it for the opposite, `a|b` for either of them; or one path and a test: `a = text`, `a != text`,
`a contains text`, `a is string`, `a is bool`, `a is set`.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.operands.chart.go_template import TemplateError, is_true, look_up, printed
from poolsmith.record import record

if TYPE_CHECKING:
    from collections.abc import Callable


@record
class ValueScope:
    """`values` as templates see them; `variables` are asked for as `@name`, before the entry's own definitions."""

    values: dict[str, Any]
    variables: dict[str, Any] = field(default_factory=dict)
    define: dict[str, Any] = field(default_factory=dict)

    def value(self, path: str) -> Any:
        """`.Values.<path>`, null where there is nothing. Raises TemplateError."""
        return look_up(self.values, path.split("."))

    def with_item(self, item: Any) -> ValueScope:
        """The scope inside a loop over a list: the item is `@item`."""
        return ValueScope(values=self.values, variables={**self.variables, "item": item}, define=self.define)


_REFERENCE = re.compile(r"\$\{([^}]*)\}")


class Nothing:
    """What a false condition or an empty value leaves."""


NOTHING = Nothing()


def fill(node: Any, scope: ValueScope) -> Any:
    """The node with its values, fresh; NOTHING where nothing is left of it. Raises TemplateError."""
    if isinstance(node, str):
        return _text(node, scope)
    if isinstance(node, list):
        return [kept for item in node for kept in _items(item, scope) if kept is not NOTHING]
    if not isinstance(node, dict):
        return node
    special = next((word for word in _SPECIAL if word in node), None)
    if special is not None:
        return _SPECIAL[special](node, scope)
    filled = {_key(key, scope): fill(value, scope) for key, value in node.items()}
    return {key: value for key, value in filled.items() if value is not NOTHING}


def value_of(path: str, scope: ValueScope) -> Any:
    """What a path of values, a `@name` or a quoted text stands for; null for nothing. Raises TemplateError."""
    if path.startswith("'"):
        return path[1:-1]
    if not path.startswith("@"):
        return scope.value(path)
    name, _, inner = path[1:].partition(".")
    if name in scope.variables:
        value = scope.variables[name]
        return value.get(inner) if inner and isinstance(value, dict) else value
    value = fill(scope.define[name], scope)
    return None if value is NOTHING else value


def _key(key: str, scope: ValueScope) -> str:
    return printed(_text(key, scope)) if "${" in key else key


def _text(text: str, scope: ValueScope) -> Any:
    whole = _REFERENCE.fullmatch(text)
    if whole is None:
        return _REFERENCE.sub(lambda match: printed(_first(match[1].split("|"), scope)), text)
    words = whole[1]
    value = _first(words.removesuffix("!").split("|"), scope)
    kept = value is not None if words.endswith("!") else is_true(value)
    return copy.deepcopy(value) if kept else NOTHING


def _first(paths: list[str], scope: ValueScope) -> Any:
    """The first value that is true, or the last one."""
    value: Any = None
    for path in paths:
        value = value_of(path, scope)
        if is_true(value):
            break
    return value


def _items(node: Any, scope: ValueScope) -> list[Any]:
    if not isinstance(node, dict) or "$items" not in node:
        return [fill(node, scope)]
    if not _applies(node, scope):
        return []
    items = fill(node["$items"], scope)
    if items is NOTHING:
        return []
    if not isinstance(items, list):
        raise TemplateError(f"at <{node['$items']}>: range can't iterate over it")
    return items


def _applies(node: dict[str, Any], scope: ValueScope) -> bool:
    return holds(node.get("$when", []), lambda path: value_of(path, scope))


def _when(node: dict[str, Any], scope: ValueScope) -> Any:
    if _applies(node, scope):
        return fill(node["$then"], scope)
    return fill(node["$else"], scope) if "$else" in node else NOTHING


def _each(node: dict[str, Any], scope: ValueScope) -> Any:
    items = value_of(node["$each"], scope)
    if not is_true(items):
        return NOTHING
    if not isinstance(items, list):
        raise TemplateError(f"at <.Values.{node['$each']}>: range can't iterate over it")
    return [fill(node["$as"], scope.with_item(item)) for item in items]


def _merge(node: dict[str, Any], scope: ValueScope) -> Any:
    merged: dict[str, Any] = {}
    for part in node["$merge"]:
        filled = fill(part, scope)
        if isinstance(filled, dict):
            merged |= filled
        elif filled is not NOTHING:
            raise TemplateError("what is to be a map is none")
    return merged or NOTHING


def _joined(node: dict[str, Any], scope: ValueScope) -> str:
    items = value_of(node["$joined"], scope)
    if not isinstance(items, list):
        raise TemplateError(f"at <.Values.{node['$joined']}>: join takes a list")
    return ",".join(printed(item) for item in items)


def _json(node: dict[str, Any], scope: ValueScope) -> str:
    return json.dumps(value_of(node["$text"], scope), sort_keys=True)


_SPECIAL = {"$when": _when, "$each": _each, "$merge": _merge, "$joined": _joined, "$text": _json}


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
