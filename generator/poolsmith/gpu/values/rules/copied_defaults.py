"""A values file that repeats the chart's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM328")
_EQUAL = 0.6


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if not document.is_copy:
        return
    declared = document.release.leaves
    set_here = document.leaf_paths & declared
    message = f"{len(set_here)} of the {len(declared)} values that the chart's own file sets are set here"
    defaults = document.release.defaults
    if defaults is not None:
        equal = sum(
            value_at(document.values, path) == value_at(defaults, path) for path in (key.split(".") for key in set_here)
        )
        if equal < _EQUAL * len(set_here):
            return
        message += f", {equal} of them to the same"
    yield Finding(place=(), message=message)
