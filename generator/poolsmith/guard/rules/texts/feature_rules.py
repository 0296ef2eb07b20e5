"""NodeFeatureRules and NodeFeatureGroups: rules that fail, match no node, or set what the master does not write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo.of("PSM336")


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.values.feature_rules import rule_mistakes  # on demand

    allowed = _allowed(texts)
    for item in texts:
        if item.shape is Shape.RULES:
            yield from item.told(rule_mistakes(item.data, item.version, allowed))


def _allowed(texts: tuple[StackText, ...]) -> frozenset[str]:
    """The namespaces that any master of the repository may write besides."""
    found: set[str] = set()
    for item in texts:
        if item.shape is Shape.MASTER and isinstance(item.data, dict):
            extra = item.data.get("extraLabelNs")
            found.update(map(str, extra if isinstance(extra, list) else str(extra or "").split(",")))
    return frozenset(found)
