"""A project that keeps no grants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import RuleInfo, Severity, whole_file
from poolsmith.diagnostics.finding import Finding
from poolsmith.diagnostics.listing import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Location
    from poolsmith.ledger.grants.review import GrantReview

FOLDER = "policies/privileges"
RULE = RuleInfo(
    code="PSM416",
    name="no-grants",
    severity=Severity.NOTE,
    applies_to="policy",
    what="There is no folder `policies/privileges/`, so no line of any ledger is held against what is allowed.",
    why="The ledger tells what there is; without grants nobody has said that it may be there, and a pull request may "
    "add to it freely.",
    fix="`poolsmith grants --write` writes what is held today, for review",
    references=("docs/grants.md",),
)


def check(review: GrantReview) -> Iterator[Finding[Location]]:
    lines = review.use.use.lines
    if not review.are_kept and lines:
        yield Finding(
            message=f"{counted(lines, 'line')} of ledgers are reviewed by nobody: there is no folder `{FOLDER}`",
            place=whole_file(FOLDER),
            subject=FOLDER,
        )
