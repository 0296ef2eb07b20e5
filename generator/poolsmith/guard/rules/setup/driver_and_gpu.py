"""Driver versions and kernel modules that the GPUs of nodes don't work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.node_labels import MIG_CONFIG
from poolsmith.gpu.drivers.driver_support import (
    OPEN,
    PROPRIETARY,
    begins_with,
    ended_with,
    has_open,
    is_coherent,
    mig_in_doubt,
    module_field,
    written,
    wrong_modules,
)
from poolsmith.guard.rules.setup.node_drivers import node_drivers
from poolsmith.guard.rules.setup.setup_view import named, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.gpus import GpuEntry
    from poolsmith.guard.rules.setup.node_drivers import DescribedDriver
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM268")
NEEDS = ("nodes", "release")
_MIG_OFF = "all-disabled"
_PRODUCT = "/spec/gpu/product"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    for found in node_drivers(view):
        kinds: dict[str, list[SetupNode]] = {}
        for node in found.nodes:
            kinds.setdefault(node.gpu, []).append(node)
        for nodes in kinds.values():
            yield from _judge(view, found.driver, nodes)
            yield from _coherent(view, found.driver, nodes)


def _judge(view: SetupView, driver: DescribedDriver, nodes: list[SetupNode]) -> Iterator[Finding[Location]]:
    node = nodes[0]
    architecture = view.catalog.gpus.architectures.get(node.architecture or "")
    entry = view.catalog.gpus.find(node.gpu) if node.gpu else None
    if architecture is None or view.operator is None:
        return
    product = node.gpu if entry is None else entry.product
    least = architecture.first_branch if entry is None else entry.first_driver
    who = f"{product} ({architecture.name}, {named(nodes)})"
    branch, version = driver.branch, driver.version
    if (last := ended_with(architecture, branch)) is not None:
        yield Finding(
            message=f"driver {version} of {driver.shown} no longer supports {who}; the last branch is {last}",
            place=driver.at("version"),
            help=f"give these nodes a driver of branch {last} or older",
            related=places(nodes, _PRODUCT, product),
        )
    if (first := begins_with(least, version, branch)) is not None:
        yield Finding(
            message=f"driver {version} of {driver.shown} does not know {who}: the first one that does is {first}",
            place=driver.at("version"),
            help=f"write a version from {first} on",
            related=places(nodes, _PRODUCT, product),
        )
    if entry is not None:
        yield from _partitioned(driver, entry, nodes)
    field = module_field(view.operator.tag)
    needed = wrong_modules(
        architecture,
        driver.modules,
        version if branch is not None else None,
        release=view.operator.tag,
        images=view.catalog.driver_images,
    )
    if needed == OPEN:
        yield Finding(
            message=f"{who} needs the open kernel modules, and {driver.shown} loads the proprietary ones",
            place=driver.at(field),
            help=f"write `{field}: {written(field, OPEN)}`",
            related=places(nodes, _PRODUCT, product),
        )
    if driver.storage and needed != PROPRIETARY and not has_open(architecture):
        yield Finding(
            message=f"GPUDirect Storage needs the open kernel modules, and {who} has none",
            place=driver.at_storage(),
            help="leave the feature out where such GPUs are",
            related=places(nodes, _PRODUCT, product),
        )
    if needed == PROPRIETARY:
        yield Finding(
            message=f"{who} has no open kernel modules, and {driver.shown} loads those",
            place=driver.at(field),
            help="write `kernelModuleType: proprietary` for these nodes, or leave it out",
            related=places(nodes, _PRODUCT, product),
        )


def _partitioned(driver: DescribedDriver, entry: GpuEntry, nodes: list[SetupNode]) -> Iterator[Finding[Location]]:
    """Drivers that know the GPU, but can't partition it yet."""
    with_mig = [node for node in nodes if node.labels.get(MIG_CONFIG, _MIG_OFF) != _MIG_OFF]
    version = driver.version
    if not with_mig or begins_with(entry.first_driver, version, driver.branch) is not None:
        return
    related = places(with_mig, _PRODUCT, entry.product)
    if (first := begins_with(entry.first_mig_driver, version, driver.branch)) is not None:
        yield Finding(
            message=f"driver {version} of {driver.shown} has no MIG on {entry.product} ({named(with_mig)}): the first "
            f"one that has is {first}",
            place=driver.at("version"),
            help=f"write a version from {first} on",
            related=related,
        )
    elif (because := mig_in_doubt(entry, version, driver.branch)) is not None:
        yield Finding(
            message=f"whether driver {version} of {driver.shown} has MIG on {entry.product} is unknown: {because}",
            place=driver.at("version"),
            help="use a later driver",
            related=related,
            severity=Severity.WARNING,
        )


def _coherent(view: SetupView, driver: DescribedDriver, nodes: list[SetupNode]) -> Iterator[Finding[Location]]:
    """Coherent driver-based memory management (CDMM), which is on by default."""
    entry = view.catalog.gpus.find(nodes[0].gpu) if nodes[0].gpu else None
    images = view.catalog.driver_images
    if view.is_generated or entry is None or driver.branch is None:
        return  # profiles are told at their own lines
    if not is_coherent(entry, driver.version, images):
        return
    partitioned = [node for node in nodes if node.labels.get(MIG_CONFIG, _MIG_OFF) != _MIG_OFF]
    for feature, concerned, location in (
        ("GPUDirect Storage", nodes if driver.storage else [], driver.at_storage()),
        ("MIG", partitioned, driver.at("version")),
    ):
        if concerned:
            yield Finding(
                message=f"from {images.coherent_since} on the driver turns on coherent memory management (CDMM) on "
                f"Grace hosts, and {feature} does not go with it ({entry.product}, {named(concerned)})",
                place=location,
                help="leave the feature out, or turn CDMM off with an option of the kernel module",
                related=places(concerned, _PRODUCT, entry.product),
                severity=Severity.WARNING,
            )
