"""The first lines of the page: what matters, in one sentence, and what was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.together import told
from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.listing import counted
from poolsmith.core.diagnostics.masking import masked
from poolsmith.interface.report.html.element import joined, tag, words

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.html.element import Html
    from poolsmith.interface.report.layout import ReportContext


def check_summary(outcome: Outcome, context: ReportContext) -> Html:
    errors, warnings, notes = (outcome.count(severity) for severity in Severity)
    weight = "grave" if errors else "notable" if warnings else "good"
    verdict = f"{counted(errors, 'error')}, {counted(warnings, 'warning')}, {counted(notes, 'note')}"
    checked = ", ".join(f"{count:,} {kind}" for kind, count in outcome.checked.items()) or "nothing"
    rest = f"{outcome.waived} waived, {outcome.not_evaluated} not evaluated, {len(outcome.skipped)} skipped"
    skipped = [f"skipped {item.what}: {item.reason}" for item in outcome.skipped]
    facts = [tag("li", words(masked(item))) for item in (*outcome.facts, *skipped)]
    if context.fleet is not None and (unsound := [item.name for item in context.fleet.clusters if not item.pools]):
        facts.append(tag("li", f"nothing can be shown of {', '.join(unsound)}: their profiles have errors"))
    return _banner(weight, verdict, f"Checked {checked}; {rest}.", tag("ul", joined(facts)) if facts else None)


def diff_summary(change: ChangeReport) -> Html:
    found = told(change)
    weight = found.weight.value if not change.is_empty else "good"
    return _banner(weight, masked(found.verdict), masked(found.scope), None)


def _banner(weight: str, verdict: str, scope: str, more: Html | None) -> Html:
    parts = [tag("p", words(verdict), class_="verdict"), tag("p", words(scope), class_="scope")]
    return tag("div", *parts, *([more] if more is not None else []), class_=f"banner {weight}")
