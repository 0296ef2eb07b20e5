"""Checks of single values: strings, numbers, booleans, and what may be either."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import did_you_mean, listed
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.kubernetes.schema.violation import Found, Violation, What, described, shown, wrong_type

if TYPE_CHECKING:
    from collections.abc import Callable


Schema = dict[str, Any]

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
INTEGER_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
_EXACT_FRACTION = 2**53 - 1
"""The greatest whole number that a custom resource may write with a fraction or an exponent (go-openapi/swag,
IsFloat64AJSONInteger); a greater integer than int64 becomes such a number when it is read."""
DATE_TIME = compiled_later(
    r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?"
    r"(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)\Z"
)


def go_pattern(pattern: str) -> re.Pattern[str]:
    """A pattern as Go reads it: `$` is the end of the text, and nothing before a last line end."""
    result = []
    index, in_class = 0, False
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            escaped = pattern[index : index + 2]
            result.append(r"\Z" if escaped == r"\z" else escaped)
            index += 2
            continue
        if char == "[":
            in_class = True
        elif char == "]":
            in_class = False
        result.append(r"\Z" if char == "$" and not in_class else char)
        index += 1
    return compiled_later("".join(result), re.ASCII)


_QUANTITY = go_pattern(QUANTITY)


def value_check(schema: Schema) -> Callable[[Any], Violation | None] | None:
    """Enum, pattern, lengths, bounds and formats, on a value of the right type; None when there is nothing to check."""
    checks: list[Callable[[Any], Violation | None]] = []
    if "enum" in schema:
        checks.append(_enum(tuple(schema["enum"])))
    if "pattern" in schema:
        checks.append(_pattern(schema["pattern"]))
    if "minLength" in schema or "maxLength" in schema:
        checks.append(_length(schema.get("minLength", 0), schema.get("maxLength")))
    if (form := schema.get("format")) in _FORMATS:
        checks.append(_FORMATS[form])
    bounds = INTEGER_BOUNDS.get(schema.get("format", "")) if schema.get("type") == "integer" else None
    if bounds is not None or any(key in schema for key in _BOUNDS):
        checks.append(_bounds(schema, bounds))
    if not checks:
        return None
    if len(checks) == 1:
        return checks[0]

    def check(value: Any) -> Violation | None:
        for item in checks:
            if (found := item(value)) is not None:
                return found
        return None

    return check


def _enum(allowed: tuple[Any, ...]) -> Callable[[Any], Violation | None]:
    known = [str(item) for item in allowed]

    def check(value: Any) -> Violation | None:
        if any(item == value and isinstance(item, bool) == isinstance(value, bool) for item in allowed):
            return None
        return Violation(
            What.VALUE,
            f"is `{shown(value)}`, which is not one of {listed(known)}",
            help=did_you_mean(str(value), known),
        )

    return check


def _pattern(pattern: str) -> Callable[[Any], Violation | None]:
    expression = go_pattern(pattern)

    def check(value: Any) -> Violation | None:
        if not isinstance(value, str) or expression.search(value) is not None:
            return None
        return Violation(What.VALUE, f"is `{shown(value)}`, which does not match `{shown(pattern, 120)}`")

    return check


def _length(least: int, most: int | None) -> Callable[[Any], Violation | None]:
    def check(value: Any) -> Violation | None:
        if not isinstance(value, str):
            return None
        if len(value) < least:
            return Violation(What.VALUE, "is empty" if not value else f"is shorter than {least} characters")
        if most is not None and len(value) > most:
            return Violation(What.VALUE, f"has {len(value)} characters; at most {most} are allowed")
        return None

    return check


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def _bounds(schema: Schema, natural: tuple[int, int] | None) -> Callable[[Any], Violation | None]:
    least = max(schema.get("minimum", natural[0]), natural[0]) if natural else schema.get("minimum")
    most = min(schema.get("maximum", natural[1]), natural[1]) if natural else schema.get("maximum")
    above, below = schema.get("exclusiveMinimum") is True, schema.get("exclusiveMaximum") is True
    multiple = schema.get("multipleOf")

    def check(value: Any) -> Violation | None:
        if isinstance(value, str):
            return None
        if least is not None and (value < least or (above and value == least)):
            return Violation(What.VALUE, f"is {shown(value)}; at least {'more than ' * above}{least} is allowed")
        if most is not None and (value > most or (below and value == most)):
            return Violation(What.VALUE, f"is {shown(value)}; at most {'less than ' * below}{most} is allowed")
        if multiple is not None and value % multiple:
            return Violation(What.VALUE, f"is {shown(value)}, which is no multiple of {multiple}")
        return None

    return check


def _date_time(value: Any) -> Violation | None:
    if not isinstance(value, str) or DATE_TIME.match(value) is not None:
        return None
    return Violation(What.VALUE, f"is `{shown(value)}`, which is no time like 2026-11-20T10:00:00Z")


def is_base64(value: str) -> bool:
    try:
        base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except ValueError:
        return False
    return True


def _byte(value: Any) -> Violation | None:
    if not isinstance(value, str) or is_base64(value):
        return None
    return Violation(What.VALUE, "is not base64", help="encode it, or use `stringData` in a Secret")


_FORMATS: dict[str, Callable[[Any], Violation | None]] = {"date-time": _date_time, "byte": _byte}


def scalar_check(schema: Schema, on_null: Callable[[], Found], *, custom: bool = False) -> Callable[[Any], Found]:
    """The check of a schema of type string, integer, number or boolean."""
    wanted: str = schema["type"]
    if custom and wanted == "integer":
        return _custom_integer(schema, on_null)
    more = value_check(schema)
    accepts = _ACCEPTS[wanted]
    exact: type = {"string": str, "boolean": bool, "integer": int, "number": float}[wanted]

    def check(value: Any) -> Found:
        if value.__class__ is exact or accepts(value):
            if more is not None and (found := more(value)) is not None:
                return [found]
            return None
        return on_null() if value is None else [wrong_type(value, wanted)]

    return check


def _custom_integer(schema: Schema, on_null: Callable[[], Found]) -> Callable[[Any], Found]:
    """An integer of a custom resource: the API server takes any int64, and leaves int32 to who reads it."""
    more = value_check({key: value for key, value in schema.items() if key != "format"})
    narrow = _bounds({}, INTEGER_BOUNDS["int32"]) if schema.get("format") == "int32" else None

    def check(value: Any) -> Found:
        if value is None:
            return on_null()
        if not _is_integer(value):
            return [wrong_type(value, "integer")]
        if (large := _too_large(value)) is not None:
            return [large]
        if more is not None and (found := more(value)) is not None:
            return [found]
        if narrow is not None and narrow(value) is not None:
            message = f"is {shown(value)}, which the API server takes and a controller can't read: it is no int32"
            return [Violation(What.VALUE, message, grave=False)]
        return None

    return check


def _too_large(value: Any) -> Violation | None:
    least, most = (-_EXACT_FRACTION, _EXACT_FRACTION) if isinstance(value, float) else INTEGER_BOUNDS["int64"]
    if least <= value <= most:
        return None
    return Violation(What.VALUE, f"is {shown(value)}, which is too large for an integer")


def _is_integer(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_ACCEPTS: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": _is_integer,
    "number": _is_number,
}


def int_or_string_check(
    schema: Schema, on_null: Callable[[], Found], *, custom: bool = False
) -> Callable[[Any], Found]:
    """Of a built-in kind, an integer is an int32 (util/intstr)."""
    more = value_check(schema)
    narrow = _bounds({}, INTEGER_BOUNDS["int32"])

    def check(value: Any) -> Found:
        if isinstance(value, str) or _is_integer(value):
            if not isinstance(value, str) and (large := (_too_large if custom else narrow)(value)) is not None:
                return [large]
            if more is not None and (found := more(value)) is not None:
                return [found]
            return None
        if value is None:
            return on_null()
        return [Violation(What.TYPE, f"is {described(value)}; it has to be an integer or a string")]

    return check


def quantity_check(on_null: Callable[[], Found]) -> Callable[[Any], Found]:
    """A quantity of a built-in kind: a number, or a string like 500m or 16Gi."""

    def check(value: Any) -> Found:
        if isinstance(value, str):
            if _QUANTITY.search(value) is not None:
                return None
            return [Violation(What.VALUE, f"is `{shown(value)}`, which is no quantity like 2, 500m or 16Gi")]
        if _is_number(value):
            return None
        if value is None:
            return on_null()
        return [Violation(What.TYPE, f"is {described(value)}; it has to be a quantity")]

    return check
