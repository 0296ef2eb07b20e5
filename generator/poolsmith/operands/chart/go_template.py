"""What a Go template makes of a value, and what Kubernetes reads back.

A chart writes text, and the text is read again as YAML. A value written without quotes is therefore typed anew:
the string `yes` comes back as true, `570.10` as a number. A quoted one comes back as the string that Go printed.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from poolsmith.sources.scalars import NotJsonError, resolve_plain
from poolsmith.sources.yaml_reader import YamlProblem, read_documents

if TYPE_CHECKING:
    from collections.abc import Sequence

_SAFE = re.compile(r"[A-Za-z0-9_./+-][A-Za-z0-9_./+@-]*(?::[A-Za-z0-9_./+@-]+)*\Z")
_EXPONENT_FROM, _EXPONENT_BELOW = 6, -4
_KEY = "value"


class SetInteger(int):
    """An integer of `--set`. Those of values files are floats to Helm, and print as such: 1000000 as 1e+06."""


class TemplateError(Exception):
    """Helm stops here: a value is not what a template takes it for."""


def look_up(values: dict[str, Any], path: Sequence[str]) -> Any:
    """`.Values.a.b.c`: a missing last key is null; below null or a scalar there is nothing to ask for.

    Raises TemplateError.
    """
    node: Any = values
    for depth, key in enumerate(path):
        if node is None:
            raise TemplateError(f"at <.Values.{'.'.join(path)}>: nil pointer evaluating interface {{}}.{key}")
        if not isinstance(node, dict):
            above = ".".join(path[:depth])
            raise TemplateError(f"at <.Values.{'.'.join(path)}>: can't evaluate field {key}: `{above}` is not a map")
        node = node.get(key)
    return node


def is_true(value: Any) -> bool:
    """Whether `if` takes its branch: not for false, zero, null and what is empty."""
    return bool(value)


def printed(value: Any) -> str:
    """The text of `{{ value }}`. Helm turns null into nothing."""
    return "" if value is None else _go(value)


def plain(value: Any, shown: str) -> Any:
    """What Kubernetes reads where the chart wrote `key: {{ value }}`.

    Raises TemplateError when the text is no YAML, or more than one value.
    """
    text = printed(value)
    try:
        if not text or _SAFE.match(text):
            return resolve_plain(text)
        documents = read_documents(f"{_KEY}: {text}\n")
    except (NotJsonError, YamlProblem) as error:
        reason = error.message if isinstance(error, YamlProblem) else "the number has no JSON form"
        raise TemplateError(f"at <.Values.{shown}>: written without quotes, the value is no YAML: {reason}") from None
    if len(documents) != 1 or not isinstance(documents[0], dict) or set(documents[0]) != {_KEY}:
        raise TemplateError(f"at <.Values.{shown}>: written without quotes, the value breaks out of its line")
    return documents[0][_KEY]


def quoted(value: Any) -> str | None:
    """What Kubernetes reads where the chart wrote `key: {{ value | quote }}`: null is not quoted."""
    return None if value is None else _go(value)


def _go(value: Any) -> str:
    """Go's `%v`."""
    if isinstance(value, str):
        return value
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, SetInteger):
        return str(int(value))
    if isinstance(value, int | float):
        return _float(float(value))
    if isinstance(value, list):
        return "[" + " ".join(_go(item) for item in value) + "]"
    return "map[" + " ".join(f"{key}:{_go(value[key])}" for key in sorted(value)) + "]"


def _float(value: float) -> str:
    """The shortest digits; with an exponent from a million on, and below 0.0001."""
    digits = Decimal(repr(value)).normalize()
    exponent = digits.adjusted()
    if _EXPONENT_BELOW <= exponent < _EXPONENT_FROM:
        return format(digits, "f")
    sign, numbers, _ = digits.as_tuple()
    text = "".join(map(str, numbers))
    mantissa = f"{text[0]}.{text[1:]}" if len(text) > 1 else text
    return f"{'-' if sign else ''}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
