"""Findings before and after a change: which are new, which are fixed.

A finding is the same one while it says the same of the same thing: lines may move, a field may move to another file,
and pools and clusters may have other names. One that weighs more than before, or that nobody accepts any more, is new.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import sorted_unique
from poolsmith.core.diagnostics.codes.hygiene import OUT_OF_DATE

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from poolsmith.core.diagnostics import Diagnostic

Findings = tuple["Diagnostic", ...]
_WORD = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?")


def finding_changes(
    before: Iterable[Diagnostic], after: Iterable[Diagnostic], renamed: Mapping[str, str]
) -> tuple[Findings, Findings]:
    """What is new, and what is fixed. `renamed` are the new names of pools and clusters by old
    ones, and the new release by the old one."""
    old, new = list(sorted_unique(before)), list(sorted_unique(after))
    for telling in (_placed, _told):
        for names in ({}, renamed) if renamed else ({},):
            old, new = _without_pairs(old, new, partial(telling, names=names), partial(telling, names={}))
    return tuple(new), tuple(old)


def _placed(item: Diagnostic, names: Mapping[str, str]) -> Hashable:
    span = item.primary.span
    message = "" if item.code == OUT_OF_DATE.code else item.message  # other files of a folder that was not current
    told = (message, span.path, item.primary.pointer, item.subject)
    return item.code, item.severity, item.status, *(_renamed(text, names) for text in told)


def _told(item: Diagnostic, names: Mapping[str, str]) -> Hashable:
    """Wherever it stands: the same line may have moved to a base."""
    told = (_renamed(text, names) for text in (item.message, item.subject))
    return item.code, item.severity, item.status, *told


def _renamed(text: str, names: Mapping[str, str]) -> str:
    """The words of a text that are old names, as the new ones; releases have dots in theirs."""
    if not names:
        return text
    for old, new in names.items():
        if "." in old:
            text = text.replace(old, new)
    return _WORD.sub(lambda word: names.get(word[0], word[0]), text)


def _without_pairs(
    old: list[Diagnostic],
    new: list[Diagnostic],
    key_of_old: Callable[[Diagnostic], Hashable],
    key_of_new: Callable[[Diagnostic], Hashable],
) -> tuple[list[Diagnostic], list[Diagnostic]]:
    there = Counter(map(key_of_old, old))
    here = Counter(map(key_of_new, new))
    both = there & here
    return _beyond(old, key_of_old, both), _beyond(new, key_of_new, both)


def _beyond(
    items: list[Diagnostic], key: Callable[[Diagnostic], Hashable], paired: Counter[Hashable]
) -> list[Diagnostic]:
    left = Counter(paired)
    kept = []
    for item in items:
        told = key(item)
        if left[told]:
            left[told] -= 1
        else:
            kept.append(item)
    return kept
