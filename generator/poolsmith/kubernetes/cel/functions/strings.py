"""The string and regular expression functions, by code points, as cel-go's strings library version 2 has them."""

from __future__ import annotations

from typing import Any

from poolsmith.kubernetes.cel.errors import CelError
from poolsmith.kubernetes.cel.functions.values import LONGEST_TEXT, TooLargeError, items, text, whole
from poolsmith.kubernetes.cel.printed_text import ESCAPES
from poolsmith.kubernetes.cel.regex import compiled

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
