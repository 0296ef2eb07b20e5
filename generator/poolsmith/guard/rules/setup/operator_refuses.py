"""Values and custom resources for which the operator reports an error, each at the line that leads to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.compatibility import OPERATOR_ERROR
from poolsmith.core.diagnostics.masking import without_secrets
from poolsmith.core.diagnostics.message_text import cut, printable
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.configured import Configured, Leaf
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = OPERATOR_ERROR
NEEDS = ("release", "all")
_LONGEST = 240
_LEFT_TO_OTHERS = (" not found", "odeSelector", "multiple default NVIDIADrivers", "multiple NVIDIADrivers match")
"""A Secret or ConfigMap that somebody else may make; who serves a node, of which refused-driver-objects tells."""
_MOST = 8
"""The operator stops at the first error of each resource: what it would say next is seen without that line."""


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.is_generated:
        return  # profiles are told at their own lines
    from poolsmith.guard.rules.setup.configured import configured  # on demand

    made = configured(view)
    left: tuple[Leaf, ...] = ()
    asked: set[str] = set()
    while len(asked) < _MOST:
        outcome = made.outcome_without(*left) if made.parts else None
        error = next((item for item in outcome.errors if item not in asked), None) if outcome is not None else None
        if error is None:
            return
        asked.add(error)
        causes = _causes(made, left, error)
        if not causes and not made.is_huge:
            continue
        left = (*left, *causes[:1])
        if any(words in error for words in _LEFT_TO_OTHERS):
            continue
        places = [made.parts[leaf.part].at(leaf.steps) for leaf in causes] or [made.parts[0].at(())]
        if not view.is_told(*places):
            resource, _, words = error.partition(": ")
            yield Finding(
                message=f"the operator stops at {resource}: {cut(printable(without_secrets(words)), _LONGEST)}",
                place=places[0],
                help="correct this line, or remove it" if causes else "find what brings it about, and correct it",
            )


def _causes(made: Configured, left: tuple[Leaf, ...], error: str) -> list[Leaf]:
    """The leaves without which the operator does not say this; those that bring no other error come first."""
    from poolsmith.guard.rules.setup.configured import by_likelihood  # on demand

    before = made.outcome_without(*left)
    known = set(before.errors) if before is not None else set()

    def is_named(leaf: Leaf) -> bool:
        return str(leaf.value) in error

    alone: list[Leaf] = []
    others: list[Leaf] = []
    for leaf in by_likelihood(item for item in made.tried(is_named) if item not in left):
        after = made.outcome_without(*left, leaf)
        if after is not None and error not in after.errors:
            (alone if set(after.errors) <= known else others).append(leaf)
    return alone or others
