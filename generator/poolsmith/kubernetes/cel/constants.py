"""Conversions of constants, which cel-go computes when it plans an expression: one that fails is no expression at all.

Source: cel-go, interpreter/decorators.go, decOptimize.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions import conversions
from poolsmith.kubernetes.cel.functions.values import NO_OVERLOAD, no_overload, type_name
from poolsmith.kubernetes.cel.syntax import Call, ListOf, Literal, MapOf, Node
from poolsmith.kubernetes.cel.times import is_duration, is_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable


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
