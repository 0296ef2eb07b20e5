"""Privileged pods that operands start by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import joined
from poolsmith.fleet.operands.expansion import Maker
from poolsmith.guard.ledger.ledger_view import FEW
from poolsmith.guard.ledger.privilege import privilege

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.ledger.ledger_view import PrivilegeView

RULE = RuleInfo.of("PSM402")
PRIVILEGED = privilege("privileged")


def check(view: PrivilegeView) -> Iterator[Finding[Location]]:
    children = [item for item in view.workloads if item.maker == Maker.OPERAND and item.held(PRIVILEGED)]
    if not children:
        return
    pods = [f"{item.shown}, by `{item.through.rpartition('/')[2]}`" for item in children]
    yield view.finding(
        message=f"operands of `{view.cluster}` start privileged pods that no manifest shows: {joined(pods, FEW)}",
        line=view.nearest_line(children[0]),
        related=tuple((view.nearest_line(item), f"brings {item.shown}") for item in children[:FEW]),
    )
