"""The rules over descriptions of nodes, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.templates import template_label_values

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.guard.rules.templates.view import LabelledNodes

TEMPLATE_RULES: tuple[Rule[tuple[LabelledNodes, ...], Location], ...] = (template_label_values,)
