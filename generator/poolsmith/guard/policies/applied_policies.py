"""A run's findings as this repository takes them: rules set, findings waived, nothing left unevaluated."""

from __future__ import annotations

import datetime as dt
from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, sorted_unique, whole_file
from poolsmith.core.diagnostics.codes.policy import NOT_EVALUATED, UNDECIDED_BY_POLICY
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.record import record

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.guard.policies.policies import Policies
    from poolsmith.guard.policies.revision import BaseRevision, MergedTree


POLICY_WIDENING = "policy-widening"
JUDGE_CHANGE = "judge-change"
ACCEPTABLE = (POLICY_WIDENING, JUDGE_CHANGE)
"""What somebody may accept of a change: that the policies allow more, and that other files run or decide the check."""
_FEW = 3


@record
class JudgingOptions:
    """How findings are judged: on which day, against which base, and whether all must be evaluated.

    The day is one of UTC. Without a base the project's own policies count. `accepted` are those of ACCEPTABLE that
    somebody who may do so has accepted of this change. `merged` is what the change would merge; None: the work tree.
    """

    today: dt.date = field(default_factory=lambda: dt.datetime.now(dt.UTC).date())
    base: BaseRevision | None = None
    strict: bool = False
    accepted: frozenset[str] = frozenset()
    merged: MergedTree | None = None

    @property
    def judged_by(self) -> Path | None:
        """The folder with the policies that judge."""
        return self.base.folder if self.base is not None else None


def with_policies(outcome: Outcome, policies: Policies, *, today: dt.date | None, complete: bool) -> Outcome:
    """The outcome with rule settings and waivers applied, and what is wrong with these.

    Only a `complete` run, over all clusters and all rules, can tell that a waiver is unused. Without a day nothing is
    said of waivers that are past theirs: what is generated does not depend on the day.
    """
    from poolsmith.guard.policies.rule_settings import apply_settings  # on demand
    from poolsmith.guard.policies.waivers import apply_waivers

    settings, problems = policies.settings
    waivers, more = policies.waivers
    found = (*outcome.diagnostics, *policies.files.problems, *problems, *more)
    kept, off = apply_settings(found, settings)
    judged = apply_waivers(kept, waivers, today=today, complete=complete)
    files = [path for path in (policies.files.rules, policies.files.waivers) if path is not None]
    return replace(
        outcome,
        diagnostics=sorted_unique(judged),
        skipped=(*outcome.skipped, *(_off(name, count) for name, count in sorted(off.items()))),
        checked=outcome.checked
        | ({"policy files": outcome.checked.get("policy files", 0) + len(files)} if files else {}),
    )


def strictly(outcome: Outcome) -> Outcome:
    """What was not evaluated is an error."""
    if not outcome.not_evaluated:
        return outcome
    return replace(outcome, diagnostics=sorted_unique((*outcome.diagnostics, _not_evaluated(outcome))))


def _off(name: str, count: int) -> Skipped:
    return Skipped(f"{counted(count, 'finding')} of {name}", "policies/rules.yaml turns the rule off")


def _not_evaluated(outcome: Outcome) -> Diagnostic:
    shown = "; ".join(f"{item.what}: {item.reason}" for item in outcome.skipped[:_FEW])
    rest = len(outcome.skipped) - _FEW
    more = f"; and {rest} more" if rest > 0 else ""
    undecided = sum(item.code == UNDECIDED_BY_POLICY.code for item in outcome.diagnostics)
    message = f"{counted(outcome.not_evaluated, 'thing')} could not be evaluated"
    message += f"; see the notes {UNDECIDED_BY_POLICY.name}" if undecided else ""
    message += f"; skipped: {shown}{more}" if shown else ""
    return diagnose(NOT_EVALUATED, message, whole_file("."))
