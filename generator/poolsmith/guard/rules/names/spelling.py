"""Names among which a misspelt one is sought: each is put away once under what it may be taken for, so that many
misspelt names are not compared with many others."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.diagnostics.message_text import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LONGEST, _MOST, _FEW, _STEM = 128, 5_000, 12, 4
"""Letters of a name, names, words of a name, and letters of a word, that are looked into: strangers write them."""


class Spelling:
    """Names in their order."""

    def __init__(self, names: Iterable[str]) -> None:
        own = tuple(dict.fromkeys(names))
        self._names = own if len(own) <= _MOST else ()

    def nearest(self, word: str) -> str | None:
        """The one that differs by a slip of the pen; never by a number alone."""
        found = dict.fromkeys(name for form in _forms(word) for name in self._by_form.get(form, ()))
        return nearest(word, found, certain=True)

    def longer(self, word: str) -> str | None:
        """The only one that has the word at an end of it, with a dash or a dot between, or that the word has so."""
        found = set(self._by_part.get(word, ())) | {part for part in _parts(word) if part in self._known}
        return min(found) if len(found) == 1 else None

    def alike(self, word: str) -> str | None:
        """The only one of as many words, each of which begins as the other's does."""
        found = self._by_stems.get(_stems(word), ())
        return found[0] if len(found) == 1 and found[0] != word else None

    @cached_property
    def _by_stems(self) -> dict[tuple[str, ...], list[str]]:
        found: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for name in self._names:
            if len(stems := _stems(name)) > 1:
                found[stems].append(name)
        return found

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self._names)

    @cached_property
    def _by_form(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name in self._names:
            for form in _forms(name):
                found[form].append(name)
        return found

    @cached_property
    def _by_part(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for name in self._names:
            for part in _parts(name):
                found[part].append(name)
        return found


def goes_on(one: str, other: str) -> bool:
    """Whether one of the names has the other at an end of it."""
    return one in _parts(other) or other in _parts(one)


def _stems(word: str) -> tuple[str, ...]:
    return tuple(part[:_STEM] for part in word[:_LONGEST].split("-"))


def _forms(word: str) -> Iterator[str]:
    """Without any one letter: two words that are one edit apart have one of these in common."""
    flat = flatten(word)
    yield flat
    if len(flat) <= _LONGEST:
        yield from {flat[:index] + flat[index + 1 :] for index in range(len(flat))} - {flat}


def _parts(word: str) -> set[str]:
    if len(word) > _LONGEST:
        return set()
    ends = [index for index, letter in enumerate(word) if letter in "-."][:_FEW]
    return {word[:index] for index in ends} | {word[index + 1 :] for index in ends}
