"""What a change would let pass that its base does not: an error for each, unless somebody has accepted just that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.review.widened_admission import widened_admission
from poolsmith.change.review.widened_grants import widened_grants
from poolsmith.change.review.widened_settings import (
    widened_enforcement,
    widened_external,
    widened_rules,
    widened_supply,
    widened_waivers,
)
from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose, whole_file
from poolsmith.core.diagnostics.codes.change import POLICY_WIDENING
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.guard.policies.policy_files import POLICIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.guard.policies.policies import Policies

_QUESTIONS = (
    widened_grants,
    widened_waivers,
    widened_rules,
    widened_enforcement,
    widened_supply,
    widened_external,
    widened_admission,
)
_MOST_REPORTED = 200


def policy_widening(base: Policies, head: Policies, *, is_accepted: bool) -> Iterator[Diagnostic]:
    """Accepted ones are notes: they are listed all the same."""
    severity = Severity.NOTE if is_accepted else None
    found = [item for question in _QUESTIONS for item in question(base, head)]
    for item in found[:_MOST_REPORTED]:
        yield diagnose(POLICY_WIDENING, item.what, item.place, subject=item.subject, severity=severity)
    if rest := found[_MOST_REPORTED:]:
        message = f"{counted(len(rest), 'thing')} more would newly pass"
        yield diagnose(POLICY_WIDENING, message, whole_file(POLICIES), subject=POLICIES, severity=severity)
