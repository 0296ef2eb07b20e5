"""The findings of a check, as one comment of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.interface.report import markdown_page
from poolsmith.interface.report.finding_blocks import blocks_of
from poolsmith.interface.report.formats import RULE

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.finding_blocks import Block
    from poolsmith.interface.report.formats import ReportContext

MOST_BYTES = 20_000
"""With the comment of a diff beside it, below GitHub's limit."""
_ICONS = {Severity.ERROR: "🔴", Severity.WARNING: "🟡", Severity.NOTE: "⚪"}
_MARKS = {Severity.ERROR: "❗ ", Severity.WARNING: "", Severity.NOTE: ""}
_MOST_RULES = 10
_MOST_SKIPPED = 4


def check_report(outcome: Outcome, context: ReportContext) -> str:
    """Below MOST_BYTES. It begins with a comment by which it can be found again, and ends in a newline."""
    found = [item for item in outcome.open if not item.asks_nothing]
    shown = [item for item in found if not context.layout.folds(item)]
    notes = [item for item in found if context.layout.folds(item)]
    blocks = blocks_of(shown, RULE)
    parts = [_part(block, context.docs) for block in blocks[:_MOST_RULES]]
    for title, rest in (
        ("Other rules", [one for block in blocks[_MOST_RULES:] for one in block.findings]),
        ("Notes", notes),
    ):
        if rest:
            items = tuple(_item(item, with_code=True) for item in rest)
            parts.append(markdown_page.PagePart(title=title, items=items, is_folded=True))
    page = markdown_page.Page(
        marker="check",
        title=_title(outcome),
        lead=_lead(outcome),
        parts=tuple(parts),
        rest=context.layout.rest or "poolsmith check -v",
    )
    return markdown_page.fitted(page, MOST_BYTES)


def _title(outcome: Outcome) -> str:
    counts = [(severity, outcome.count(severity)) for severity in (Severity.ERROR, Severity.WARNING)]
    counted_words = ", ".join(counted(count, severity.value) for severity, count in counts if count)
    worst = next((severity for severity, count in counts if count), Severity.NOTE)
    return f"{_ICONS[worst]} poolsmith check: {counted_words or 'no errors, no warnings'}"


def _lead(outcome: Outcome) -> tuple[str, ...]:
    checked = ", ".join(f"{count:,} {kind}" for kind, count in outcome.checked.items()) or "nothing"
    counts = (
        (outcome.count(Severity.NOTE), counted(outcome.count(Severity.NOTE), "note")),
        (outcome.waived, f"{outcome.waived:,} waived"),
        (outcome.not_evaluated, f"{outcome.not_evaluated:,} not evaluated"),
        (outcome.accepted_unknown, f"{outcome.accepted_unknown:,} accepted unseen"),
    )
    first = f"Checked {checked}; {', '.join(text for count, text in counts if count) or 'nothing else to say'}."
    skipped = [f"Skipped {item.what}: {item.reason}." for item in outcome.skipped if not item.by_design]
    return (first, *skipped[:_MOST_SKIPPED])


def _part(block: Block, docs: str) -> markdown_page.PagePart:
    """The code of a rule leads to its page, where somebody has said where the pages are."""
    first = block.findings[0]
    title = f"{first.code} {first.name}"
    if docs:
        title = f"[{title}](<{docs}/rules.md#{first.code.lower()}-{first.name}>)"
    helps = {item.help for item in block.findings}
    is_one = len(helps) == 1 and len(block.findings) > 1 and None not in helps
    return markdown_page.PagePart(
        title=f"{_ICONS[block.severity]} {title}",
        lead_in=(f"{block.where}: {block.cluster_names}" if len(block.clusters) > 1 else "")
        + (f"{'; ' if len(block.clusters) > 1 else ''}help: {_one_line(first.help)}" if is_one else ""),
        items=tuple(_item(item, with_help=not is_one) for item in block.findings),
    )


def _item(item: Diagnostic, *, with_code: bool = False, with_help: bool = True) -> markdown_page.PageItem:
    name = f"{item.severity.value} {item.code} {item.name}: " if with_code else ""
    advice, *block = (item.help or "").split("\n") if with_help else ("",)
    return markdown_page.PageItem(
        words=f"{name}{item.message}",
        places=(str(item.primary.span),),
        details=(f"help: {_one_line(advice)}",) if advice else (),
        mark="" if with_code else _MARKS[item.severity],
        block=tuple(block),
    )


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())
