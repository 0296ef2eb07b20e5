"""A driver of a branch that gets no fixes any more, or that nobody publishes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.codes.support import COMPARE, MOVE, SUPPORT_ENDED
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.limits import limits
from poolsmith.gpu.drivers.driver_image import branch_of
from poolsmith.gpu.values.effective_values import is_off

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo(
    code="PSM338",
    name="driver-branch",
    severity=Severity.WARNING,
    applies_to="values",
    what="Helm values, a ClusterPolicy or an NVIDIADriver pin a driver of a branch that is none. A note where "
    "support of the branch has ended, as of the day that the catalog says.",
    why="There is no image of the first, and driver pods wait for it. Nobody mends the second any more.",
    fix="compare the version with the vendor's list of drivers",
    bad="driver: {version: 999.1.2}\n",
    good="driver: {version: 580.126.20}\n",
    symptom="`ImagePullBackOff` of the driver on every node: no tag of the image begins so",
    references=SUPPORT_ENDED.references[1:],
)
_VERSION = ("driver", "version")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    version = document.get(_VERSION) if not is_off(document, "driver.enabled") else None
    branch = branch_of(version) if isinstance(version, str) else None
    if (unlikely := limits().unlikely(branch)) is not None:
        yield Finding(place=_VERSION, message=unlikely, help=COMPARE)
    elif (ended := limits().ended(branch)) is not None:
        yield Finding(place=_VERSION, message=ended, help=MOVE, severity=Severity.NOTE)
