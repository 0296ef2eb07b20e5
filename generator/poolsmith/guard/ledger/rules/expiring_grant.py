"""A grant whose last day is near."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant_use import GrantReview

DAYS = "days"
RULE = RuleInfo.of("PSM413")


def check(review: GrantReview) -> Iterator[Finding[Location]]:
    for loaded in review.grants:
        last_day = loaded.grant.last_day
        if last_day is None:
            continue
        left = (last_day - review.today).days
        if 0 <= left <= review.expiring_days:
            yield Finding(
                message=f"grant `{loaded.grant.name}` is valid {_until(left)}, {last_day}",
                place=loaded.file.locate("/spec/expires"),
                subject=loaded.grant.name,
            )


def _until(days: int) -> str:
    return {0: "until today", 1: "until tomorrow"}.get(days, f"for {days} days more")
