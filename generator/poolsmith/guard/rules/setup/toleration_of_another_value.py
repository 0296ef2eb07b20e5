"""Tolerations with the key of a taint, and a value that the taint has not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.setup.setup_view import named
from poolsmith.guard.rules.setup.taint_gaps import taint_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM272")
NEEDS = ("nodes", "values")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for gap in taint_gaps(view):
        if gap.near is not None:
            yield Finding(
                message=f"{gap.what} can't run on {named(gap.nodes)}: the taint is `{gap.shown}`, and what is "
                f"tolerated is the value `{gap.near[1]}`",
                place=gap.location,
                help=f"write `{{key: {gap.taint['key']}, operator: Exists, effect: {gap.taint['effect']}}}`",
                related=gap.taint_places,
            )
