"""What every exception has to say of itself: why, who answers for it, until when."""

from __future__ import annotations

import datetime as dt

from poolsmith.core.pattern import pattern

DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
PROSE = r"[^\x00-\x08\x0b-\x1f\x7f]{0,1000}"
"""Text for people, over several lines if need be; it may be empty, and then a rule says so."""

_PLACEHOLDERS = frozenset(
    (
        "",
        "-",
        "?",
        "...",
        "…",
        "fixme",
        "n/a",
        "na",
        "none",
        "null",
        "reason",
        "owner",
        "tba",
        "tbd",
        "todo",
        "unknown",
        "xxx",
    )
)
_NOISE = pattern(r"[\s.:!<>\[\](){}_*#\"'`]+")


def is_placeholder(text: str) -> bool:
    """Whether a text stands where a reason or an owner should stand, and says nothing."""
    plain = _NOISE.sub(" ", text.lower()).strip()
    return (
        text.strip().lower() in _PLACEHOLDERS or plain in _PLACEHOLDERS or plain.startswith(("todo ", "fixme ", "tbd "))
    )


def day_of(text: str) -> dt.date | None:
    """The day that a text of the form `DATE` names; None where the calendar has no such day."""
    try:
        return dt.date.fromisoformat(text)
    except ValueError:
        return None
