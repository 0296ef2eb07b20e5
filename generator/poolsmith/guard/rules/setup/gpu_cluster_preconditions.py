"""A GPUCluster where the API server serves no device claims, or with a driver that is too old for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import at_least
from poolsmith.gpu.catalog.gpu_clusters import read_gpu_cluster, served_by
from poolsmith.gpu.drivers.driver_image import branch_of
from poolsmith.guard.rules.setup.setup_view import named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM298")
NEEDS = ("values", "release")
_DEPLOYED = "gpuCluster.deployCR"
_VERSION = "driver.version"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.flag(_DEPLOYED) is not True or view.tag is None:
        return
    entry = read_gpu_cluster(view.tag)
    if entry is None:
        return
    dra = entry.behaviour["draVersions"]
    if view.kubernetes and not view.is_generated and not served_by(view.tag, view.kubernetes):
        first = next(iter(dra["servedFrom"].values()))
        yield Finding(
            message=f"Kubernetes {view.kubernetes} serves no DeviceClass of resource.k8s.io by itself, and a "
            f"GPUCluster needs it; {first} is the first that does",
            place=view.value_location(_DEPLOYED),
            help=f"use Kubernetes {first} or later, or keep the ClusterPolicy",
        )
    yield from _old_kubelets(view, next(iter(dra["servedFrom"].values())))
    least = int(entry.behaviour["firstDriverBranch"])
    for version, place in _drivers(view):
        branch = branch_of(version)
        if branch is not None and branch < least:
            yield Finding(
                message=f"driver {version} is too old for a GPUCluster: its DRA driver needs branch {least} or later",
                place=place,
                help=f"write a version of branch {least} or later",
            )


def _old_kubelets(view: SetupView, first: str) -> Iterator[Finding[Location]]:
    """A kubelet may be older than its server, and prepares device claims by itself from the same version on."""
    old = [node for node in view.nodes or () if node.kubelet and not at_least(node.kubelet, first)]
    if old and not view.is_generated:
        yield Finding(
            message=f"the kubelet of {named(old)} is {old[0].kubelet}, which prepares no device claims by itself; "
            f"{first} is the first that does",
            place=old[0].location,
            help=f"upgrade the kubelet to {first} or later, or keep the ClusterPolicy",
            related=(view.value_location(_DEPLOYED, "asked for here"),),
        )


def _drivers(view: SetupView) -> Iterator[tuple[str, Location]]:
    """The versions that objects give; the values' own counts where the chart makes an object of it."""
    for item in view.of_kind("NVIDIADriver", "nvidia.com"):
        version = item.spec.get("version")
        if isinstance(version, str) and item.spec.get("driverType", "gpu") == "gpu":
            yield version, item.place("/spec/version")
    version = view.value(_VERSION)
    default = view.flag("driver.enabled") and view.flag("driver.nvidiaDriverCRD.deployDefaultCR")
    if default and isinstance(version, str) and view.is_set(_VERSION):
        yield version, view.value_location(_VERSION)
