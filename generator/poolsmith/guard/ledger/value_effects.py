"""What each value of the user brings about: the lines of the ledger that are gone without it.

The exact way to an origin, for values that no table can foresee; what follows from profiles has its table.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import copied
from poolsmith.fleet.operands.install import InstallationInput, install
from poolsmith.guard.ledger.build import installed_ledger
from poolsmith.guard.ledger.ledger import line_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.operands.chart.operator_part import ChartParts
    from poolsmith.fleet.plan.plan import ValuePath
    from poolsmith.guard.ledger.ledger import Ledger, LineIdentity

MOST = 24
"""Values that are taken away one by one; of more, all of a component are taken away together."""

Effects = dict["ValuePath", frozenset["LineIdentity"]]


def value_effects(given: InstallationInput, ledger: Ledger, paths: Iterable[ValuePath], charts: ChartParts) -> Effects:
    """By value path. Where nothing could be installed without a value, nobody knows what it brings: nothing is told."""
    asked = tuple(dict.fromkeys(paths))
    if len(asked) > MOST:
        asked = tuple(dict.fromkeys(path[:1] for path in asked))
    have = {line_order(line) for line in ledger.lines}
    effects: Effects = {}
    for path in asked:
        without = install(replace(given, values=without_value(given.values, path)), charts)
        if without.errors:
            continue
        rest = installed_ledger(without)
        effects[path] = frozenset(have.difference(line_order(line) for line in rest.lines))
    return effects


def without_value(values: dict[str, Any], path: ValuePath) -> dict[str, Any]:
    """The values but for the one at a path that they have."""
    result: dict[str, Any] = copied(values)
    block = result
    for key in path[:-1]:
        block = block[key]
    block.pop(path[-1], None)
    return result
