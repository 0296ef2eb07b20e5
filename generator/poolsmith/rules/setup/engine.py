"""Runs the rules over one cluster's setup, and counts those that lack what they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from poolsmith.diagnostics import Diagnostic, RuleInfo, Severity, diagnose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.diagnostics import Location
    from poolsmith.rules.setup.view import SetupView

MOST_OF_ONE_RULE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupFinding:
    """What a rule yields: a message and its place; the engine adds code and severity."""

    message: str
    location: Location
    help: str | None = None
    related: tuple[Location, ...] = ()
    severity: Severity | None = None
    subject: str = ""


class SetupRule(Protocol):
    """A module of this folder: its entry in the code book, what must be known for it, and one generator function.

    `NEEDS` holds `nodes`, `values`, `release`: without one of them the rule is not run, and counted. Where a
    module has `PARTLY_NEEDS`, it says less without one of these, and is counted as well.
    """

    RULE: RuleInfo

    @property
    def NEEDS(self) -> tuple[str, ...]: ...  # noqa: N802 - a constant of the module

    def check(self, view: SetupView) -> Iterator[SetupFinding]: ...


@dataclass(frozen=True, slots=True)
class SetupResult:
    """`lacking` says for each rule that did not run, or not with all its parts, what was not known."""

    diagnostics: tuple[Diagnostic, ...] = ()
    lacking: tuple[tuple[str, ...], ...] = ()


def run_setup_rules(rules: Iterable[SetupRule], view: SetupView) -> SetupResult:
    diagnostics: list[Diagnostic] = []
    lacking: list[tuple[str, ...]] = []
    for rule in rules:
        missing = [need for need in rule.NEEDS if not view.has(need)]
        less = [need for need in getattr(rule, "PARTLY_NEEDS", ()) if not view.has(need)]
        if missing or less:
            lacking.append((*missing, *less))
        if not missing:
            diagnostics.extend(_bounded(rule, view))
    return SetupResult(tuple(diagnostics), tuple(lacking))


def _bounded(rule: SetupRule, view: SetupView) -> Iterator[Diagnostic]:
    """One rule that finds the same in thousands of objects must not hide all others."""
    hidden = 0
    last = None
    for number, finding in enumerate(rule.check(view)):
        if number < MOST_OF_ONE_RULE:
            last = _diagnostic(rule.RULE, finding, view)
            yield last
        else:
            hidden += 1
    if hidden and last is not None:
        message = f"{hidden:,} more findings of `{rule.RULE.name}` are not shown"
        yield diagnose(rule.RULE, message, last.primary, help="correct the ones above first", subject=view.cluster)


def _diagnostic(rule: RuleInfo, finding: SetupFinding, view: SetupView) -> Diagnostic:
    return diagnose(
        rule,
        finding.message,
        finding.location,
        help=finding.help,
        subject=finding.subject or view.cluster,
        related=finding.related,
        severity=finding.severity,
    )
