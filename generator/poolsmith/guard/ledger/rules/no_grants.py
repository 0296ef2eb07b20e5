"""A project that keeps no grants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, whole_file
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant_use import GrantReview

FOLDER = "policies/privileges"
RULE = RuleInfo.of("PSM416")


def check(review: GrantReview) -> Iterator[Finding[Location]]:
    lines = review.use.use.lines
    if not review.are_kept and lines:
        yield Finding(
            message=f"{counted(lines, 'line')} of ledgers have not been reviewed: there is no folder `{FOLDER}`",
            place=whole_file(FOLDER),
            subject=FOLDER,
        )
