"""The rules over installations of charts, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.charts import floating_version, kata_deploy_values, operator_twice_by_one_set

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.kubernetes.repository.installations import Installation

CHART_RULES: tuple[Rule[tuple[Installation, ...], Location], ...] = (
    floating_version,
    kata_deploy_values,
    operator_twice_by_one_set,
)
