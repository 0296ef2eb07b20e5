"""What a change allows itself: all below `policies/`, and the files that run or decide the check.

What lets more pass is judged where `check --policies-from` judges it. The same questions asked the other way round
say what lets less pass than before.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import OwnLeave, SelfGrant
from poolsmith.change.review.widened_admission import widened_admission
from poolsmith.change.review.widened_grants import widened_grants
from poolsmith.change.review.widened_settings import widened_enforcement, widened_rules, widened_waivers
from poolsmith.change.review.widened_supply import widened_supply
from poolsmith.core.diagnostics import Severity, whole_file
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.core.sources.nested import value_at
from poolsmith.guard.policies.files import ENFORCEMENT, POLICIES, RULES, SUPPLY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.change.review.widening import Widening
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.policies.policies import Policies

    Question = Callable[[Policies, Policies], Iterator[Widening]]

_QUESTIONS: tuple[tuple[OwnLeave, Question], ...] = (
    (OwnLeave.GRANT, widened_grants),
    (OwnLeave.ENFORCEMENT, widened_enforcement),
    (OwnLeave.WAIVER, widened_waivers),
    (OwnLeave.RULE_SETTING, widened_rules),
    (OwnLeave.ADMISSION, widened_admission),
    (OwnLeave.SOURCE, widened_supply),
)
_WHOLE = {OwnLeave.ENFORCEMENT: ENFORCEMENT, OwnLeave.RULE_SETTING: RULES, OwnLeave.SOURCE: SUPPLY}


def self_grants(base: Policies, head: Policies, judge_changes: Iterable[Diagnostic]) -> tuple[SelfGrant, ...]:
    """What widens first, each in the order of OwnLeave. `judge_changes` are findings on files that judge."""
    wider = [*_widened(base, head), *_of_judges(judge_changes)]
    found = [*wider, *_narrowed(base, head, {(item.kind, item.subject) for item in wider})]
    order = list(OwnLeave)
    return tuple(sorted(found, key=lambda item: (not item.widens, order.index(item.kind), item.subject, item.what)))


def _widened(base: Policies, head: Policies) -> Iterator[SelfGrant]:
    for kind, question in _QUESTIONS:
        for item in question(base, head):
            yield SelfGrant(kind=kind, subject=item.subject, what=item.what, widens=True, place=item.place)


def _of_judges(findings: Iterable[Diagnostic]) -> Iterator[SelfGrant]:
    """Files that decide nothing are no leave."""
    for item in findings:
        if item.severity is not Severity.NOTE:
            yield SelfGrant(
                kind=OwnLeave.JUDGE, subject=item.subject, what=item.message, widens=True, place=item.primary
            )


def _narrowed(base: Policies, head: Policies, wider: set[tuple[OwnLeave, str]]) -> Iterator[SelfGrant]:
    """Once for each subject. Of what is merely another, only that it may let more pass is told; a grant can do both."""
    for kind, question in _QUESTIONS:
        before, after = _subjects(kind, base), _subjects(kind, head)
        for subject in dict.fromkeys(item.subject for item in question(head, base)):
            if (kind, subject) in wider and kind is not OwnLeave.GRANT:
                continue
            if kind in _WHOLE or (subject in before and subject in after):
                how = "lets less pass than before"
            else:
                how = "is gone" if subject in before else "is new: what it refuses no longer passes"
            path = _WHOLE.get(kind) or after.get(subject) or before.get(subject) or POLICIES
            what = f"{kind} `{shorten(subject)}` {how}"
            yield SelfGrant(kind=kind, subject=subject, what=what, widens=False, place=whole_file(path))


def _subjects(kind: OwnLeave, policies: Policies) -> dict[str, str]:
    """Files by what they have leave for."""
    if kind is OwnLeave.GRANT:
        return {item.grant.name: item.file.path for item in policies.grants[0]}
    if kind is OwnLeave.WAIVER:
        return {item.rule.name: item.place.span.path for item in policies.waivers[0]}
    if kind is OwnLeave.ADMISSION:
        return {_name(body): file.path for file in policies.admission[0] for body in file.documents}
    return {}


def _name(body: Any) -> str:
    return str(value_at(body, ("metadata", "name"), ""))
