"""Durations and timestamps as Go reads them from text."""

from __future__ import annotations

import datetime as dt
import re
from fractions import Fraction

_DURATION = re.compile(r"[-+]?(?:0|(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII)
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
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
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,][0-9]+)?(?:Z|[+-]([0-9]{2}):([0-9]{2}))",
    re.ASCII,
)
_LONGEST = 2**63
_FRACTION = re.compile(r"[.,][0-9]{6}0*[1-9]", re.ASCII)


def duration_nanoseconds(text: str) -> int:
    """Raises ValueError."""
    if _DURATION.fullmatch(text) is None or len(text) > 200:  # noqa: PLR2004
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
