"""What stays behind after a change of stack, release or mode, or after an uninstall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.catalog.node_labels import DEPLOY, WORKLOAD
from poolsmith.diagnostics import diagnose
from poolsmith.diagnostics.codes.live import LEFT_OVER, OTHER_VERSION
from poolsmith.diagnostics.listing import counted, listed
from poolsmith.live.resources import (
    CC_RUNTIMES,
    CLUSTER_POLICIES,
    DEFINITIONS,
    DRIVERS,
    GPU_CLUSTERS,
    NODES,
    RUNTIME_CLASSES,
)
from poolsmith.sources.pod_template import mapping
from poolsmith.verify.expected import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Diagnostic
    from poolsmith.verify.view import LiveView

_RESOURCES = (CLUSTER_POLICIES, DRIVERS, GPU_CLUSTERS, CC_RUNTIMES)
_HANDLERS = ("nvidia", "kata")
"""How handlers begin that the operator, kata-deploy and the CoCo operator write RuntimeClasses for."""
_DEFINITIONS = {
    "nvidia.com": "the GPU operator",
    "confidentialcontainers.org": "the Confidential Containers operator",
}
_KATA = "katacontainers.io/kata-runtime"
_UPGRADE = "nvidia.com/gpu-driver-upgrade"
_FEW = 4


def judge_left_overs(view: LiveView) -> Iterator[Diagnostic]:
    for resource in _RESOURCES:
        for body in view.snapshot.items(resource):
            name = str(body["metadata"]["name"])
            if (resource, "", name) not in view.known:
                yield _left(view, shown(resource.kind, name, ""), "nothing that is committed brings it")
    for body in view.snapshot.items(RUNTIME_CLASSES):
        name, handler = str(body["metadata"]["name"]), str(body.get("handler") or "")
        if handler.startswith(_HANDLERS) and (RUNTIME_CLASSES, "", name) not in view.known:
            yield _left(view, shown("RuntimeClass", name, ""), f"no pool has the handler `{handler}` by it")
    yield from _definitions(view)
    yield from _labels(view)
    yield from _version(view)


def _definitions(view: LiveView) -> Iterator[Diagnostic]:
    """Definitions of a product of which nothing is expected."""
    groups = {item.resource.group for item in view.cluster.expected}
    operator = view.cluster.plan.chart is not None
    for group, product in _DEFINITIONS.items():
        used = operator if group == "nvidia.com" else group in groups
        names = [
            str(body["metadata"]["name"])
            for body in view.snapshot.items(DEFINITIONS)
            if mapping(body.get("spec")).get("group") == group
        ]
        if names and not used:
            what = f"{counted(len(names), 'CustomResourceDefinition')} of {product} ({listed(names, _FEW)})"
            yield _left(view, what, "the cluster has no such operator")


def _labels(view: LiveView) -> Iterator[Diagnostic]:
    plan = view.cluster.plan
    kata = any(pool.runtime_class for pool in plan.pools)
    wanted = {label.key for pool in plan.pools for label in pool.labels}
    stale: dict[str, list[str]] = {}
    for node in view.snapshot.items(NODES):
        labels = mapping(node["metadata"].get("labels"))
        for key in labels:
            if plan.chart is None and key.startswith((DEPLOY, _UPGRADE)):
                stale.setdefault(f"labels `{DEPLOY}*` of the operator", []).append(str(node["metadata"]["name"]))
            elif key == _KATA and not kata:
                stale.setdefault(f"label `{_KATA}`", []).append(str(node["metadata"]["name"]))
            elif key == WORKLOAD and WORKLOAD not in wanted and labels[key] != "container":
                stale.setdefault(f"label `{WORKLOAD}`", []).append(str(node["metadata"]["name"]))
    for what, names in stale.items():
        nodes = sorted(set(names))
        yield _left(view, f"{what} on {counted(len(nodes), 'node')} ({listed(nodes, _FEW)})", "no pool asks for it")


def _version(view: LiveView) -> Iterator[Diagnostic]:
    wanted = view.cluster.plan.cluster.spec.kubernetes.version
    live = view.snapshot.server.removeprefix("v")
    if live and _minor(live) != _minor(wanted):
        message = f"cluster `{view.cluster.name}` runs Kubernetes {live}, and its profile says {wanted}"
        yield diagnose(
            OTHER_VERSION, message, view.cluster.of_cluster("/spec/kubernetes/version"), subject=view.cluster.name
        )


def _minor(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])


def _left(view: LiveView, what: str, why: str) -> Diagnostic:
    message = f"{what} is left on cluster `{view.cluster.name}`: {why}"
    return diagnose(LEFT_OVER, message, view.cluster.of_cluster("/spec/stack"), subject=view.cluster.name)
