"""A grant whose last day is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant_use import GrantReview

RULE = RuleInfo.of("PSM412")


def check(review: GrantReview) -> Iterator[Finding[Location]]:
    for loaded in review.grants:
        last_day = loaded.grant.last_day
        if last_day is not None and review.today > last_day:
            yield Finding(
                message=f"grant `{loaded.grant.name}` was valid until {last_day}",
                place=loaded.file.locate("/spec/expires"),
                subject=loaded.grant.name,
            )
