"""Pools whose nodes nothing makes, where the profile says what should."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourView

RULE = RuleInfo.of("PSM805")
_IN_FILES = ("karpenter", "cluster-api", "talos")
"""Node groups of clouds are made in too many ways: what is in no file here may be elsewhere."""


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    if not view.is_named:
        return
    matched = {
        pool.name
        for match in view.matches
        for pool in (match.pool, match.named)
        if pool is not None and not match.template.announces
    }
    for pool in view.pools:
        given = pool.nodes.provisioned_by
        if given is None or given.tool.value not in _IN_FILES or pool.name in matched:
            continue
        name = given.name or pool.name
        yield Finding(
            message=f"the nodes of pool `{pool.name}` are made by {given.tool} (`{name}`), and no file that `beside` "
            "names describes them",
            place=pool.place("/spec/nodes/provisionedBy"),
        )
