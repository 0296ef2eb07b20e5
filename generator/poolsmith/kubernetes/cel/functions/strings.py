"""String and regular expression functions, and string.format(), by code points, as in cel-go's strings version 2."""

from __future__ import annotations

import datetime as dt
import math
import re
from typing import Any

from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.values import (
    LONGEST_TEXT,
    TooLargeError,
    duration_text,
    items,
    string,
    text,
    timestamp_text,
    type_name,
    whole,
)
from poolsmith.kubernetes.cel.go_text import ESCAPES, compiled, quoted

_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


def _range_error(index: int) -> CelError:
    return CelError(f"index out of range: {index}")


def char_at(value: Any, index: Any) -> str:
    one, at = text(value), whole(index)
    if not 0 <= at <= len(one):
        raise _range_error(at)
    return one[at : at + 1]


def index_of(value: str, wanted: Any, start: Any = 0) -> int:
    part, at = text(wanted), whole(start)
    if not part:
        return at
    if at < 0:
        raise _range_error(at)
    return value.find(part, at)


def last_index_of(value: str, wanted: Any, start: Any = None) -> int:
    part = text(wanted)
    if start is None:
        return value.rfind(part) if part else len(value)
    at = whole(start)
    if not part:
        return at
    if at < 0:
        raise _range_error(at)
    if at >= len(value):
        return -1
    return value.rfind(part, 0, at + len(part))


def lower_ascii(value: Any) -> str:
    return "".join(one.lower() if one < "\x80" else one for one in text(value))


def upper_ascii(value: Any) -> str:
    return "".join(one.upper() if one < "\x80" else one for one in text(value))


def replace(value: Any, old: Any, new: Any, count: Any = -1) -> str:
    one, times = text(value), whole(count)
    before, after = text(old), text(new)
    many = one.count(before) if times < 0 else min(times, one.count(before))
    if len(one) + many * len(after) > LONGEST_TEXT:
        raise TooLargeError("a text out of replace()")
    return one.replace(before, after, times if times >= 0 else -1)


def split(value: Any, separator: Any, count: Any = -1) -> list[str]:
    one, by, most = text(value), text(separator), whole(count)
    if most == 0:
        return []
    if not by:
        parts = list(one)
        return parts if most < 0 or most >= len(parts) else [*parts[: most - 1], "".join(parts[most - 1 :])]
    return one.split(by, most - 1 if most > 0 else -1)


def substring(value: Any, start: Any, end: Any = None) -> str:
    one, first = text(value), whole(start)
    last = len(one) if end is None else whole(end)
    if end is not None and first > last:
        raise CelError(f"invalid substring range. start: {first}, end: {last}")
    for at in (first, last):
        if not 0 <= at <= len(one):
            raise _range_error(at)
    return one[first:last]


def trim(value: Any) -> str:
    return text(value).strip(_SPACE)


def join(value: Any, separator: Any = "") -> str:
    between = text(separator)
    for one in items(value):
        if not isinstance(one, str):
            raise CelError(f"join: invalid input: {one}")
    if sum(map(len, value)) + len(between) * len(value) > LONGEST_TEXT:
        raise TooLargeError("a text out of join()")
    return between.join(value)


def quote(value: Any) -> str:
    return '"' + "".join(ESCAPES.get(one, one) for one in text(value)) + '"'


def _pattern(pattern: Any) -> Any:
    try:
        return compiled(text(pattern))
    except ValueError as error:
        raise CelError(str(error)) from None


def find(value: Any, pattern: Any) -> str:
    found = _pattern(pattern).search(text(value))
    return "" if found is None else str(found.group(0))


def find_all(value: Any, pattern: Any, count: Any = -1) -> list[str]:
    most = whole(count)
    out: list[str] = []
    end = -1
    for found in _pattern(pattern).finditer(text(value)):
        if 0 <= most <= len(out):
            break
        if found.end() == found.start() == end:
            continue
        end = found.end()
        out.append(str(found.group(0)))
    return out


_CLAUSE = compiled_later(r"(?:\.(?P<precision>[0-9]*))?(?P<letter>.)?", re.DOTALL)
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
