"""The text report: line one is for grep, the rest for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import Severity
from poolsmith.diagnostics.listing import counted
from poolsmith.diagnostics.masking import masked
from poolsmith.diagnostics.printable import cut, printable, printable_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Diagnostic, Location
    from poolsmith.diagnostics.outcome import Outcome

Styled = tuple[str, str]
"""A piece of text and its style: error, warning, note, place, code, faint, good or plain."""

_MAX_SHOWN = 200
_MAX_RELATED = 5
_MAX_LINE = 160
_HELP_MARGIN = " " * len("   help: ")


def format_text(outcome: Outcome) -> str:
    return "".join(text for text, _ in styled(outcome))


def styled(outcome: Outcome) -> Iterator[Styled]:
    """The report in pieces; a terminal may colour them. Worst and first are shown when there are many."""
    shown = found = outcome.open
    if len(shown) > _MAX_SHOWN:
        worst = sorted(shown, key=lambda item: item.severity.rank)[:_MAX_SHOWN]
        kept = set(map(id, worst))
        shown = tuple(item for item in shown if id(item) in kept)
    for diagnostic in shown:
        yield from _diagnostic(diagnostic)
        yield "\n", "plain"
    if len(shown) < len(found):
        rest = len(found) - len(shown)
        yield f"{rest} more are not shown; `--format json` has them all\n", "faint"
    for fact in outcome.facts:
        yield f"{printable(masked(fact))}\n", "plain"
    yield from _summary(outcome)


def _diagnostic(diagnostic: Diagnostic) -> Iterator[Styled]:
    yield str_place(diagnostic.primary), "place"
    yield ": ", "plain"
    yield diagnostic.severity.value, diagnostic.severity.value
    yield f" {diagnostic.code} {diagnostic.name}", "code"
    yield f": {printable(diagnostic.message)}\n", "plain"
    yield from _excerpt(diagnostic.primary)
    for location in diagnostic.related[:_MAX_RELATED]:
        note = f": {printable(location.note)}" if location.note else ""
        yield f"   see {str_place(location)}{note}\n", "faint"
    if len(diagnostic.related) > _MAX_RELATED:
        yield f"   and {len(diagnostic.related) - _MAX_RELATED} more places\n", "faint"
    if diagnostic.help:
        yield "   help: ", "good"
        yield "".join(f"{printable_line(line)}\n" for line in _hanging(diagnostic.help)), "plain"


def _hanging(text: str) -> Iterator[str]:
    """Its lines, those after the first as far in as the first is; help may show a piece of a file."""
    for number, line in enumerate(text.split("\n")):
        yield f"{_HELP_MARGIN if number else ''}{line}"


def str_place(location: Location) -> str:
    return printable_line(str(location.span))


def _excerpt(location: Location) -> Iterator[Styled]:
    start, end, line = location.span.start, location.span.end, location.source_line
    if start is None or line is None:
        return
    shown = cut(printable(line.replace("\t", " ")), _MAX_LINE)
    yield f"{start.line:>5} | ", "faint"
    yield f"{shown}\n", "plain"
    if start.column <= len(shown):
        width = end.column - start.column if end is not None and end.line == start.line else 1
        marker = "^" * max(1, min(width, len(shown) - start.column + 1))
        yield f"      | {' ' * (start.column - 1)}", "faint"
        yield f"{marker}\n", "error"


def _summary(outcome: Outcome) -> Iterator[Styled]:
    counts = (f"{count:,} {kind.removesuffix('s') if count == 1 else kind}" for kind, count in outcome.checked.items())
    checked = ", ".join(counts) or "nothing"
    errors, warnings, notes = (outcome.count(severity) for severity in Severity)
    yield f"checked {checked}: ", "plain"
    yield counted(errors, "error"), "error" if errors else "good"
    yield ", ", "plain"
    yield counted(warnings, "warning"), "warning" if warnings else "plain"
    yield f", {counted(notes, 'note')}", "plain"
    yield f", {outcome.waived} waived, {outcome.not_evaluated} not evaluated", "plain"
    if outcome.accepted_unknown:
        yield f", {outcome.accepted_unknown} accepted unseen", "plain"
    yield f", {len(outcome.skipped)} skipped\n", "plain"
    for skipped in outcome.skipped[:_MAX_RELATED]:
        yield f"   skipped {printable(masked(skipped.what))}: {printable(masked(skipped.reason))}\n", "faint"
