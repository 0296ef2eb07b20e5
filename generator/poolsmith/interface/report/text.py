"""The text report: what is worst first, what can wait in one line, and last where the rest is."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted, printable, printable_line
from poolsmith.interface.report.finding_blocks import (
    FOLLOWING,
    MOST_RELATED,
    blocks_of,
    body,
    cluster_of,
    head,
    help_lines,
    str_place,
)
from poolsmith.interface.report.formats import CLUSTER, RULE, SHORT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.finding_blocks import Block, Styled
    from poolsmith.interface.report.formats import Layout, ReportContext

_MOST_SHOWN = 200
_MOST_OF_ONE_RULE = 10
_WITH_EXCERPT = 3
"""So many findings of one rule are shown whole; of the next ones line one says what differs."""
_MOST_SKIPPED = 5
_MOST_KINDS = 4
MOST_LINES = 8
"""Of one finding."""
_OF_THE_TOOL = ("rules", "setup rules", "GPU setups", "validated objects")
"""Counts that say how a run works, for who asks for all."""
_MOST_RULES = 3


def check_report(outcome: Outcome, context: ReportContext) -> str:
    return format_text(outcome, context.layout)


def format_text(outcome: Outcome, layout: Layout = SHORT) -> str:
    return "".join(text for text, _ in styled(outcome, layout))


def styled(outcome: Outcome, layout: Layout = SHORT) -> Iterator[Styled]:
    """The report in pieces; a terminal may colour them."""
    if layout.width is None:
        return _report(outcome, layout)
    from poolsmith.interface.report.finding_blocks import wrapped  # on demand

    return wrapped(_report(outcome, layout), layout.width)


def _report(outcome: Outcome, layout: Layout) -> Iterator[Styled]:
    if outcome.judged:
        yield f"judged: {printable(masked(outcome.judged))}\n\n", "plain"
    if outcome.coverage is not None:
        yield f"{printable(masked(outcome.coverage.line))}\n\n", "plain"
    folded = [item for item in outcome.open if layout.folds(item)]
    found = [item for item in outcome.open if not layout.folds(item)]
    follow = [] if layout.verbose or layout.group_by != RULE else [item for item in found if item.code in FOLLOWING]
    if len(follow) > 1:
        found = [item for item in found if item.code not in FOLLOWING]
    shown = found if layout.verbose else _worst_of(found)
    for block in blocks_of(shown, layout.group_by):
        yield from _block(block, layout)
    if len(shown) < len(found):
        yield f"{len(found) - len(shown):,} more findings are not shown; {_rest(layout)} shows them\n\n", "faint"
    if len(follow) > 1:
        yield from _what_follows(follow)
    for fact in (*outcome.facts, *(outcome.details if layout.verbose else ())):
        yield f"{printable(masked(fact))}\n", "plain"
    yield from _summary(outcome, layout)
    if folded:
        yield f"{_notes(folded)}; {_rest(layout)} shows them\n", "plain"


def _what_follows(found: Sequence[Diagnostic]) -> Iterator[Styled]:
    """One line on all that comes of other mistakes, or of a command that was not run."""
    first, clusters = found[0], {cluster_of(item) for item in found} - {""}
    of = f" of {counted(len(clusters), 'cluster')}" if clusters else ""
    yield str_place(first.primary), "place"
    yield ": ", "plain"
    yield first.severity.value, first.severity.value
    yield f" {first.code} {first.name}", "code"
    yield f": {counted(len(found), 'file')}{of} are not what the profiles generate; {first.help}\n\n", "plain"


def _worst_of(found: Sequence[Diagnostic]) -> Sequence[Diagnostic]:
    """As many as are shown, in their order."""
    if len(found) <= _MOST_SHOWN:
        return found
    kept = set(map(id, sorted(found, key=lambda item: item.severity.rank)[:_MOST_SHOWN]))
    return [item for item in found if id(item) in kept]


def _block(block: Block, layout: Layout) -> Iterator[Styled]:
    if layout.group_by == RULE:
        yield from _rule_block(block, layout)
        return
    if layout.group_by == CLUSTER:
        title = f"cluster {block.name}" if block.name else "no cluster of its own"
        yield f"{printable(title)}\n", "place"
    for item in block.findings:
        yield from _whole(item, layout)
        yield "\n", "plain"


def _rule_block(block: Block, layout: Layout) -> Iterator[Styled]:
    """One line that says how far the rule reaches, where that is more than one place; then the places."""
    findings = block.findings
    if len(findings) > 1 or len(block.clusters) > 1:
        names = f" ({block.cluster_names})" if len(block.clusters) > 1 else ""
        yield f"{block.name} {block.where}", block.severity.value
        yield f": {findings[0].name}{names}\n", "plain"
    shown = findings if layout.verbose else findings[:_MOST_OF_ONE_RULE]
    whole = shown if layout.verbose else shown[:_WITH_EXCERPT]
    for item, following in pairwise((*whole, None)):
        assert item is not None
        yield from _whole(item, layout, has_help_later=following is not None and following.help == item.help)
    for before, item in pairwise(shown[len(whole) - 1 :]):
        yield from head(item)
        if item.help and item.help != before.help:
            yield from help_lines(item.help)
    if len(shown) < len(findings):
        yield f"   and {len(findings) - len(shown):,} more; {_rest(layout)} shows them\n", "faint"
    yield "\n", "plain"


def _whole(item: Diagnostic, layout: Layout, *, has_help_later: bool = False) -> Iterator[Styled]:
    """At most MOST_LINES lines, unless all is asked for."""
    yield from head(item)
    advice = item.help if item.help and not has_help_later else None
    if layout.verbose:
        yield from body(item, layout.width, None)
        if advice:
            yield from help_lines(advice)
        return
    room = MOST_LINES - (3 if item.primary.source_line is not None else 1)
    wanted = 0 if advice is None else advice.count("\n") + 1
    related = min(MOST_RELATED, len(item.related))
    if related + (related < len(item.related)) + min(wanted, 1) > room:
        related = room - 1 - min(wanted, 1)
    yield from body(item, layout.width, related)
    if advice:
        left = room - related - (related < len(item.related))
        yield from help_lines(advice, left, _rest(layout))


def _summary(outcome: Outcome, layout: Layout) -> Iterator[Styled]:
    kinds = [kind for kind in outcome.checked if layout.verbose or kind not in _OF_THE_TOOL]
    shown_kinds = kinds if layout.verbose else kinds[:_MOST_KINDS]
    counts = [_counted(outcome.checked[kind], kind) for kind in shown_kinds]
    errors, warnings, notes = (outcome.count(severity) for severity in Severity)
    yield f"checked {', '.join(counts) or 'nothing'}: ", "plain"
    yield counted(errors, "error"), "error" if errors else "good"
    yield ", ", "plain"
    yield counted(warnings, "warning"), "warning" if warnings else "plain"
    yield f", {counted(notes, 'note')}", "plain"
    yield f", {outcome.waived} waived, {outcome.not_evaluated} not evaluated", "plain"
    if outcome.accepted_unknown:
        yield f", {outcome.accepted_unknown} accepted unseen", "plain"
    yield f", {len(outcome.skipped)} skipped\n", "plain"
    listed = [item for item in outcome.skipped if layout.verbose or not item.by_design]
    shown = listed if layout.verbose else listed[:_MOST_SKIPPED]
    for skipped in shown:
        yield f"   skipped {printable(masked(skipped.what))}: {printable(masked(skipped.reason))}\n", "faint"
    if len(shown) < len(listed):
        yield f"   and {len(listed) - len(shown):,} more are skipped; {_rest(layout)} says why\n", "faint"


def _counted(count: int, kind: str) -> str:
    return f"{count:,} {kind.removesuffix('s') if count == 1 else kind}"


def _notes(folded: Sequence[Diagnostic]) -> str:
    """`notes: PSM640 on 2 clusters, PSM619 in 3 places and 5 more rules; 24 with nothing to do`."""
    blocks = blocks_of((item for item in folded if not item.asks_nothing), RULE)
    parts = [f"{block.name} {block.where}" for block in blocks[:_MOST_RULES]]
    if len(blocks) > _MOST_RULES:
        rest = len(blocks) - _MOST_RULES
        parts[-1] += f" and {rest} more {'rule' if rest == 1 else 'rules'}"
    if idle := sum(item.asks_nothing for item in folded):
        parts.append(f"{idle:,} with nothing to do")
    return f"notes: {', '.join(parts)}"


def _rest(layout: Layout) -> str:
    return f"`{printable_line(layout.rest)}`" if layout.rest else "`-v`"
