"""A grant whose last day is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant_use import GrantReview

RULE = RuleInfo(
    code="PSM412",
    name="expired-grant",
    severity=Severity.ERROR,
    applies_to="policy",
    what="The last day of a grant has passed. The generated files do not change: the grant still allows what it "
    "allowed, until somebody decides.",
    why="Somebody wanted a review by that day, and it did not happen.",
    fix="review it: delete the grant, or give it a new day in `expires`",
    bad='expires: "2020-06-30"\n',
    good='expires: "2027-06-30"\n',
    references=("docs/grants.md",),
)


def check(review: GrantReview) -> Iterator[Finding[Location]]:
    for loaded in review.grants:
        last_day = loaded.grant.last_day
        if last_day is not None and review.today > last_day:
            yield Finding(
                message=f"grant `{loaded.grant.name}` was valid until {last_day}",
                place=loaded.file.locate("/spec/expires"),
                subject=loaded.grant.name,
            )
