"""The rules over descriptions of nodes, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.rules.templates import template_label_values

if TYPE_CHECKING:
    from poolsmith.diagnostics import Location
    from poolsmith.diagnostics.rule_engine import Rule
    from poolsmith.rules.templates.view import LabelledNodes

TEMPLATE_RULES: tuple[Rule[tuple[LabelledNodes, ...], Location], ...] = (template_label_values,)
