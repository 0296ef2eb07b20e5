"""ConfigMaps that fields of the operator name, and that nothing which reaches its cluster makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.links.name_needs import needs_of_operator
from poolsmith.guard.rules.links.needs_from_outside import from_outside
from poolsmith.guard.rules.setup import object_of_nobody

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = object_of_nobody.RULE


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from from_outside(view, needs_of_operator(view), kinds=("ConfigMap",)) if view.is_whole else ()
