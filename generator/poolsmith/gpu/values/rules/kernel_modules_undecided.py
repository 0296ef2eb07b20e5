"""Which kernel modules a driver gets, where its branch can't decide by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.driver_images import read_driver_images
from poolsmith.gpu.drivers.driver_support import TYPE, chooses_itself, module_field, told_by_variable
from poolsmith.gpu.values.effective_values import Environment, is_off, is_on, text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM293")
_VERSION = ("driver", "version")
_TYPE = ("driver", "kernelModuleType")
_VARIABLE = "KERNEL_MODULE_TYPE"


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if is_off(document, "driver.enabled"):
        return
    version, images = document.get(_VERSION), read_driver_images()
    has_type = module_field(document.release.tag) == TYPE
    if has_type:
        yield from _contradiction(document)
    if not isinstance(version, str) or not version[:3].isdigit() or document.partial:
        return
    if has_type and text(document, "driver.kernelModuleType") == "auto" and not chooses_itself(version, images):
        yield Finding(
            place=_TYPE if document.has(_TYPE) else _VERSION,
            message=f"driver {shorten(version)} does not know `kernelModuleType: auto`, which is "
            + ("what stands here" if document.has(_TYPE) else "the chart's default"),
            help="write `driver.kernelModuleType: proprietary`, or `open` for Grace Hopper and for GPUDirect Storage",
        )
    if (
        not has_type
        and is_on(document, "driver.useOpenKernelModules")
        and told_by_variable(version, images)
        and _VARIABLE not in Environment(document, ("driver",))
    ):
        yield Finding(
            place=("driver", "useOpenKernelModules"),
            message=f"driver {shorten(version)} does not look at `driver.useOpenKernelModules` any more",
            help=f"add `{_VARIABLE}: open` to `driver.env`",
        )


def _contradiction(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if not document.has(("driver", "env")):
        return
    variable = Environment(document, ("driver",)).get(_VARIABLE)
    said = text(document, "driver.kernelModuleType")
    if variable is not None and said and variable.value != said:
        yield Finding(
            place=(*variable.path, "value"),
            message=f"`{_VARIABLE}` is `{shorten(variable.value)}`, and `driver.kernelModuleType` is `{shorten(said)}`",
            help="remove the variable: the operator makes it of `driver.kernelModuleType`",
        )
