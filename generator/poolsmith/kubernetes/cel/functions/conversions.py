"""Conversions between plain types as Go writes and reads them."""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from typing import Any

from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.values import (
    CIDR,
    INT64,
    IP,
    NO_OVERLOAD,
    ImpreciseError,
    no_overload,
    text,
    type_name,
)
from poolsmith.kubernetes.cel.times import duration_nanoseconds, is_whole_timestamp

_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_UNSIGNED = re.compile(r"[0-9]+", re.ASCII)
_DOUBLE = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)|nan", re.IGNORECASE | re.ASCII
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
