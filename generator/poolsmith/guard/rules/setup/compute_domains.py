"""ComputeDomains that nothing serves where they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes.gpu_use import COMPUTE_DOMAIN
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = COMPUTE_DOMAIN
NEEDS = ()
_CLAIMS, _SWITCH = "gpuCluster.deployCR", "draDriver.computeDomains.enabled"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    domains = view.of_kind("ComputeDomain", "resource.nvidia.com")
    switches = tuple(_switches(view)) if domains else ()
    if not domains or any(is_on is not False for _, is_on in switches):
        return
    is_alone = view.values is None or view.values.partial
    for item in domains if switches or not is_alone else ():
        turned_off = f"`{switches[0][0]}` is false" if switches else "the operator here brings no DRA driver"
        yield Finding(
            message=f"{item.name} stays not ready: {turned_off}, and nothing else here serves ComputeDomains",
            place=item.place("/metadata/name"),
            help="turn it on, or remove the object"
            if switches
            else f"install the DRA driver's own chart (`{DRA_DRIVER_CHARTS[-1]}`) beside it, with "
            "`resources.gpus.enabled=false`; if somebody else does, there is nothing to do",
            severity=Severity.WARNING if switches else Severity.NOTE,
            subject=item.name,
        )


def _switches(view: SetupView) -> Iterator[tuple[str, Any]]:
    """What may serve them here, and whether it does: None where nothing says it, which is on by default."""
    if view.flag(_CLAIMS) is True:
        yield _SWITCH, view.flag(_SWITCH)
    for item in view.of_kind("GPUCluster", "nvidia.com"):
        yield f"spec.{_SWITCH}", value_at(item.spec, _SWITCH.split("."))
    for _, chart in view.installed_charts():
        if chart.name in DRA_DRIVER_CHARTS:
            yield "resources.computeDomains.enabled", value_at(chart.values, ("resources", "computeDomains", "enabled"))
