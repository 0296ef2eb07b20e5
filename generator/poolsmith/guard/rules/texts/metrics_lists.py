"""Lists of metrics for dcgm-exporter, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo.of("PSM334")


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    for item in texts:
        if item.shape is Shape.METRICS:
            from poolsmith.gpu.values.metrics_list import metric_mistakes  # on demand

            yield from item.told(metric_mistakes(item.text or "", item.version))
