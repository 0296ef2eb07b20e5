"""A grant that does not say why, who answers for it, or until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.shape.review import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant_use import GrantReview

RULE = RuleInfo.of("PSM415")
_FIELDS = ("reason", "owner", "expires")


def check(review: GrantReview) -> Iterator[Finding[Location]]:
    for loaded in review.grants:
        missing = [field for field in _FIELDS if is_placeholder(getattr(loaded.grant.spec, field))]
        if missing:
            yield Finding(
                message=f"grant `{loaded.grant.name}` says nothing in {listed(missing)}",
                place=loaded.file.locate(f"/spec/{missing[0]}"),
                subject=loaded.grant.name,
            )
