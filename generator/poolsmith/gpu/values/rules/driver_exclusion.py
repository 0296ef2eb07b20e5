"""Features of a driver that exclude each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.chart_contents import image_default
from poolsmith.gpu.catalog.driver_images import read_driver_images
from poolsmith.gpu.catalog.releases import driver_object_behaviour_at
from poolsmith.gpu.drivers.driver_image import is_branch
from poolsmith.gpu.drivers.driver_support import BESIDE_COMPILED, TYPE, loads_open, needs_open_modules
from poolsmith.gpu.values.effective_values import is_off, is_on, text, uses_driver_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.gpu.values.document import Steps, ValuePlace, ValuesDocument

RULE = RuleInfo.of("PSM292")
_VERSION = ("driver", "version")


def check(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    if is_off(document, "driver.enabled"):
        return
    if is_on(document, "driver.usePrecompiled"):
        yield from _precompiled(document)
    yield from _storage(document)


def _precompiled(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    switch: Steps = ("driver", "usePrecompiled")
    for feature, name in BESIDE_COMPILED.items():
        if is_on(document, f"{feature}.enabled"):
            yield Finding(
                place=_own(document, (feature, "enabled"), switch),
                message=f"`{feature}.enabled` and `driver.usePrecompiled` are both on; precompiled drivers "
                f"have no {name}",
                help=f"turn off `{feature}.enabled`, or have the driver compiled",
            )
    if document.partial and not document.has(_VERSION):
        return
    version = text(document, "driver.version") or image_default("driver.version", document.release.tag) or ""
    if not version or is_branch(version):
        return
    if not version.startswith("sha256:") and _has_own_images(document):
        return
    place = _own(document, _VERSION, switch)
    what = f"`{shorten(version)}`" + ("" if place == _VERSION else ", the chart's default")
    if version.startswith("sha256:"):
        message = "`driver.version` is a digest, and the image of a precompiled driver is composed of branch and kernel"
    else:
        message = f"`driver.version` is {what}; images of precompiled drivers have a branch alone in their tag"
    branch = version.split(".")[0]
    yield Finding(
        place=place,
        message=message,
        help=f'write `driver.version: "{branch}"`' if is_branch(branch) else "write a branch, as `580`",
    )


def _has_own_images(document: ValuesDocument) -> bool:
    """Whether the driver's image comes from a registry, or has a name, that is the user's."""
    paths = ("driver.repository", "driver.image")
    return any(text(document, path) not in ("", image_default(path, document.release.tag)) for path in paths)


def _storage(document: ValuesDocument) -> Iterator[Finding[ValuePlace]]:
    """GPUDirect Storage loads beside open kernel modules only."""
    if not is_on(document, "gds.enabled") or is_on(document, "driver.usePrecompiled"):
        return
    tag, version = document.release.tag, text(document, "gds.version")
    behaviour = driver_object_behaviour_at(tag)
    if document.partial or not version or not needs_open_modules(version, behaviour["gdsNeedsOpenModules"]):
        return
    field = f"driver.{behaviour['kernelModule']}"
    if behaviour["kernelModule"] == TYPE:
        module_type = text(document, field)
        refused = module_type != "open" if _default_object(document) else _is_closed(document, module_type)
        wanted = f"write `{field}: open`"
    else:
        refused, wanted = not is_on(document, field), f"write `{field}: true`"
    if refused and not (uses_driver_objects(document) and not _default_object(document)):
        path = _own(document, tuple(field.split(".")), ("gds", "enabled"))
        message = (
            f"`gds.enabled` is on, and `{field}` does not say open: nvidia-fs {shorten(version)} needs open modules"
        )
        yield Finding(place=path, message=message, help=wanted)


def _is_closed(document: ValuesDocument, module_type: str) -> bool:
    """`auto` is what the driver's container makes of it, which is proprietary for branches that don't know the word."""
    pinned = document.get(_VERSION)
    version = pinned if isinstance(pinned, str) and pinned[:3].isdigit() else None
    return not loads_open(module_type, version, document.release.tag, read_driver_images())


def _default_object(document: ValuesDocument) -> bool:
    """Whether the chart makes an NVIDIADriver of these values, for which `auto` is not enough."""
    return uses_driver_objects(document) and not is_off(document, "driver.nvidiaDriverCRD.deployDefaultCR")


def _own(document: ValuesDocument, path: Steps, otherwise: Steps) -> Steps:
    """The place to point at: the first of the two that stands in these values."""
    return path if document.has(path) else otherwise
