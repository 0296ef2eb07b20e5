"""Which known word was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_CUTOFF = 0.6
_LONGEST = 80
_SHOWN = 12


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that differs only in case and separators, else the closest one, else None."""
    candidates = list(known)
    flat = _flatten(word)
    for candidate in candidates:
        if _flatten(candidate) == flat:
            return candidate
    if len(word) > _LONGEST:
        return None
    from difflib import get_close_matches

    found = get_close_matches(word, candidates, n=1, cutoff=_CUTOFF)
    return found[0] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A help sentence: the nearest known word, else the known ones as far as they fit one line."""
    candidates = list(known)
    match = nearest(word, candidates)
    if match is not None:
        return f"did you mean `{match}`?"
    return "known: " + listed(candidates) if candidates else "none is known"


def listed(words: Iterable[str], limit: int = _SHOWN) -> str:
    """Words in backticks, cut after `limit` with a count of the rest."""
    candidates = list(words)
    text = ", ".join(f"`{word}`" for word in candidates[:limit])
    rest = len(candidates) - limit
    return f"{text} and {rest} more" if rest > 0 else text


def _flatten(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "").replace(" ", "").replace(".", "")
