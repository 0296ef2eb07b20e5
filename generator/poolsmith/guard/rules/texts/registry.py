"""The rules over texts of the stack, listed by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.texts import (
    discovery_configurations,
    feature_rules,
    metrics_lists,
    mig_layouts,
    plugin_configurations,
    runtime_configurations,
)

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Rule
    from poolsmith.guard.rules.texts.stack_text import StackText

TEXT_RULES: tuple[Rule[tuple[StackText, ...], Location], ...] = (
    mig_layouts,
    plugin_configurations,
    discovery_configurations,
    feature_rules,
    metrics_lists,
    runtime_configurations,
)
TOLD_BEFORE = frozenset(("PSM152", "PSM275", "PSM278", "PSM325", "PSM540", "PSM541"))
"""Rules that know who reads a text: what they say of a line is not said twice."""
