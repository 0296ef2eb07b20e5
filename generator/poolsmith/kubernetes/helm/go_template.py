"""What a Go template makes of a value, and what Kubernetes reads back.

A chart writes text, and the text is read again as YAML. A value written without quotes is therefore typed anew:
the string `yes` comes back as true, `570.10` as a number. A quoted one comes back as the string that Go printed.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.helm import read_back

if TYPE_CHECKING:
    from collections.abc import Sequence

_EXPONENT_FROM, _EXPONENT_BELOW = 6, -4


class SetInteger(int):
    """An integer of `--set`. Those of values files are floats to Helm, and print as such: 1000000 as 1e+06."""


class TemplateError(Exception):
    """Helm stops here, or would render something else than the template means. `path` is the value's, with dots."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


def look_up(values: Any, path: Sequence[str], above: str = "") -> Any:
    """`.Values.a.b.c`: a missing last key is null; below null or a scalar there is nothing to ask for.

    `values` stand at `above`. Raises TemplateError.
    """
    node: Any = values
    start = [above] if above else []
    for depth, key in enumerate(path):
        if node is None:
            shown = ".".join((*start, *path))
            raise TemplateError(f"at <.Values.{shown}>: nil pointer evaluating interface {{}}.{key}", shown)
        if not isinstance(node, dict):
            shown, place = ".".join((*start, *path)), ".".join((*start, *path[:depth]))
            raise TemplateError(f"at <.Values.{shown}>: can't evaluate field {key}: `{place}` is not a map", shown)
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

    Raises TemplateError when that is not one scalar.
    """
    text = printed(value)
    try:
        return read_back.flow(text) if isinstance(value, list) else read_back.bare(text)
    except read_back.LeavesPlace as error:
        raise left_place(error, shown) from None


def as_data(value: Any, shown: str) -> Any:
    """What Kubernetes reads where the chart wrote `{{ toYaml value }}`, fresh. Raises TemplateError."""
    try:
        read_back.data(value)
    except read_back.LeavesPlace as error:
        raise left_place(error, shown) from None
    return _read_back(value)


def _read_back(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _read_back(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_read_back(item) for item in value]
    return int(value) if isinstance(value, SetInteger) else value


def left_place(error: read_back.LeavesPlace, shown: str) -> TemplateError:
    """Of a value that would not stay where the chart writes it."""
    return TemplateError(f"at <.Values.{shown}>: the chart writes the value into YAML as it is: {error}", shown)


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
