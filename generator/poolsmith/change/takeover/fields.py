"""Which field of a profile holds which value of the chart.

A row proposes; whether it holds is seen when the profiles are generated and compared with what is installed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.nested import value_at
from poolsmith.fleet.plan.upgrade_policies import policy_fields
from poolsmith.fleet.profiles.driver import UpgradePolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.change.takeover.effective import Path

_FULL = re.compile(r"\d{1,4}(\.\d{1,6}){1,3}(-[A-Za-z0-9][A-Za-z0-9._-]{0,40})?")
_BRANCH = re.compile(r"\d{3,4}")


@record(kw_only=False)
class Row:
    """`value` of the chart becomes `field` of every pool, or of the cluster; None of a value that it can't hold."""

    value: Path
    field: Path
    of_cluster: bool = False
    convert: Callable[[Any], Any] = lambda value: value


def _true(value: Any) -> bool | None:
    return True if value is True else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _amount(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _open(value: Any) -> str | None:
    return "open" if value is True else None


def _external(value: Any) -> str | None:
    return "external" if value is False else None


_POLICY = ("driver", "upgradePolicy")
_ROWS = (
    Row(("nfd", "enabled"), ("nfd", "provider"), True, _external),
    Row(("driver", "repository"), ("driver", "repository"), False, _text),
    Row(("driver", "kernelModuleType"), ("driver", "kernelModuleType"), False, _text),
    Row(("driver", "useOpenKernelModules"), ("driver", "kernelModuleType"), False, _open),
    Row(("driver", "rdma", "enabled"), ("driver", "rdma"), False, _true),
    Row(("driver", "rdma", "useHostMofed"), ("driver", "useHostMofed"), False, _true),
    Row(("gds", "enabled"), ("driver", "gds"), False, _true),
    Row(("gdrcopy", "enabled"), ("driver", "gdrcopy"), False, _true),
    Row(("hostPaths", "driverInstallDir"), ("driver", "installDir"), False, _text),
    Row(("driver", "licensingConfig", "secretName"), ("driver", "vgpu", "licensingSecret"), False, _text),
    Row(("driver", "licensingConfig", "configMapName"), ("driver", "vgpu", "licensingConfigMap"), False, _text),
    Row((*_POLICY, "autoUpgrade"), (*_POLICY, "autoUpgrade"), False, _flag),
    Row((*_POLICY, "maxParallelUpgrades"), (*_POLICY, "maxParallelUpgrades"), False, _number),
    Row((*_POLICY, "maxUnavailable"), (*_POLICY, "maxUnavailable"), False, _amount),
    Row((*_POLICY, "waitForCompletion", "podSelector"), (*_POLICY, "waitForCompletion", "podSelector"), False, _text),
    *(
        Row((*_POLICY, there, name), (*_POLICY, here, name), False, kind)
        for there, here in (("gpuPodDeletion", "podDeletion"), ("drain", "drain"))
        for name, kind in (("force", _flag), ("deleteEmptyDir", _flag), ("timeoutSeconds", _number))
    ),
    Row((*_POLICY, "drain", "enable"), (*_POLICY, "drain", "enable"), False, _flag),
    Row((*_POLICY, "drain", "podSelector"), (*_POLICY, "drain", "podSelector"), False, _text),
)
_WAIT = (*_POLICY, "waitForCompletion")


@record(kw_only=False)
class Proposed:
    """A value for a field of the profiles."""

    value: Path
    field: Path
    content: Any
    of_cluster: bool = False
    also: tuple[tuple[Path, Any], ...] = ()
    """Fields without which a plan refuses this one; nothing is generated of them alone."""


_BESIDE: dict[Path, tuple[tuple[Path, Any], ...]] = {("driver", "rdma"): ((("nic",), "mellanox"),)}


def proposed_fields(wanted: dict[str, Any], default: Callable[[Path], Any]) -> Iterator[Proposed]:
    """`wanted` are the values that hold today, defaults among them; what comes to the same by itself is left out."""
    yield from _driver_source(wanted)
    ours = policy_fields(UpgradePolicy())
    for row in _ROWS:
        value = value_at(wanted, row.value)
        by_itself = value_at(ours, row.field[2:]) if row.field[:2] == _POLICY else default(row.value)
        if value is None or value == by_itself:
            continue
        content = row.convert(value)
        if content is not None:
            yield Proposed(row.value, row.field, content, row.of_cluster, _BESIDE.get(row.field, ()))
    selector, timeout = (value_at(wanted, (*_WAIT, key)) for key in ("podSelector", "timeoutSeconds"))
    if selector and isinstance(timeout, int) and timeout:
        yield Proposed((*_WAIT, "timeoutSeconds"), (*_WAIT, "timeoutSeconds"), timeout)


def proposed_of_driver(spec: Mapping[str, Any], default: Callable[[Path], Any]) -> Iterator[Proposed]:
    """Of an NVIDIADriver, whose fields are named like the values below `driver`."""
    driver = {key: value for key, value in spec.items() if key not in ("gds", "gdrcopy")}
    licence = driver.get("licensingConfig")
    if isinstance(licence, dict) and "name" in licence:
        driver["licensingConfig"] = {**licence, "configMapName": licence["name"]}
    policy = driver.get("upgradePolicy")
    if isinstance(policy, dict) and "podDeletion" in policy:
        driver["upgradePolicy"] = {**policy, "gpuPodDeletion": policy["podDeletion"]}
    wanted = {"driver": driver, "gds": spec.get("gds"), "gdrcopy": spec.get("gdrcopy")}
    yield from proposed_fields(wanted, default)
    taints = [taint for taint in map(_taint, spec.get("tolerations") or ()) if taint is not None]
    if taints:
        yield Proposed(("driver", "tolerations"), ("nodes", "taints"), taints)


def _taint(toleration: Any) -> dict[str, str] | None:
    """What a toleration is there for; None of one that is for many taints."""
    if not isinstance(toleration, dict) or not toleration.get("key") or not toleration.get("effect"):
        return None
    value = {"value": str(toleration["value"])} if toleration.get("value") else {}
    return {"key": str(toleration["key"]), **value, "effect": str(toleration["effect"])}


def _driver_source(wanted: dict[str, Any]) -> Iterator[Proposed]:
    source = ("driver", "source")
    if value_at(wanted, ("driver", "enabled")) is False:
        yield Proposed(("driver", "enabled"), source, "preinstalled")
    else:
        precompiled = value_at(wanted, ("driver", "usePrecompiled")) is True
        yield Proposed(("driver", "usePrecompiled"), source, "precompiled" if precompiled else "container")
        version = value_at(wanted, ("driver", "version"))
        fits = _BRANCH if precompiled else _FULL
        if isinstance(version, str | int) and fits.fullmatch(str(version)):
            yield Proposed(("driver", "version"), ("driver", "version"), str(version))
        yield Proposed(("driver", "upgradePolicy"), ("driver", "upgradePolicy"), {})
    if value_at(wanted, ("toolkit", "enabled")) is False:
        yield Proposed(("toolkit", "enabled"), ("toolkit", "source"), "preinstalled")
