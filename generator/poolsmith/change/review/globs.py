"""Whether one pattern with `*` and `?` matches all that another one matches."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from poolsmith.guard.ledger.grants.matching import glob_matches

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST_STEPS = 20_000
_ANY_OTHER = "\0"
_REMEMBERED = 1 << 14


@lru_cache(maxsize=_REMEMBERED)
def includes(wide: str, narrow: str) -> bool:
    """False also where that takes too long to tell."""
    if wide in (narrow, "*"):
        return True
    if "*" not in narrow and "?" not in narrow:
        return glob_matches(wide, narrow)
    letters = {letter for letter in wide + narrow if letter not in "*?"} | {_ANY_OTHER}
    start = (0, _closed(wide, {0}))
    seen, pending = {start}, [start]
    while pending:
        at, reached = pending.pop()
        if at == len(narrow):
            if len(wide) not in reached:
                return False
            continue
        stays = narrow[at] == "*"
        possible = letters if narrow[at] in "*?" else {narrow[at]}
        steps = [(at if stays else at + 1, _after(wide, reached, letter)) for letter in possible]
        if stays:
            steps.append((at + 1, reached))
        for step in steps:
            if step not in seen:
                seen.add(step)
                pending.append(step)
        if len(seen) > _MOST_STEPS:
            return False
    return True


def any_includes(wide: Iterable[str], narrow: str) -> bool:
    return any(includes(pattern, narrow) for pattern in wide)


def _after(pattern: str, reached: frozenset[int], letter: str) -> frozenset[int]:
    found = set()
    for at in reached:
        if at < len(pattern):
            if pattern[at] == "*":
                found.add(at)
            elif pattern[at] in ("?", letter):
                found.add(at + 1)
    return _closed(pattern, found)


def _closed(pattern: str, reached: set[int]) -> frozenset[int]:
    """With what is reached without a letter."""
    pending = list(reached)
    while pending:
        at = pending.pop()
        if at < len(pattern) and pattern[at] == "*" and at + 1 not in reached:
            reached.add(at + 1)
            pending.append(at + 1)
    return frozenset(reached)
