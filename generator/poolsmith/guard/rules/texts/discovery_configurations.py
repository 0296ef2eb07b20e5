"""Configurations of Node Feature Discovery's worker and master, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.guard.rules.texts.stack_text import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo.of("PSM333")


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    from poolsmith.gpu.values.discovery_config import MASTER, WORKER, discovery_mistakes  # on demand

    components = {Shape.WORKER: WORKER, Shape.MASTER: MASTER}
    for item in texts:
        if item.shape in components:
            yield from item.told(discovery_mistakes(components[item.shape], item.data, item.version))
