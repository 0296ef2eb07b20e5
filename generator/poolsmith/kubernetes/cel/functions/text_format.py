"""string.format() as cel-go's strings library version 2 has it."""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any

from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.conversions import duration_text, string, timestamp_text
from poolsmith.kubernetes.cel.functions.values import TooLargeError, items, text, type_name
from poolsmith.kubernetes.cel.printed_text import quoted

_CLAUSE = re.compile(r"(?:\.(?P<precision>[0-9]*))?(?P<letter>.)?", re.DOTALL)
_DEFAULT = 6
_LONGEST = 1000
_RAISED = str.maketrans("0123456789-", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079\u207b")
_SPECIAL = frozenset({"NaN", "Infinity", "-Infinity"})


def formatted(pattern: Any, arguments: Any) -> str:
    given, source = items(arguments), text(pattern)
    out: list[str] = []
    at, count = 0, 0
    while (sign := source.find("%", at)) >= 0:
        out.append(source[at:sign])
        if source.startswith("%%", sign):
            out.append("%")
            at = sign + 2
            continue
        if count >= len(given):
            raise CelError(f"index {count} out of range")
        if sign + 1 >= len(source):
            raise CelError("unexpected end of string")
        shown, at = _clause(source, sign + 1, given[count])
        out.append(shown)
        count += 1
    out.append(source[at:])
    return "".join(out)


def _clause(source: str, at: int, value: Any) -> tuple[str, int]:
    found = _CLAUSE.match(source, at)
    assert found is not None
    precision, letter = found.group("precision", "letter")
    if letter is None or precision == "":
        raise CelError("could not parse formatting clause: error while parsing precision")
    places = _DEFAULT if precision is None else int(precision[:9])
    write = _WRITERS.get(letter)
    if write is None:
        raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
    if places > _LONGEST:
        raise TooLargeError(f"{places} places")
    return write(value, places), found.end()


def _refused(words: str, value: Any) -> CelError:
    return CelError(f"error during formatting: {words}, was given {type_name(value)}")


def _string(value: Any, _places: int = 0) -> str:
    if value is None:
        return "null"
    if isinstance(value, list):
        return "[" + ", ".join(map(_inside, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}:{held}" for key, held in sorted(map(_entry, value.items()))) + "}"
    return string(value)


def _entry(entry: tuple[Any, Any]) -> tuple[str, str]:
    key, held = entry
    if not isinstance(key, str | bool | int):
        raise CelError(f"error during formatting: no formatting function for map key of type {type_name(key)}")
    return _inside(key), _inside(held)


def _inside(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, float):
        if math.isnan(value) or math.isinf(value):
            return quoted(_fixed_text(value, _DEFAULT))
        return f"{value:.{_DEFAULT}f}"
    if isinstance(value, bytes | bytearray):
        return "b" + quoted(string(value))
    if isinstance(value, dt.datetime):
        return f"timestamp({quoted(timestamp_text(value))})"
    if isinstance(value, dt.timedelta):
        return f"duration({quoted(duration_text(value))})"
    return _string(value)


def _decimal(value: Any, _places: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _refused("decimal clause can only be used on integers", value)


def _double(value: Any, words: str) -> float:
    if isinstance(value, float):
        return value
    if isinstance(value, str) and value in _SPECIAL:
        return float(value)
    raise _refused(words, value)


def _fixed_text(value: float, places: int) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,.{places}f}"


def _fixed(value: Any, places: int) -> str:
    return _fixed_text(_double(value, "fixed-point clause can only be used on doubles"), places)


def _scientific(value: Any, places: int) -> str:
    held = _double(value, "scientific clause can only be used on doubles")
    if math.isnan(held) or math.isinf(held):
        return _fixed_text(held, places)
    mantissa, _, exponent = f"{held:.{_DEFAULT}e}".partition("e")
    power = int(exponent)
    raised = f"{'-' if power < 0 else ''}{abs(power):02d}".translate(_RAISED)
    return f"{mantissa}\u00d710{raised}".rjust(places)


def _binary(value: Any, _places: int) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return f"{value:b}"
    raise _refused("only integers and bools can be formatted as binary", value)


def _hex(value: Any, _places: int) -> str:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").hex()
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:x}"
    raise _refused("only integers, byte buffers, and strings can be formatted as hex", value)


def _octal(value: Any, _places: int) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:o}"
    raise _refused("octal clause can only be used on integers", value)


_WRITERS = {
    "s": _string,
    "d": _decimal,
    "f": _fixed,
    "e": _scientific,
    "b": _binary,
    "x": _hex,
    "X": lambda value, places: _hex(value, places).upper(),
    "o": _octal,
}
