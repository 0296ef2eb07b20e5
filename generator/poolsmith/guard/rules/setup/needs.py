"""Runs the rules over one cluster's setup, and counts those that lack what they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from poolsmith.core.diagnostics import Location
from poolsmith.core.diagnostics.rule_engine import Rule, run_rules
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.rules.setup.view import SetupView


class SetupRule(Rule["SetupView", Location], Protocol):
    """What must be known for a rule stands in it: `nodes`, `values`, `release`.

    Without one of its `NEEDS` the rule is not run, and counted. Where a module has `PARTLY_NEEDS`, it says less without
    one of these, and is counted as well.
    """

    @property
    def NEEDS(self) -> tuple[str, ...]: ...  # noqa: N802 - a constant of the module


@record(kw_only=False)
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
            diagnostics.extend(run_rules((rule,), view, view.cluster))
    view.made.clear()  # it points back to the view, and would keep the whole cluster in memory
    return SetupResult(tuple(diagnostics), tuple(lacking))
