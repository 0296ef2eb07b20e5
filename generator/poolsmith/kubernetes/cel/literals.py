"""What the API server checks in literals, and conversions of constants, which cel-go computes while it plans.

Checked are times, numbers, regular expressions, format strings, and lists of one type. An expression with a conversion
that fails is refused.

Source: cel-go, interpreter/decorators.go, decOptimize.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.record import record
from poolsmith.kubernetes.cel.cel_types import Type, unwrapped
from poolsmith.kubernetes.cel.checker import shown_type
from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions import values as conversions
from poolsmith.kubernetes.cel.functions.values import NO_OVERLOAD, no_overload, type_name
from poolsmith.kubernetes.cel.go_text import is_duration, is_timestamp, regex_problem
from poolsmith.kubernetes.cel.syntax import Call, ListOf, Literal, MapOf, Node, children, issue_at, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.kubernetes.cel.checker import Checked
    from poolsmith.kubernetes.cel.syntax import CompileIssue


@record(kw_only=False)
class Moment:
    """A time that was read; kind: Duration, Timestamp."""

    kind: str


class Unfolded(Exception):  # noqa: N818
    """What is computed when the expression is evaluated, or is no plain value."""


def folded(node: Node) -> Any:
    """The value of a constant; raises CelError where its computation fails, Unfolded for anything else."""
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, ListOf) and not node.optional:
        return [folded(one) for one in node.elements]
    if isinstance(node, MapOf) and not any(optional for _, _, optional in node.entries):
        for key, value, _ in node.entries:
            folded(key)
            folded(value)
        return {}
    if isinstance(node, Call) and node.function in _CONVERTED and node.target is None and len(node.args) == 1:
        return converted(node.function, folded(node.args[0]))
    raise Unfolded


def converted(function: str, value: Any) -> Any:
    """Raises CelError, or Unfolded for a value that is not plain."""
    if isinstance(value, Moment):
        if function in ("dyn", value.kind.lower()):
            return value
        if function in ("int", "string"):
            raise Unfolded
        raise CelError(f"{NO_OVERLOAD}: {function}(google.protobuf.{value.kind})")
    try:
        return _CONVERTED[function](value)
    except CelError as error:
        if str(error) == NO_OVERLOAD:
            raise CelError(f"{error}: {function}({type_name(value)})") from None
        raise


def _same(value: Any) -> Any:
    return value


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise no_overload()


def _moment(reads: Callable[[str], bool], kind: str) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if isinstance(value, str) and not reads(value):
            raise CelError(f"type conversion error from 'string' to 'google.protobuf.{kind}'")
        if type(value) is int and kind == "Duration":
            raise CelError("type conversion error from 'int' to 'google.protobuf.Duration'")
        if isinstance(value, str) or type(value) is int:
            return Moment(kind)
        raise no_overload()

    return read


_CONVERTED: dict[str, Callable[[Any], Any]] = {
    "bool": conversions.boolean,
    "bytes": _bytes,
    "double": conversions.double,
    "duration": _moment(is_duration, "Duration"),
    "dyn": _same,
    "int": conversions.integer,
    "string": conversions.string,
    "timestamp": _moment(is_timestamp, "Timestamp"),
    "uint": conversions.unsigned,
}
CONVERSIONS = frozenset(_CONVERTED) - {"dyn"}


_NUMBERS = frozenset({"int", "uint"})
_DOUBLES = frozenset({"double", "string"})
_CLAUSES: dict[str, tuple[frozenset[str], str]] = {
    "d": (_NUMBERS, "decimal clause can only be used on integers, was given {}"),
    "f": (_DOUBLES, "fixed-point clause can only be used on doubles, was given {}"),
    "e": (_DOUBLES, "scientific clause can only be used on doubles, was given {}"),
    "b": (_NUMBERS | {"bool"}, "only integers and bools can be formatted as binary, was given {}"),
    "x": (
        _NUMBERS | {"string", "bytes"},
        "only integers, byte buffers, and strings can be formatted as hex, was given {}",
    ),
    "o": (_NUMBERS, "octal clause can only be used on integers, was given {}"),
}
_STRINGS = frozenset(
    {"list", "map", "int", "uint", "double", "bool", "string", "bytes", "type", "null_type"}
    | {"google.protobuf.Timestamp", "google.protobuf.Duration"}
)
_STRING_CLAUSE = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
    "timestamps, was given {}"
)
_CLAUSE = compiled_later(r"(?:\.(?P<precision>[0-9]*))?(?P<letter>.)?", re.DOTALL)


def literal_issues(source: str, node: Node, checked: Checked) -> Iterator[CompileIssue]:
    """All that is wrong with the literals of an expression that is otherwise well typed."""
    for one in walk(node):
        if isinstance(one, Call):
            yield from _call_issues(source, one, checked)
    for offset, message in _mixed(node, checked, exempt=False):
        yield issue_at(source, offset, message)


def _call_issues(source: str, node: Call, checked: Checked) -> Iterator[CompileIssue]:
    if node.function in ("_[_]", "_[?_]"):
        wrong = _no_qualifier(node.args[1])
        if wrong is not None:
            said = f"program instantiation failed: invalid qualifier type: {wrong}"
            yield issue_at(source, node.args[1].offset, said)
    check = _CHECKS.get(node.function)
    if check is not None and node.args and isinstance(node.args[0], Literal):
        value = node.args[0].value
        refused = (value is None and check is not _is_regex) or (isinstance(value, int) and _refused(node, value))
        if refused or (isinstance(value, str) and not check(value)):
            yield issue_at(source, node.args[0].offset, f"invalid {node.function} argument")
    message = _conversion_problem(node)
    if message is not None:
        yield issue_at(source, node.args[0].offset, f"program instantiation failed: {message}")
    pattern = node.args[0] if node.function in ("find", "findAll") and node.target is not None and node.args else None
    if isinstance(pattern, Literal) and isinstance(pattern.value, str):
        problem = regex_problem(pattern.value)
        if problem is not None:
            yield issue_at(source, pattern.offset, f"program instantiation failed: {problem}")
    if node.function == "format" and isinstance(node.target, Literal) and isinstance(node.target.value, str):
        given = node.args[0] if len(node.args) == 1 else None
        if isinstance(given, ListOf):
            message = _format_problem(node.target.value, given.elements, checked)
            if message is not None:
                yield issue_at(source, node.offset, message)


def _conversion_problem(node: Node) -> str | None:
    """What a conversion of a constant meets; nothing where a part of the constant has met it."""
    if not isinstance(node, Call) or node.function not in CONVERSIONS or node.target is not None or len(node.args) != 1:
        return None
    if node.function in _CHECKS and isinstance(node.args[0], Literal):
        return None
    try:
        value = folded(node.args[0])
    except (CelError, Unfolded):
        return None
    try:
        converted(node.function, value)
    except CelError as error:
        return str(error)
    except Unfolded:
        pass
    return None


def _is_regex(text: str) -> bool:
    return regex_problem(text) is None


def _no_qualifier(index: Node) -> str | None:
    """The Go type of a constant that can't stand in brackets."""
    if isinstance(index, Literal):
        return {"null_type": "types.Null", "bytes": "types.Bytes"}.get(index.kind)
    if isinstance(index, ListOf | MapOf) and all(isinstance(one, Literal) for one in children(index)):
        return "*types.baseList" if isinstance(index, ListOf) else "*types.baseMap"
    return None


