"""What an NVIDIADriver asks for beside its driver, and the operator refuses.

Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go; the catalog, nvidia_driver: gdsNeedsOpenModules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.catalog.nvidia_drivers import read_nvidia_drivers
from poolsmith.catalog.versions import at_least
from poolsmith.diagnostics.finding import Finding
from poolsmith.sources.nested import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Location
    from poolsmith.rules.setup.driver_setup import DriverObject, DriverSetup
    from poolsmith.rules.setup.view import SetupView

_FEATURES = {"gds": "GPUDirect Storage", "gdrcopy": "GDRCopy"}
_OPEN = {"kernelModuleType": ("open", "open"), "useOpenKernelModules": (True, "true")}


def refused_features(view: SetupView, setup: DriverSetup) -> Iterator[Finding[Location]]:
    """The operator reports an error for such an object, and installs no driver on its nodes."""
    for item in setup.written:
        for name, shown in _FEATURES.items():
            if item.precompiled and value_at(item.spec, (name, "enabled")) is True:
                yield Finding(
                    message=f"{item.shown} has {shown} beside a precompiled driver, which the operator refuses",
                    place=item.at(f"/spec/{name}/enabled"),
                    help=f"remove `{name}`, or write `usePrecompiled: false` with a full version in another object",
                    related=(item.at("/spec/usePrecompiled", "precompiled"),),
                )
        if not item.precompiled and (field := _closed(view, item)):
            yield Finding(
                message=f"{item.shown} has GPUDirect Storage, which the operator refuses unless `{field}` is "
                f"`{_OPEN[field][1]}`" + ("; `auto` does not count" if field == "kernelModuleType" else ""),
                place=item.at("/spec/gds/enabled"),
                help=f"write `{field}: {_OPEN[field][1]}`",
            )


def _closed(view: SetupView, item: DriverObject) -> str:
    """The field that would have to say that the modules are open, and does not; empty where it need not."""
    assert view.operator is not None, "NEEDS says so"
    entry = read_nvidia_drivers(view.operator.tag)
    version = item.text("gds", "version")
    if entry is None or not version or value_at(item.spec, ("gds", "enabled")) is not True:
        return ""
    field = view.operator.driver_object.module_field
    is_open = item.spec.get(field) == _OPEN[field][0]
    needs = version.startswith("sha256") or at_least(version, entry.behaviour["gdsNeedsOpenModules"])
    return field if needs and not is_open else ""
