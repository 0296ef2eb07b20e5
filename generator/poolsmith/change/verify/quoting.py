"""What a cluster or a bundle says, made harmless before it is shown: people may write anything there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.printable import cut_inside, printable

if TYPE_CHECKING:
    from poolsmith.core.diagnostics.outcome import Outcome

_LONGEST = 1200
"""Letters of one message: four shown names of the longest that Kubernetes allows, and what is said of them."""


def harmless(outcome: Outcome) -> Outcome:
    """The same outcome with texts of one line, of a bounded length, without control characters and secrets."""
    return replace(
        outcome,
        diagnostics=tuple(
            replace(item, message=quoted(item.message), subject=quoted(item.subject)) for item in outcome.diagnostics
        ),
        skipped=tuple(replace(item, what=quoted(item.what), reason=quoted(item.reason)) for item in outcome.skipped),
        facts=tuple(map(quoted, outcome.facts)),
    )


def quoted(text: str) -> str:
    """Cut first: what is a megabyte long is not looked through."""
    return printable(masked(cut_inside(text, _LONGEST)))
