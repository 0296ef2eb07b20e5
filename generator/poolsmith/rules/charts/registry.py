"""The rules over installations of charts, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.rules.charts import floating_version, kata_deploy_values, operator_twice_by_one_set

if TYPE_CHECKING:
    from poolsmith.diagnostics import Location
    from poolsmith.diagnostics.rule_engine import Rule
    from poolsmith.repository.installations import Installation

CHART_RULES: tuple[Rule[tuple[Installation, ...], Location], ...] = (
    floating_version,
    kata_deploy_values,
    operator_twice_by_one_set,
)
