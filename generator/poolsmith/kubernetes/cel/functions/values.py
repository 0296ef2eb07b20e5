"""What plain values are to CEL: their type, equality and order.

Opaque values are maps with a mark: a key that is a whole number, as no JSON object has, so that none passes for one.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.cel.errors import CelError

if TYPE_CHECKING:
    from collections.abc import Callable

INT64 = 2**63
MOST_ITEMS, LONGEST_TEXT = 10_000, 1 << 22
QUANTITY, SEMVER, IP, CIDR, URL, FORMAT = range(-6, 0)
_NAMES = (
    (bool, "bool"),
    (int, "int"),
    (float, "double"),
    (str, "string"),
    (bytes | bytearray, "bytes"),
    (list, "list"),
    (dict, "map"),
    (dt.datetime, "google.protobuf.Timestamp"),
    (dt.timedelta, "google.protobuf.Duration"),
)
NO_OVERLOAD = "no such overload"


def type_name(value: Any) -> str:
    """As messages spell the type of a value."""
    return "null_type" if value is None else next((name for one, name in _NAMES if isinstance(value, one)), "type")


class TooLargeError(Exception):
    """A result beyond what is computed here; the API server's limit is a cost that is not computed."""


class ImpreciseError(Exception):
    """What our plain values cannot hold: fractions of a microsecond, time zones."""


def no_overload() -> CelError:
    return CelError(NO_OVERLOAD)


def parses(read: Callable[[str], Any], value: str) -> bool:
    """Whether a reader takes a text."""
    try:
        read(value)
    except ValueError:
        return False
    return True


def marked(value: Any, mark: int) -> dict[Any, Any]:
    """An opaque value of this kind; raises CelError for anything else."""
    if isinstance(value, dict) and mark in value:
        return value
    raise no_overload()


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise no_overload()


def whole(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise no_overload()


def truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise no_overload()


def items(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    raise no_overload()


def kind(value: Any) -> str:
    """The group within which values compare."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, bytes | bytearray):
        return "bytes"
    if isinstance(value, dt.datetime):
        return "timestamp"
    if isinstance(value, dt.timedelta):
        return "duration"
    return type(value).__name__


def equal(one: Any, other: Any) -> bool:
    """CEL's equality: numbers by value, false between kinds."""
    if kind(one) != kind(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return len(one) == len(other) and all(key in other and equal(value, other[key]) for key, value in one.items())
    return bool(one == other)


def compare(one: Any, other: Any) -> int:
    """-1, 0 or 1; raises CelError for kinds without an order."""
    if kind(one) != kind(other) or kind(one) in ("list", "dict", "NoneType", "Type"):
        raise no_overload()
    if isinstance(one, bytearray | bytes):
        one, other = bytes(one), bytes(other)
    return int(one > other) - int(one < other)
