"""The rules over installations of charts and over descriptions of nodes, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.charts import (
    chart_issue,
    dra_driver_gates,
    floating_version,
    left_out_of_chart,
    missing_values_file,
    operator_twice_by_one_set,
    subchart_off,
    value_as_template,
)
from poolsmith.guard.rules.templates import template_label_values

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.guard.rules.templates.labelled_nodes import LabelledNodes
    from poolsmith.kubernetes.repository.delivered import ChartInstallation


CHART_RULES: tuple[Rule[tuple[ChartInstallation, ...], Location], ...] = (
    chart_issue,
    dra_driver_gates,
    floating_version,
    left_out_of_chart,
    missing_values_file,
    operator_twice_by_one_set,
    subchart_off,
    value_as_template,
)


TEMPLATE_RULES: tuple[Rule[tuple[LabelledNodes, ...], Location], ...] = (template_label_values,)
