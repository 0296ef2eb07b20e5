"""What plain values are to CEL (type, equality, order), and conversions between them as Go writes and reads them.

Opaque values are maps with a mark: a key that is a whole number, as no JSON object has, so that none passes for one.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.go_text import duration_nanoseconds, is_whole_timestamp

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


_INTEGER = pattern(r"[+-]?[0-9]+", re.ASCII)
_UNSIGNED = pattern(r"[0-9]+", re.ASCII)
_DOUBLE = pattern(
    r"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?|[+-]?(?:inf|infinity)|nan", re.IGNORECASE | re.ASCII
)
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_SECOND = 1_000_000
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def double_text(value: float) -> str:
    """The shortest text, as Go's %g: an exponent below -4 and from 6 on is written."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    sign, digits, power = decimal.Decimal(repr(float(value))).normalize().as_tuple()
    assert isinstance(power, int)
    shown = "".join(map(str, digits))
    exponent = len(shown) + power - 1
    minus = "-" if sign else ""
    if -4 <= exponent < 6:  # noqa: PLR2004
        return minus + f"{decimal.Decimal(repr(abs(float(value)))).normalize():f}"
    rest = f".{shown[1:]}" if shown[1:] else ""
    return f"{minus}{shown[0]}{rest}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def timestamp_text(_: dt.datetime) -> str:
    """The API server writes the time zone that was read, which is gone by now."""
    raise ImpreciseError("the time zone of a timestamp")


def duration_text(value: dt.timedelta) -> str:
    micros = round(value / dt.timedelta(microseconds=1))
    shown = f"{decimal.Decimal(micros) / _SECOND:f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown) + "s"


def string(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, bytes | bytearray):
        try:
            return bytes(value).decode()
        except UnicodeDecodeError:
            raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None
    if isinstance(value, dt.datetime):
        return timestamp_text(value)
    if isinstance(value, dt.timedelta):
        return duration_text(value)
    if isinstance(value, dict) and len(value) == 1 and (IP in value or CIDR in value):
        return str(next(iter(value.values())))
    raise no_overload()


def integer(value: Any) -> int:
    if isinstance(value, str):
        if _INTEGER.fullmatch(value) is None or len(value) > 40 or not -INT64 <= int(value) < INT64:  # noqa: PLR2004
            raise CelError("type conversion error from 'string' to 'int'")
        return int(value)
    if isinstance(value, bool) or value is None:
        raise no_overload()
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        if math.isnan(value) or not -INT64 < value < INT64:
            raise CelError("integer overflow")
        return int(value)
    if isinstance(value, dt.datetime):
        return (value - _EPOCH) // dt.timedelta(seconds=1)
    if isinstance(value, dt.timedelta):
        return round(value / dt.timedelta(microseconds=1)) * 1000
    raise no_overload()


def unsigned(value: Any) -> int:
    if isinstance(value, str):
        if _UNSIGNED.fullmatch(value) is None or len(value) > 40 or int(value) >= 2 * INT64:  # noqa: PLR2004
            raise CelError("type conversion error from 'string' to 'uint'")
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise no_overload()
    if (isinstance(value, float) and math.isnan(value)) or not 0 <= value < 2 * INT64:
        raise CelError("unsigned integer overflow")
    return int(value)


def double(value: Any) -> float:
    if isinstance(value, str):
        if _DOUBLE.fullmatch(value) is None:
            raise CelError("type conversion error from 'string' to 'double'")
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise no_overload()
    return float(value)


def boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if text(value) in _TRUE:
        return True
    if value in _FALSE:
        return False
    raise CelError("type conversion error from 'string' to 'bool'")


def duration(value: Any) -> dt.timedelta:
    if isinstance(value, dt.timedelta):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        raise CelError("type conversion error from 'int' to 'google.protobuf.Duration'")
    try:
        nanoseconds = duration_nanoseconds(text(value))
        if nanoseconds % 1000:
            raise ImpreciseError("a fraction of a microsecond")
        return dt.timedelta(microseconds=nanoseconds // 1000)
    except ValueError:
        raise CelError("type conversion error from 'string' to 'google.protobuf.Duration'") from None


def moment(value: Any) -> Any:
    """What timestamp() is given, if nothing of it gets lost."""
    if isinstance(value, str) and not is_whole_timestamp(value):
        raise ImpreciseError("a fraction of a microsecond")
    return value


def milliseconds(value: Any) -> int:
    """All of a duration."""
    return int(value / dt.timedelta(milliseconds=1))


def error(message: Any) -> Any:
    raise CelError(text(message))


def refused(name: Any, value: Any) -> Any:
    raise CelError(f"{NO_OVERLOAD}: {name}({type_name(value)})")
