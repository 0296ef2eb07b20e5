"""A grant that does not say why, who answers for it, or until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.diagnostics import RuleInfo, Severity
from poolsmith.diagnostics.finding import Finding
from poolsmith.diagnostics.listing import listed
from poolsmith.shape.review import is_placeholder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Location
    from poolsmith.ledger.grants.review import GrantReview

RULE = RuleInfo(
    code="PSM415",
    name="grant-without-reason",
    severity=Severity.ERROR,
    applies_to="policy",
    what="`reason`, `owner` or `expires` of a grant is missing, empty, or a word that stands in for one, like TODO.",
    why="A permission that nobody can explain is not reviewed, and one that nobody answers for is never taken back.",
    fix="say what the privileges are needed for, which team answers for it, and by when it is looked at again",
    bad='reason: TODO\nowner: ""\n',
    good="reason: Loads the kernel modules of the driver.\nowner: gpu-platform\nexpires: 2027-06-30\n",
    references=("docs/grants.md",),
)
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
