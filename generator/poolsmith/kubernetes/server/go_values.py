"""Single values as Go types of Kubernetes read and write them.

Each reader gives the value as it comes out again, for null the type's zero value, or raises NotThisType.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from poolsmith.core.diagnostics.message_text import kind_of
from poolsmith.core.pattern import pattern
from poolsmith.kubernetes.quantity import QuantityError, canonical_quantity

_RFC3339 = pattern(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)
_MICROSECONDS = 6
_INT32, _INT64 = 1 << 31, 1 << 63
_TEXT_OF_A_NUMBER_BELOW, _AND_FROM = 1e21, 1e-6


class NotThisType(Exception):  # noqa: N818 - what is wrong with an object, not a failure of ours
    """A value that the Go type can't hold. `steps` lead to it, last one first; `wanted` is what it has to be."""

    def __init__(self, wanted: str, value: Any) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.value = value
        self.steps: list[str | int] = []

    def __str__(self) -> str:
        path = ""
        for step in reversed(self.steps):
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else step
        return f"{path} is {kind_of(self.value)} and has to be {self.wanted}"


def text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    raise NotThisType("a string", value)


def boolean(value: Any) -> bool:
    if value is True or value is False:
        return value
    if value is None:
        return False
    raise NotThisType("a boolean", value)


def int32(value: Any) -> int:
    return _whole(value, _INT32, "a whole number of 32 bits")


def int64(value: Any) -> int:
    return _whole(value, _INT64, "a whole number of 64 bits")


def _whole(value: Any, limit: int, wanted: str) -> int:
    if value is None:
        return 0
    if isinstance(value, float) and value.is_integer() and abs(value) < _TEXT_OF_A_NUMBER_BELOW:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit:
        return value
    raise NotThisType(wanted, value)


def number(value: Any) -> float:
    if value is None:
        return 0.0
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise NotThisType("a number", value)


def int_or_string(value: Any) -> int | str:
    return value if isinstance(value, str) else _whole(value, _INT32, "a string or a whole number of 32 bits")


def quantity(value: Any) -> str:
    if value is None:
        return "0"
    try:
        if isinstance(value, str):
            return canonical_quantity(value.strip())
        if isinstance(value, int | float) and not isinstance(value, bool):
            return canonical_quantity(_written(value))
    except QuantityError:
        pass
    raise NotThisType("a quantity", value)


def _written(value: float) -> str:
    """A number as JSON of Go."""
    if isinstance(value, int) and abs(value) < _INT64 * 2:
        return str(value)
    value = float(value) if abs(value) < _TEXT_OF_A_NUMBER_BELOW**2 else float("inf")
    if value in (float("inf"), float("-inf")) or value != value:  # noqa: PLR0124 - not a number
        raise QuantityError
    if value and not _AND_FROM <= abs(value) < _TEXT_OF_A_NUMBER_BELOW:
        return re.sub(r"e([+-])0(\d)$", r"e\1\2", repr(value))
    return format(Decimal(repr(value)).normalize(), "f")


def time(value: Any) -> str | None:
    """Whole seconds in UTC; None for the zero time."""
    moment = _moment(value)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def micro_time(value: Any) -> str | None:
    """Microseconds in UTC, of which six digits have to be given."""
    moment = _moment(value, digits=_MICROSECONDS)
    return None if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


def _moment(value: Any, digits: int | None = None) -> datetime | None:
    if value is None:
        return None
    found = _RFC3339.fullmatch(value) if isinstance(value, str) else None
    if found is None or (digits is not None and len(found[2] or "") != digits):
        raise NotThisType("a time such as 2026-01-31T12:00:00Z", value)
    try:
        offset = "+00:00" if found[3] == "Z" else found[3]
        fraction = (found[2] or "")[:_MICROSECONDS].ljust(_MICROSECONDS, "0")
        moment = datetime.fromisoformat(f"{found[1]}.{fraction}{offset}").astimezone(UTC)
    except (ValueError, OverflowError):
        raise NotThisType("a time such as 2026-01-31T12:00:00Z", value) from None
    return None if moment == datetime.min.replace(tzinfo=UTC) and not (found[2] or "").strip("0") else moment


def data(value: Any) -> str | None:
    """Base64, without its line breaks."""
    if value is None:
        return None
    if isinstance(value, str):
        try:
            plain = base64.b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
            return base64.b64encode(plain).decode()
        except (ValueError, binascii.Error):
            pass
    raise NotThisType("data in base64", value)


def anything(value: Any) -> Any:
    return value


READERS = {
    "string": text,
    "bool": boolean,
    "int32": int32,
    "int64": int64,
    "int": int64,
    "float64": number,
    "intOrString": int_or_string,
    "quantity": quantity,
    "time": time,
    "microTime": micro_time,
    "bytes": data,
    "any": anything,
}
EMPTY_WHEN_ZERO = frozenset(("string", "bool", "int32", "int64", "int", "float64", "bytes"))
"""Types whose zero value counts as empty; of the others only pointers, lists and mappings do."""
