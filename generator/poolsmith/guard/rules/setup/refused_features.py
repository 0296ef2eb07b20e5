"""What an NVIDIADriver asks for beside its driver, and the operator refuses.

Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go; the catalog, nvidia_driver: gdsNeedsOpenModules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.finding import Finding
from poolsmith.core.sources.nested import value_at
from poolsmith.gpu.catalog.operator_behaviour import driver_object_behaviour_at
from poolsmith.gpu.drivers.features import BESIDE_COMPILED, needs_open_modules
from poolsmith.gpu.drivers.kernel_modules import OPEN, TYPE, chosen_by, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.driver_setup import DriverObject, DriverSetup
    from poolsmith.guard.rules.setup.view import SetupView


def refused_features(view: SetupView, setup: DriverSetup) -> Iterator[Finding[Location]]:
    """The operator reports an error for such an object, and installs no driver on its nodes."""
    for item in setup.written:
        for name, shown in BESIDE_COMPILED.items():
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
                f"`{written(field, OPEN)}`" + ("; `auto` does not count" if field == TYPE else ""),
                place=item.at("/spec/gds/enabled"),
                help=f"write `{field}: {written(field, OPEN)}`",
            )


def _closed(view: SetupView, item: DriverObject) -> str:
    """The field that would have to say that the modules are open, and does not; empty where it need not."""
    assert view.operator is not None, "NEEDS says so"
    behaviour = driver_object_behaviour_at(view.operator.tag)
    field, version = behaviour["kernelModule"], item.text("gds", "version")
    is_open = chosen_by(field, item.spec.get(field)) == OPEN
    if is_open or not version or value_at(item.spec, ("gds", "enabled")) is not True:
        return ""
    return field if needs_open_modules(version, behaviour["gdsNeedsOpenModules"]) else ""
