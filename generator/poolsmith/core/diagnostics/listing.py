"""Several things in one sentence of a message: the first ones, how many more there are, and their plural."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_SHOWN = 12


def listed(words: Iterable[str], limit: int = _SHOWN) -> str:
    """Words in backticks, cut after `limit` with a count of the rest."""
    return joined([f"`{word}`" for word in words], limit)


def joined(phrases: Iterable[str], limit: int, between: str = ", ") -> str:
    """Phrases as they are, cut the same way. After semicolons the rest is a phrase too."""
    known = list(phrases)
    rest = len(known) - limit
    shown = between.join(known[:limit])
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def counted(number: int, word: str) -> str:
    """`1 node`, `1,200 nodes`."""
    return f"{number:,} {plural(number, word)}"


def plural(number: int, word: str) -> str:
    return word if number == 1 else f"{word}s"
