"""Versions on a cluster that are too far apart: kubelets and server, pods and what their DaemonSet says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.catalog.left_overs import read_left_overs
from poolsmith.catalog.toolkit_facts import unfit_toolkit
from poolsmith.diagnostics import diagnose
from poolsmith.diagnostics.codes.live import OTHER_VERSION
from poolsmith.diagnostics.listing import counted, listed
from poolsmith.live.resources import NODES, PODS
from poolsmith.sources.pod_template import mapping, mappings, pod_template_of
from poolsmith.verify.expected import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Diagnostic
    from poolsmith.verify.expected import Expected
    from poolsmith.verify.view import LiveView

_MINOR = re.compile(r"v?1\.(\d{1,3})(?:\D|$)")
_UPGRADE_STATE = "nvidia.com/gpu-driver-upgrade-state"
_SETTLED = ("", "upgrade-done", "upgrade-failed")
"""States of a node that nobody upgrades at this moment. Source: NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go."""
_TOOLKIT = "nvidia-container-toolkit-ctr"
_FEW = 4


def judge_skew(view: LiveView) -> Iterator[Diagnostic]:
    yield from _server(view)
    yield from _kubelets(view)
    busy = frozenset(
        str(node["metadata"]["name"])
        for node in view.snapshot.items(NODES)
        if mapping(node["metadata"].get("labels")).get(_UPGRADE_STATE, "") not in _SETTLED
    )
    for item in view.cluster.expected:
        if item.resource.kind == "DaemonSet":
            for body in view.find(item):
                yield from _old_pods(view, item, body, busy)
                yield from _toolkit(view, item, body)


def _server(view: LiveView) -> Iterator[Diagnostic]:
    wanted = view.cluster.plan.cluster.spec.kubernetes.version
    live = view.snapshot.server.removeprefix("v")
    if live and live.split(".")[:2] != wanted.split(".")[:2]:
        message = f"cluster `{view.cluster.name}` runs Kubernetes {live}, and its profile says {wanted}"
        yield _finding(view, message, "/spec/kubernetes/version")


def _kubelets(view: LiveView) -> Iterator[Diagnostic]:
    server = _MINOR.match(view.snapshot.server)
    if server is None:
        return
    minor = int(server[1])
    oldest = read_left_overs().oldest_kubelet(minor)
    apart: dict[tuple[str, str], list[str]] = {}
    for node in view.snapshot.items(NODES):
        told = mapping(mapping(node.get("status")).get("nodeInfo")).get("kubeletVersion")
        found = _MINOR.match(told) if isinstance(told, str) else None
        if found is not None and not oldest <= int(found[1]) <= minor:
            why = "newer than the API server" if int(found[1]) > minor else f"older than 1.{oldest}"
            apart.setdefault((f"1.{int(found[1])}", why), []).append(str(node["metadata"]["name"]))
    for (version, why), names in sorted(apart.items()):
        message = (
            f"the kubelet of {counted(len(names), 'node')} ({listed(sorted(names), _FEW)}) of cluster "
            f"`{view.cluster.name}` is {version}, {why}: the API server is {view.snapshot.server.removeprefix('v')}"
        )
        yield _finding(view, message, "/spec/kubernetes/version")


def _old_pods(view: LiveView, item: Expected, body: dict[str, Any], busy: frozenset[str]) -> Iterator[Diagnostic]:
    """Pods of a DaemonSet that still run another image than it says, on nodes that nobody upgrades at this moment."""
    wanted, uid = _images(pod_template_of(body)), body["metadata"].get("uid")
    if not wanted or not isinstance(uid, str):
        return
    behind: dict[tuple[str, str, str], list[str]] = {}
    for pod in view.snapshot.items(PODS):
        spec = mapping(pod.get("spec"))
        node = spec.get("nodeName")
        if not _is_owned(pod, uid) or not isinstance(node, str) or node in busy or _ends(pod):
            continue
        for container, tag in _images(pod).items():
            if container in wanted and tag != wanted[container]:
                behind.setdefault((container, tag, wanted[container]), []).append(node)
    for (container, tag, said), nodes in behind.items():
        name = shown("DaemonSet", str(body["metadata"]["name"]), item.namespace)
        where = f"{counted(len(nodes), 'node')} ({listed(sorted(nodes), _FEW)})"
        message = (
            f"container `{container}` of {name} is still `{tag}` on {where} of cluster `{view.cluster.name}`, and the "
            f"DaemonSet says `{said}`"
        )
        yield _finding(view, message, "/spec/stack")


def _toolkit(view: LiveView, item: Expected, body: dict[str, Any]) -> Iterator[Diagnostic]:
    """A toolkit that was put on the cluster by hand, and is below what the release needs."""
    held = _images(pod_template_of(body)).get(_TOOLKIT)
    if held is None or held == _images(pod_template_of(item.body)).get(_TOOLKIT):
        return
    spec = view.cluster.plan.cluster.spec
    unfit = unfit_toolkit(held.partition("-")[0], spec.stack.release or "", nri=False)
    if unfit is not None:
        message = (
            f"the container toolkit of cluster `{view.cluster.name}` is `{held}`, below what release "
            f"{spec.stack.release} needs, {unfit.instead}: {unfit.why}"
        )
        yield _finding(view, message, "/spec/stack")


def _images(template: Any) -> dict[str, str]:
    """The tag of each container's image; registries may be others by a mirror, and a digest alone tells no version."""
    spec = mapping(mapping(template).get("spec"))
    found = {}
    for field in ("initContainers", "containers"):
        for container in mappings(spec.get(field)):
            name, image = container.get("name"), container.get("image")
            if isinstance(name, str) and isinstance(image, str):
                tag = image.partition("@")[0].rpartition("/")[2].partition(":")[2]
                if tag:
                    found[name] = tag
    return found


def _is_owned(pod: dict[str, Any], uid: str) -> bool:
    return any(one.get("uid") == uid for one in mappings(pod["metadata"].get("ownerReferences")))


def _ends(pod: dict[str, Any]) -> bool:
    phase = mapping(pod.get("status")).get("phase")
    return bool(pod["metadata"].get("deletionTimestamp")) or phase in ("Failed", "Succeeded")


def _finding(view: LiveView, message: str, pointer: str) -> Diagnostic:
    return diagnose(OTHER_VERSION, message, view.cluster.of_cluster(pointer), subject=view.cluster.name)
