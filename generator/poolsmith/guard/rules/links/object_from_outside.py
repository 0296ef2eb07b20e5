"""ConfigMaps that fields of the operator name, and that nothing which reaches its cluster makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.guard.rules.links.name_needs import needs_of_operator, state_of
from poolsmith.guard.rules.names.messages import outside
from poolsmith.guard.rules.names.need import State, Verdict
from poolsmith.guard.rules.setup import object_of_nobody

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = object_of_nobody.RULE


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for need in needs_of_operator(view) if view.is_whole else ():
        is_told = need.kind == "ConfigMap" or view.external is not None
        if is_told and state_of(view, need) is State.OUTSIDE:
            yield outside(Verdict(need, State.OUTSIDE), Severity.NOTE)
