"""How the operator replaces drivers: undecided, or in a way that loses work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import dotted
from poolsmith.gpu.values.effective_values import is_off, is_on, uses_driver_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM291")
_POLICY = ("driver", "upgradePolicy")
_LOSES = {
    "force": "pods that no controller recreates are deleted",
    "deleteEmptyDir": "data in emptyDir volumes is lost",
}


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if is_off(document, "driver.enabled"):
        return
    upgrades = "driver.upgradePolicy.autoUpgrade"
    if is_off(document, upgrades):
        if document.get((*_POLICY, "drain", "enable")) is True:
            path = (*_POLICY, "drain", "enable")
            message = f"`{dotted(path)}` has no effect: `autoUpgrade` is off, so the operator upgrades nothing"
            yield Finding(place=path, message=message, help="turn `autoUpgrade` on, or remove it")
        return
    for section, switch in (("gpuPodDeletion", None), ("drain", "driver.upgradePolicy.drain.enable")):
        if switch is not None and not is_on(document, switch):
            continue
        for key, harm in _LOSES.items():
            path = (*_POLICY, section, key)
            if document.get(path) is True:
                message = f"`{dotted(path)}`: when the operator upgrades a driver, {harm}"
                yield Finding(place=path, message=message, help="remove it, or write `false`")
    yield from _at_once(document)
    yield from _undecided(document)


def _at_once(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    parallel, unavailable = (*_POLICY, "maxParallelUpgrades"), (*_POLICY, "maxUnavailable")
    if document.get(parallel) == 0 and document.effective(unavailable) in ("100%", None, ""):
        message = (
            f"`{dotted(parallel)}` is 0, which is no limit, and nothing else limits how many nodes are upgraded at once"
        )
        yield Finding(place=parallel, message=message, help="write how many nodes may go at once")


def _undecided(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    version = ("driver", "version")
    decided = (*_POLICY, "autoUpgrade")
    if document.partial or not document.get(version) or document.has(decided) or uses_driver_objects(document):
        return
    if is_on(document, "driver.upgradePolicy.autoUpgrade"):
        yield Finding(
            place=version,
            message="the version is pinned and `driver.upgradePolicy.autoUpgrade` is not decided: by the "
            "chart's default, a "
            "change of this line replaces the driver on all nodes",
            help="write `driver.upgradePolicy.autoUpgrade: true` or `false`",
            severity=Severity.NOTE,
        )
