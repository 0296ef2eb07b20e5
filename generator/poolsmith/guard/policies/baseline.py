"""Findings that a repository had when it took up the linter: accepted one by one, each until a day.

An entry knows its findings by rule, file and a fingerprint that stays while lines move.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose
from poolsmith.core.diagnostics.codes.policy import EXPIRED_BASELINE, UNUSED_BASELINE
from poolsmith.core.diagnostics.diagnostic import WAIVED
from poolsmith.core.diagnostics.known_rules import FROM_ELSEWHERE, former_codes, known_rules
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted, one_line, printable, shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.shape.review import day_of, is_placeholder
from poolsmith.guard.policies.baseline_file import BaselineEntry
from poolsmith.guard.policies.rule_settings import find_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.shape.documents import KindDocument
    from poolsmith.guard.policies.baseline_file import BaselineSpec

DAYS = 90
"""How long an entry accepts, unless somebody writes another day."""
NO_REASON = "was there when the baseline was written; nobody has looked at it yet"
_LONGEST_FINDING = 200
_NEVER = ("PSM1", "PSM6", *FROM_ELSEWHERE)
"""Profiles, policy files and what a change switches off: these have waivers and acceptances of their own."""
_MOVES = pattern(
    r"\b(?:lines?|columns?) \d+(?:(?:, | and |-| to )(?:lines? |columns? )?\d+)*"
    r"|(?<=\.yaml):\d+(?::\d+)?\b|(?<=\.yml):\d+(?::\d+)?\b|\b\d[\d,]* days?\b"
)
"""What a message says of places and of the calendar: it changes while the finding stays."""


@record(kw_only=False)
class PlacedEntry:
    """An entry, and where it stands."""

    entry: BaselineEntry
    place: Location

    def holds(self, today: dt.date) -> bool:
        """A day that the calendar does not have has passed."""
        last = day_of(self.entry.expires)
        return last is not None and today <= last


@record
class Accepted:
    """Findings with those marked that a baseline accepts. `unread`: those of them that say that a file, or a part of
    it, was not read."""

    diagnostics: tuple[Diagnostic, ...]
    count: int = 0
    unread: tuple[Diagnostic, ...] = ()
    last_day: str = ""
    without_reason: int = 0


@record
class Rewritten:
    """A baseline written anew, and what differs from what was there."""

    entries: tuple[BaselineEntry, ...]
    added: tuple[BaselineEntry, ...]
    removed: tuple[BaselineEntry, ...]
    expired: tuple[BaselineEntry, ...]


def standing_fingerprint(item: Diagnostic, code: str = "") -> str:
    """Stays while lines move: code, file, object, pointer and message without its places and days. `code`: as under a
    code that the rule had before."""
    words = (
        code or item.code,
        item.primary.span.path,
        item.subject,
        item.primary.pointer,
        _MOVES.sub("", item.message),
    )
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _fingerprints(item: Diagnostic) -> tuple[str, ...]:
    """The one of today first, then those of retired codes."""
    return standing_fingerprint(item), *(standing_fingerprint(item, code) for code in former_codes(item.code))


def _file_of(item: Diagnostic) -> str:
    return printable(masked(item.primary.span.path))


def entries_of(document: KindDocument[BaselineSpec]) -> tuple[PlacedEntry, ...]:
    """With the place of each."""
    return tuple(
        PlacedEntry(entry, document.file.locate(f"/spec/findings/{index}"))
        for index, entry in enumerate(document.spec.findings)
    )


def can_be_accepted(item: Diagnostic) -> bool:
    """An open error or warning that is about what the repository holds."""
    return not item.is_waived and item.severity is not Severity.NOTE and not item.code.startswith(_NEVER)


def accept(
    diagnostics: Iterable[Diagnostic],
    entries: Sequence[PlacedEntry],
    *,
    today: dt.date,
    was_looked_at: Callable[[str], bool],
) -> Accepted:
    """The first findings of each kind, as many as an entry accepts. An entry of a file that was not looked at is not
    said to be unused; nor is one of a rule that another flag might run."""
    by_print: dict[str, list[PlacedEntry]] = {}
    for placed in entries:
        by_print.setdefault(placed.entry.fingerprint, []).append(placed)
    left = {id(placed): placed.entry.count for placed in entries}
    used: list[PlacedEntry] = []
    passed: list[PlacedEntry] = []
    found: list[Diagnostic] = []
    unread: list[Diagnostic] = []
    for item in diagnostics:
        match = _entry_for(item, by_print, left) if can_be_accepted(item) else None
        if match is None:
            found.append(item)
            continue
        left[id(match)] -= 1
        if match.holds(today):
            used.append(match)
            found.append(replace(item, status=WAIVED, waived_because=_because(match.entry)))
            if item.code.startswith("PSM0"):
                unread.append(item)
        else:
            passed.append(match)
            told = replace(match.place, note=f"accepted here until {match.entry.expires}")
            found.append(replace(item, related=(*item.related, told)))
    if passed:
        found.append(_expired(passed))
    found += [_unused(placed, left[id(placed)]) for placed in entries if _is_unused(placed, left, was_looked_at)]
    return Accepted(
        diagnostics=tuple(found),
        count=len(used),
        unread=tuple(unread),
        last_day=max((placed.entry.expires for placed in used), default=""),
        without_reason=sum(_has_no_reason(placed.entry) for placed in used),
    )


def _entry_for(item: Diagnostic, by_print: dict[str, list[PlacedEntry]], left: dict[int, int]) -> PlacedEntry | None:
    prints = _fingerprints(item) if by_print else ()
    for placed in (placed for print_ in prints for placed in by_print.get(print_, ())):
        entry = placed.entry
        rule = find_in(known_rules(), entry.rule)
        is_of_rule = rule is not None and rule.code == item.code
        if is_of_rule and entry.file == _file_of(item) and left[id(placed)]:
            return placed
    return None


def _has_no_reason(entry: BaselineEntry) -> bool:
    return entry.reason == NO_REASON or is_placeholder(entry.reason)


def _because(entry: BaselineEntry) -> str:
    return masked(f"{entry.reason or NO_REASON} (in the baseline until {entry.expires})")


def _expired(passed: Sequence[PlacedEntry]) -> Diagnostic:
    first = min(passed, key=lambda placed: placed.entry.expires)
    known = {id(placed): placed for placed in passed}
    message = (
        f"the baseline accepted {counted(len(passed), 'finding')} until a day that has passed, the first on "
        f"{first.entry.expires}; they count again"
    )
    related = tuple(placed.place for placed in known.values() if placed is not first)
    return diagnose(EXPIRED_BASELINE, message, first.place, related=related, subject=first.place.span.path)


def _is_unused(placed: PlacedEntry, left: dict[int, int], was_looked_at: Callable[[str], bool]) -> bool:
    return left[id(placed)] > 0 and was_looked_at(placed.entry.file)


def _unused(placed: PlacedEntry, rest: int) -> Diagnostic:
    entry = placed.entry
    there = entry.count - rest
    message = f"{entry.rule} in {shorten(entry.file)}: the baseline accepts {counted(entry.count, 'finding')}, "
    message += f"and there {'is' if there == 1 else 'are'} {there or 'none'}"
    return diagnose(UNUSED_BASELINE, message, placed.place, subject=entry.file)


def rewritten(
    diagnostics: Iterable[Diagnostic],
    entries: Sequence[BaselineEntry],
    *,
    today: dt.date,
    was_looked_at: Callable[[str], bool],
) -> Rewritten:
    """The entries for what is there today. Those that were there keep their reason and their days, expired or not."""
    wanted = [item for item in diagnostics if can_be_accepted(item)]
    entries = _renewed(entries, wanted)
    there = Counter(map(standing_fingerprint, wanted))
    examples = {standing_fingerprint(item): item for item in reversed(wanted)}
    kept: list[BaselineEntry] = []
    added: list[BaselineEntry] = []
    removed: list[BaselineEntry] = []
    for entry in entries:
        item = examples.get(entry.fingerprint)
        belongs = item is not None and entry.file == _file_of(item)
        count = min(entry.count, there[entry.fingerprint]) if belongs else 0
        there[entry.fingerprint] -= count
        if not was_looked_at(entry.file):
            count = entry.count
        if count:
            kept.append(replace(entry, count=count))
        if count < entry.count:
            removed.append(replace(entry, count=entry.count - count))
    last_day = today + dt.timedelta(days=DAYS)
    added = [_entry(examples[print_], count, today, last_day) for print_, count in there.items() if count > 0]
    order = sorted((*kept, *added), key=lambda entry: (entry.file, entry.rule, entry.fingerprint, entry.expires))
    expired = tuple(entry for entry in kept if (day := day_of(entry.expires)) is None or day < today)
    return Rewritten(entries=tuple(order), added=tuple(added), removed=tuple(removed), expired=expired)


def _renewed(entries: Iterable[BaselineEntry], wanted: Iterable[Diagnostic]) -> list[BaselineEntry]:
    """Entries under the codes of today, with the reasons and days that they have."""
    now = {print_: item for item in wanted for print_ in _fingerprints(item)[1:]}
    return [
        replace(entry, rule=item.code, fingerprint=standing_fingerprint(item))
        if (item := now.get(entry.fingerprint)) is not None
        else entry
        for entry in entries
    ]


def _entry(item: Diagnostic, count: int, today: dt.date, last_day: dt.date) -> BaselineEntry:
    return BaselineEntry(
        rule=item.code,
        file=_file_of(item),
        subject=printable(masked(item.subject)),
        finding=one_line(printable(masked(item.message)), _LONGEST_FINDING),
        fingerprint=standing_fingerprint(item),
        count=count,
        reason=NO_REASON,
        since=str(today),
        expires=str(last_day),
    )
