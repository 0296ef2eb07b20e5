"""A driver of a branch that gets no fixes any more, or that nobody publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.codes.support import COMPARE, MOVE
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.limits import limits
from poolsmith.gpu.drivers.driver_image import branch_of
from poolsmith.gpu.values.effective_values import is_off

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM338")
_VERSION = ("driver", "version")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    version = document.get(_VERSION) if not is_off(document, "driver.enabled") else None
    branch = branch_of(version) if isinstance(version, str) else None
    if (unlikely := limits().unlikely(branch)) is not None:
        yield Finding(place=_VERSION, message=unlikely, help=COMPARE)
    elif (ended := limits().ended(branch)) is not None:
        yield Finding(place=_VERSION, message=ended, help=MOVE, severity=Severity.NOTE)
