"""A driver that changes with the chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.values.effective_values import is_off, uses_driver_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM290")
_VERSION = ("driver", "version")
_UPGRADES = ("driver", "upgradePolicy", "autoUpgrade")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    decides_upgrades = document.get(_UPGRADES) is True
    if document.partial or document.is_set(_VERSION) or is_off(document, "driver.enabled"):
        return
    if not decides_upgrades and document.get(("driver", "enabled")) is not True:
        return
    if uses_driver_objects(document) and is_off(document, "driver.nvidiaDriverCRD.deployDefaultCR"):
        return  # each object has its own
    tag = document.release.tag
    default = image_default("driver.version", tag)
    if default is None:
        return
    replaced = ", and the operator replaces it on all nodes by itself" if decides_upgrades else ""
    yield Finding(
        place=_UPGRADES if decides_upgrades else ("driver", "enabled"),
        message=f"`driver.version` is not set: the driver is the chart's, {default} in {tag}, and changes "
        f"with it{replaced}",
        help=f'write `driver.version: "{default}"`, if this one is meant',
        severity=Severity.WARNING if decides_upgrades else None,
    )
