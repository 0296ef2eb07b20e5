"""Templates that put nodes into a pool which no profile describes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourView

RULE = RuleInfo.of("PSM803")


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    values = sorted(pool.plan.label_value for pool in view.pools)
    for match in view.matches:
        for mark in (*match.template.labels, *match.template.choices):
            if mark.key == view.pool_label and mark.value is not None and mark.value not in values:
                yield Finding(
                    message=f"{match.template.title} gives its nodes `{mark.key}: {mark.value}`, and no pool of "
                    f"cluster `{view.plan.name}` has this label value",
                    place=match.template.at(mark.pointer),
                    help=did_you_mean(mark.value, values)
                    if match.named is None
                    else f"write `{match.named.plan.label_value}`, the value of pool `{match.named.name}`, which has "
                    "this name",
                )
