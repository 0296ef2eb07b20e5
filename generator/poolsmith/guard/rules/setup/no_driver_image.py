"""Driver images that can't exist, or that nobody lists, by the name that the operator makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.drivers.driver_image import (
    UnreadableVersionError,
    has_containers,
    has_precompiled,
    is_branch,
    is_left_out,
    nearest_listed,
    os_tag,
)
from poolsmith.guard.rules.setup.driver_setup import driver_setup
from poolsmith.guard.rules.setup.node_drivers import DescribedDriver, node_drivers
from poolsmith.guard.rules.setup.setup_view import named, places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.driver_images import DriverImages
    from poolsmith.gpu.catalog.releases import Release
    from poolsmith.guard.rules.setup.node_drivers import NodeDrivers
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM265")
NEEDS = ("release",)
PARTLY_NEEDS = ("nodes",)
_PARTS = ("repository", "image", "version")
_OWN = "name the repository of your own driver images"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    """What is generated was judged by the lines of its profiles already."""
    if view.is_generated:
        return
    setup = driver_setup(view)
    if setup.uses_objects:
        for item in setup.written:
            yield from _forms(DescribedDriver(view, item))
    for found in node_drivers(view):
        if found.driver.of_vendor and "sha256:" not in found.driver.version:
            yield from _images(view, found)


def _forms(driver: DescribedDriver) -> Iterator[Finding[Location]]:
    """What an object says by itself."""
    said = [part for part in _PARTS if driver.text(part)]
    if said and len(said) < len(_PARTS):
        missing = next(part for part in _PARTS if part not in said)
        yield Finding(
            message=f"{driver.shown} has {' and '.join(f'`{part}`' for part in said)} without `{missing}`: no image "
            "has such a name",
            place=driver.at(said[0]),
            help="write `repository`, `image` and `version`, as in `nvcr.io/nvidia`, `driver`, `580.126.20`",
        )
        return
    version = driver.version
    if driver.precompiled and version and not is_branch(version):
        what = "a digest" if "sha256:" in version else "a full version"
        yield Finding(
            message=f"{driver.shown} has a precompiled driver, whose version is a branch; `{version[:40]}` is {what}",
            place=driver.at("version"),
            help=f'write `version: "{driver.branch or 580}"`',
        )
    elif not driver.precompiled and is_branch(version):
        yield Finding(
            message=f"{driver.shown} has a driver that is compiled on the node, whose version is a full one; "
            f"`{version}` is a branch",
            place=driver.at("version"),
            help="write a full version like 580.126.20, or `usePrecompiled: true`",
        )


def _images(view: SetupView, found: NodeDrivers) -> Iterator[Finding[Location]]:
    """One finding per kind of node, however many there are."""
    kinds: dict[tuple[str, str, str, str], list[SetupNode]] = {}
    for node in found.nodes:
        kernel = node.kernel if found.driver.precompiled else ""
        kinds.setdefault((node.os_id, node.os_version, kernel, node.arch), []).append(node)
    assert view.operator is not None
    for nodes in kinds.values():
        if not nodes[0].os_id or nodes[0].image_tag or driver_setup(view).brings_own(nodes[0]) is not None:
            continue
        problem = _problem(view, view.operator, found.driver, nodes[0])
        if problem is not None:
            severity, message, pointer, help_text = problem
            yield Finding(
                message=f"{message} (for {named(nodes)})",
                place=found.driver.at("version" if found.driver.version else ""),
                help=help_text,
                related=places(nodes, pointer, "there"),
                severity=severity,
            )


def _problem(
    view: SetupView, operator: Release, driver: DescribedDriver, node: SetupNode
) -> tuple[Severity, str, str, str] | None:
    """Severity, message, the pointer that decides it, and what to do."""
    system = view.catalog.operating_systems.get(node.os_id)
    published = has_containers(system)
    if system is None or published is False:
        return (
            Severity.ERROR if system is not None else Severity.WARNING,
            f"nobody is known to publish driver containers for {node.os_id}",
            "/spec/os",
            f"pre-install the driver, or {_OWN}",
        )
    if published is None:
        other = f", as {system.repository}" if system.repository else ""
        return (
            Severity.WARNING,
            f"whether NVIDIA publishes driver containers for {node.os_id} {node.os_version} is unknown",
            "/spec/os",
            _OWN + other,
        )
    images = view.catalog.driver_images
    try:
        tag = os_tag(node.os_id, node.os_version, operator.tag)
    except UnreadableVersionError as error:
        return (
            Severity.ERROR,
            error.explanation,
            "/spec/os",
            "correct VERSION_ID in /etc/os-release of these nodes: it is a version like 9.4",
        )
    if driver.precompiled:
        return _precompiled_problem(images, operator, driver, node, tag)
    known = images.compiled_on(tag)
    if known is not None and known.processors and node.arch and node.arch not in known.processors:
        return (
            Severity.WARNING,
            f"driver containers that are compiled on {tag} exist for {listed(known.processors)} only",
            "/spec/arch",
            f"pre-install the driver on nodes of {node.arch}, or {_OWN}",
        )
    if not driver.version or not is_left_out(images, tag, driver.version, driver.branch):
        return None
    return (
        Severity.WARNING,
        f"no driver container {driver.version} is built for {tag}",
        "/spec/os",
        f"choose another driver version, or {_OWN}",
    )


def _precompiled_problem(
    images: DriverImages, operator: Release, driver: DescribedDriver, node: SetupNode, tag: str
) -> tuple[Severity, str, str, str] | None:
    if node.arch and not has_precompiled(operator, node.arch):
        return (
            Severity.ERROR,
            f"precompiled drivers exist for {', '.join(operator.precompiled_arch)} only, not for {node.arch}",
            "/spec/arch",
            "compile the driver on these nodes: `usePrecompiled: false`, and a full version",
        )
    near = nearest_listed(images, line=operator.line, os_tag=tag, kernel=node.kernel, branch=driver.branch)
    if not near:
        return None
    return (
        Severity.WARNING,
        f"no list has a precompiled driver {driver.branch} for {tag} and {node.kernel}: it may not exist",
        "/spec/kernel/release",
        f"listed are {'; '.join(map(str, near))}; else compile the driver on the node, or {_OWN}",
    )
