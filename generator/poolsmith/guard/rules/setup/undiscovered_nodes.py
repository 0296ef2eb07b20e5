"""Taints of GPU nodes that the worker of Node Feature Discovery does not tolerate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.setup.setup_view import named
from poolsmith.guard.rules.setup.taint_gaps import Bearer, taint_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM271")
NEEDS = ("nodes", "values")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for gap in taint_gaps(view):
        if gap.bearer is Bearer.WORKER and gap.near is None:
            yield Finding(
                message=f"{gap.what} can't run on {named(gap.nodes)}: nothing tolerates the taint `{gap.shown}`, so "
                "the operator never sees a GPU there",
                place=gap.location,
                help=gap.advice,
                related=gap.taint_places,
            )
