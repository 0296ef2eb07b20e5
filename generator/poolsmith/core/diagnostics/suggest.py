"""Which known word was meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.listing import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

_CUTOFF = 0.6
_LONGEST = 80


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A help sentence: the nearest known word, else the known ones as far as they fit one line."""
    candidates = list(known)
    match = nearest(word, candidates)
    if match is not None:
        return f"did you mean `{match}`?"
    return "known: " + listed(candidates) if candidates else "none is known"


def nearest(word: str, known: Iterable[str], *, certain: bool = False) -> str | None:
    """The known word that differs in case and separators only, else by one edit, else the most similar one.

    With `certain`, the last is left out.
    """
    candidates = list(known)
    flat = flatten(word)
    same = next((candidate for candidate in candidates if flatten(candidate) == flat), None)
    if same is not None or len(word) > _LONGEST:
        return same
    from difflib import SequenceMatcher, get_close_matches  # start-up: only mistakes need it

    near = [candidate for candidate in candidates if len(candidate) > 1 and one_edit(flat, flatten(candidate))]
    if near:
        matcher = SequenceMatcher(b=flat)

        def rank(candidate: str) -> tuple[bool, float]:
            matcher.set_seq1(flatten(candidate))
            return sorted(flatten(candidate)) == sorted(flat), matcher.ratio()

        return max(near, key=rank)
    if certain:
        return None
    found = get_close_matches(word, candidates, n=1, cutoff=_CUTOFF)
    return found[0] if found else None


def one_edit(left: str, right: str) -> bool:
    """Whether one letter dropped, added, replaced or swapped with its neighbour makes one word of the other."""
    if abs(len(left) - len(right)) > 1 or left == right:
        return False
    short, long = sorted((left, right), key=len)
    at = next((index for index, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return swapped or short[at + 1 :] == long[at + 1 :]


def flatten(word: str) -> str:
    """What a word keeps of itself when case and separators don't count."""
    return word.lower().replace("_", "").replace("-", "").replace(" ", "").replace(".", "")
