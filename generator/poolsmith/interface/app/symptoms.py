"""What people see in a cluster, and the finding that tells it before: a search over public reports and rules.

A message from a log has names, times and numbers that no report has; so words count, the more the rarer they are.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

_WORD = pattern("[a-z]{3,}")
_PLAIN = frozenset(
    (
        "all",
        "and",
        "any",
        "are",
        "but",
        "for",
        "from",
        "has",
        "have",
        "its",
        "not",
        "nothing",
        "one",
        "other",
        "that",
        "the",
        "their",
        "them",
        "then",
        "these",
        "they",
        "this",
        "two",
        "was",
        "what",
        "where",
        "which",
        "while",
        "who",
        "with",
    )
)
_MOST = 8
_ENOUGH = 0.5
"""Of the weight of the words that are known at all."""


def known_symptoms() -> list[dict[str, Any]]:
    """Entries with `seen`, `cause`, `do`, `told` (a rule's code, or none) and `source`."""
    return list(store.read_json("symptoms.json")["symptoms"])


def symptoms_of(text: str, *, exactly: bool = False) -> str:
    """What is known of a message or a state, as text; empty where nothing is like it.

    `exactly`: only what was seen in these very words.
    """
    return "\n".join(_shown(entry) for likeness, entry in _nearest(text) if likeness or not exactly)


def _nearest(text: str) -> list[tuple[int, dict[str, Any]]]:
    """The likeness of each, the most alike first."""
    entries = known_symptoms()
    words = [_words(" ".join(entry["seen"])) for entry in entries]
    count = Counter(word for own in words for word in own)
    asked = {word: math.log(1 + len(entries) / count[word]) for word in _words(text) if word in count}
    least = _ENOUGH * sum(asked.values())
    scores = [
        (_likeness(text, entry["seen"]), sum(asked.get(word, 0.0) for word in own))
        for entry, own in zip(entries, words, strict=True)
    ]
    ranked = sorted(range(len(entries)), key=lambda index: scores[index], reverse=True)
    alike = [index for index in ranked if scores[index][0] or (asked and scores[index][1] >= least)]
    return [(scores[index][0], entries[index]) for index in alike[:_MOST]]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _PLAIN


def _likeness(text: str, seen: list[str]) -> int:
    """2: the very words; 1: they stand in what was seen."""
    wanted = " ".join(text.lower().split())
    if not _words(wanted):
        return 0
    return max(2 if wanted == one.lower() else int(wanted in one.lower()) for one in seen)


def _shown(entry: Mapping[str, Any]) -> str:
    told = (
        f"found before the merge by {entry['told']}: `poolsmith explain {entry['told']}`"
        if entry["told"]
        else "not found before the merge"
    )
    return "\n".join(
        (
            *(f"- {seen}" for seen in entry["seen"]),
            f"  cause: {entry['cause']}",
            f"  what to do: {entry['do']}",
            f"  {told}",
            *((f"  source: {entry['source']}",) if entry["source"] else ()),
            "",
        )
    )
