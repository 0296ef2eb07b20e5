"""JUnit, in the form that Jenkins, GitLab and Azure take: a suite for each cluster or file, a test case for each rule.

A finding fails its case where it fails the run. What was checked is a suite of its own, so that no green report is
empty; what was skipped is one too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.interface.report.escaped_text import attribute, content
from poolsmith.interface.report.finding_blocks import cluster_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.report.formats import ReportContext


class Case(NamedTuple):
    """`skipped` says why. `failures` are its type and lines of text, `notes` what is no failure."""

    name: str
    failures: tuple[Diagnostic, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    skipped: str = ""


class Suite(NamedTuple):
    name: str
    cases: tuple[Case, ...]

    @property
    def failures(self) -> int:
        return sum(bool(case.failures) for case in self.cases)


def check_report(outcome: Outcome, context: ReportContext) -> str:
    """ASCII; the text ends in a newline."""
    checked = tuple(Case(f"{count:,} {kind}") for kind, count in outcome.checked.items())
    skipped = [Case(masked(item.what), skipped=masked(item.reason)) for item in outcome.skipped]
    if outcome.not_evaluated:
        skipped.append(Case(counted(outcome.not_evaluated, "thing"), skipped="could not be evaluated"))
    suites = (
        *((Suite("checked", checked),) if checked else ()),
        *_suites(outcome.diagnostics, context),
        *((Suite("skipped", tuple(skipped)),) if skipped else ()),
    )
    return _document("poolsmith check", suites)


def diff_report(change: ChangeReport, context: ReportContext) -> str:
    """The findings that the change brings."""
    compared = Case(f"{counted(len(change.clusters), 'cluster')} changed, {change.unchanged_clusters:,} unchanged")
    unknown = [*change.unknown, *(text for cluster in change.clusters for text in cluster.unknown)]
    skipped = tuple(Case("unknown", skipped=masked(text)) for text in unknown)
    suites = (
        Suite("compared", (compared,)),
        *_suites(change.new_findings, context),
        *((Suite("unknown", skipped),) if skipped else ()),
    )
    return _document("poolsmith diff", suites)


def _suites(found: Iterable[Diagnostic], context: ReportContext) -> Iterator[Suite]:
    groups: dict[str, dict[str, list[Diagnostic]]] = {}
    for item in found:
        if not (item.asks_nothing and context.layout.folds(item)):
            cluster = cluster_of(item)
            name = f"cluster {cluster}" if cluster else item.primary.span.path
            groups.setdefault(name, {}).setdefault(item.code, []).append(item)
    for name, rules in sorted(groups.items()):
        yield Suite(name, tuple(_case(items, context) for _, items in sorted(rules.items())))


def _case(items: Sequence[Diagnostic], context: ReportContext) -> Case:
    name = f"{items[0].code} {items[0].name}"
    found = tuple(item for item in items if not item.is_waived)
    if not found:
        return Case(name, skipped="; ".join(dict.fromkeys(item.waived_because or "waived" for item in items)))
    threshold = context.layout.fail_on.rank
    failures = tuple(item for item in found if item.severity.rank <= threshold)
    return Case(name, failures, tuple(item for item in found if item.severity.rank > threshold))


def _document(name: str, suites: Sequence[Suite]) -> str:
    tests = sum(len(suite.cases) for suite in suites)
    failures = sum(suite.failures for suite in suites)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name={attribute(name)} tests="{tests}" failures="{failures}" errors="0">',
    ]
    for suite in suites:
        skipped = sum(bool(case.skipped) for case in suite.cases)
        counts = f'tests="{len(suite.cases)}" failures="{suite.failures}" errors="0" skipped="{skipped}"'
        lines.append(f"  <testsuite name={attribute(suite.name)} {counts}>")
        for case in suite.cases:
            lines.extend(_case_lines(case, suite.name))
        lines.append("  </testsuite>")
    return "\n".join((*lines, "</testsuites>")) + "\n"


def _case_lines(case: Case, suite: str) -> Iterator[str]:
    head = f"    <testcase name={attribute(case.name)} classname={attribute(suite)}"
    if not (case.skipped or case.failures or case.notes):
        yield f"{head}/>"
        return
    yield f"{head}>"
    if case.skipped:
        yield f"      <skipped>{content(case.skipped)}</skipped>"
    for item in case.failures:
        kind, message = attribute(item.severity.value), attribute(item.message)
        yield f"      <failure type={kind} message={message}>{_finding_text(item)}</failure>"
    if case.notes:
        yield f"      <system-out>{'&#10;'.join(map(_finding_text, case.notes))}</system-out>"
    yield "    </testcase>"


def _finding_text(item: Diagnostic) -> str:
    """Place, severity and message, as in the text report, and what to do."""
    lines = [f"{item.primary.span}: {item.severity} {item.code} {item.name}: {item.message}"]
    lines += [f"see {place.span}: {place.note or ''}".rstrip(": ") for place in item.related]
    lines += f"help: {item.help}".split("\n") if item.help else []
    return "&#10;".join(map(content, lines))