def _refused(node: Call, value: int) -> bool:
    """Whether a whole number is none that the function takes."""
    return node.function == "duration" or (node.function == "timestamp" and not _FIRST_SECOND <= value <= _LAST_SECOND)


_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_CHECKS: dict[str, Callable[[str], bool]] = {
    "duration": is_duration,
    "timestamp": is_timestamp,
    "matches": _is_regex,
}


def _format_problem(text: str, given: tuple[Node, ...], checked: Checked) -> str | None:
    count, at = 0, 0
    while (at := text.find("%", at)) >= 0:
        if text.startswith("%%", at):
            at += 2
            continue
        if at + 1 >= len(text):
            return "unexpected end of string"
        if count >= len(given):
            return f"index {count} out of range"
        found = _CLAUSE.match(text, at + 1)
        problem = _clause_problem(found, given[count], checked)
        if problem is not None:
            return problem
        at = found.end() if found is not None else at + 1
        count += 1
    if len(given) > count:
        return f"too many arguments supplied to string.format (expected {count}, got {len(given)})"
    return None


def _clause_problem(found: re.Match[str] | None, given: Node, checked: Checked) -> str | None:
    precision, letter = (None, None) if found is None else found.group("precision", "letter")
    start = "could not parse formatting clause: "
    if letter is None:
        return f"{start}error while parsing precision: could not find end of precision specifier"
    if precision == "":
        word = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
        return f"{start}error while parsing precision: {word}"
    if letter == "s":
        bad = _not_a_string(given, checked)
        return None if bad is None else "error during formatting: " + _STRING_CLAUSE.format(bad)
    allowed = _CLAUSES.get("x" if letter == "X" else letter)
    if allowed is None:
        return f'{start}unrecognized formatting clause "{letter}"'
    kind = checked.types[id(given)].name
    if kind == "dyn" or kind in allowed[0]:
        return None
    return "error during formatting: " + allowed[1].format(kind)


def _not_a_string(node: Node, checked: Checked) -> str | None:
    kind = checked.types[id(node)].name
    if kind != "dyn" and kind not in _STRINGS:
        return kind
    if isinstance(node, ListOf | MapOf):
        return next((bad for one in children(node) if (bad := _not_a_string(one, checked)) is not None), None)
    return None


def _mixed(node: Node, checked: Checked, *, exempt: bool) -> Iterator[tuple[int, str]]:
    waiting = [(node, exempt)]
    while waiting:
        one, free = waiting.pop()
        free = free or (isinstance(one, Call) and one.function == "format")
        waiting.extend((part, free) for part in children(one))
        if free:
            continue
        if isinstance(one, ListOf):
            parts = [(part, _held(checked, part, optional=at in one.optional)) for at, part in enumerate(one.elements)]
            yield from _differences(parts[:1], parts[1:], first_only=True)
        elif isinstance(one, MapOf):
            keys = [(key, _held(checked, key, optional=False)) for key, _, _ in one.entries]
            values = [(value, _held(checked, value, optional=optional)) for _, value, optional in one.entries]
            yield from _differences(keys[:1], keys[1:], first_only=False)
            yield from _differences(values[:1], values[1:], first_only=False)


def _held(checked: Checked, node: Node, *, optional: bool) -> Type:
    found = checked.types[id(node)]
    return unwrapped(found)[0] if optional else found


def _differences(
    first: list[tuple[Node, Type]], rest: list[tuple[Node, Type]], *, first_only: bool
) -> Iterator[tuple[int, str]]:
    for _, wanted in first:
        for node, given in rest:
            if given != wanted:
                yield node.offset, f"expected type '{shown_type(wanted)}' but found '{shown_type(given)}'"
                if first_only:
                    return
