"""Text as Go prints it, durations and timestamps as Go reads them, and regular expressions in RE2's syntax.

This is the one module that imports google-re2.
"""

from __future__ import annotations

import datetime as dt
import importlib
import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

from poolsmith.core.pattern import pattern as compiled_later

ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
}


def printable(text: str) -> str:
    """Without control characters: no expression may steer a terminal, a log or a page."""
    return text if text.isprintable() else "".join(one if one.isprintable() else _escaped(one) for one in text)


def quoted(value: str) -> str:
    """Go's %q."""
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(one: str) -> str:
    if one in ESCAPES:
        return ESCAPES[one]
    if one.isprintable():
        return one
    code = ord(one)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004


_DURATION = compiled_later(r"[-+]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_PART = compiled_later(r"(?<![0-9.])([0-9]*+)(?:\.([0-9]*+))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_NANOSECONDS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_TIMESTAMP = compiled_later(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,][0-9]+)?(?:Z|[+-]([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_LONGEST = 2**63
_FRACTION = compiled_later(r"[.,][0-9]{6}0*[1-9]", re.ASCII)


def duration_nanoseconds(text: str) -> int:
    """Raises ValueError."""
    if len(text) > 200 or _DURATION.fullmatch(text) is None:  # noqa: PLR2004
        raise ValueError(f'time: invalid duration "{text[:80]}"')
    total = Fraction(0)
    for whole, part, unit in _PART.findall(text):
        amount = Fraction(int(whole or 0)) + (Fraction(int(part), 10 ** len(part)) if part else 0)
        total += int(amount * _NANOSECONDS[unit])
    value = -int(total) if text.startswith("-") else int(total)
    if not -_LONGEST <= value < _LONGEST:
        raise ValueError(f'time: invalid duration "{text[:80]}"')
    return value


def is_duration(text: str) -> bool:
    try:
        duration_nanoseconds(text)
    except ValueError:
        return False
    return True


def is_whole_timestamp(text: str) -> bool:
    """Whether it has no fraction of a microsecond; what is no timestamp has none."""
    return _FRACTION.search(text) is None


def is_whole_duration(text: str) -> bool:
    try:
        return duration_nanoseconds(text) % 1000 == 0
    except ValueError:
        return True


def is_timestamp(text: str) -> bool:
    """RFC 3339 within the years 1 to 9999."""
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        return False
    year, month, day, hour, minute, second, zone_hour, zone_minute = (int(one or 0) for one in found.groups())
    try:
        dt.datetime(year, month, day, hour, minute, second, tzinfo=dt.UTC)
    except ValueError:
        return False
    return zone_hour < 24 and zone_minute < 60  # noqa: PLR2004


_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid repetition size": "invalid repeat count",
    "trailing \\": "trailing backslash at end of expression",
}


@lru_cache(maxsize=1)
def _library() -> Any:
    try:
        return importlib.import_module("re2")
    except ImportError:
        return None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> Any:
    """A pattern with `search` and `finditer`; raises ValueError with the reason."""
    library = _library()
    options = library.Options()
    options.log_errors = False
    options.max_mem = 16 << 20
    try:
        return library.compile(pattern, options)
    except library.error as error:
        text = error.args[0] if error.args else ""
        shown = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
        raise ValueError(f"error parsing regexp: {_worded(shown[:200])}") from None


def _worded(text: str) -> str:
    """The reason in the words of Go's regexp."""
    reason, _, place = text.partition(": ")
    return f"{_WORDS.get(reason, reason)}: `{place}`" if place else _WORDS.get(reason, reason)


def regex_problem(pattern: str) -> str | None:
    """Why a pattern does not compile; None too when there is no library to ask."""
    if _library() is None:
        return None
    try:
        compiled(pattern)
    except ValueError as error:
        return str(error)
    return None
