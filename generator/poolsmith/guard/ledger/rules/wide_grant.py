"""A granted privilege that says more than anything needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.ledger.grants.grant import written_privileges
from poolsmith.guard.ledger.ledger_view import FEW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.ledger.grants.grant_use import GrantReview

RULE = RuleInfo.of("PSM414")


def check(review: GrantReview) -> Iterator[Finding[Location]]:
    if not review.complete:
        return
    use = review.use.use
    for index, loaded in review.numbered():
        for token, (entry, privilege) in enumerate(loaded.grant.tokens):
            needed = use.wider.get((index, token))
            if needed is None or (index, token) in use.exact:
                continue
            narrower = written_privileges(needed)
            yield Finding(
                message=f"grant `{loaded.grant.name}` allows `{privilege}`, and all that is needed of it is "
                + listed(narrower, FEW),
                place=loaded.file.locate(f"/spec/privileges/{entry}"),
                subject=loaded.grant.name,
                help=f"write {listed(narrower, FEW)} instead",
            )
