"""Versions on a cluster that are too far apart: kubelets and server, pods and what their DaemonSet says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.counts import ends
from poolsmith.change.verify.expected import shown
from poolsmith.change.verify.owners import Owners, key_of
from poolsmith.change.verify.pod_likeness import is_image, tag_of
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import OTHER_VERSION
from poolsmith.core.diagnostics.listing import counted, listed
from poolsmith.core.sources.pod_template import mapping, mappings, pod_template_of, word
from poolsmith.gpu.catalog.left_overs import read_left_overs
from poolsmith.gpu.catalog.node_labels import UPGRADE_SETTLED, UPGRADE_STATE
from poolsmith.gpu.catalog.toolkit_facts import unfit_toolkit
from poolsmith.kubernetes.live.resources import DAEMON_SETS, DEPLOYMENTS, PODS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.verify.expected import Expected
    from poolsmith.change.verify.view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.live.snapshot import KubernetesObject

_MINOR = re.compile(r"v?1\.(\d{1,3})(?:\D|$)")
_COMPONENT, _DRIVER = "app.kubernetes.io/component", "nvidia-driver"
_TOOLKIT = "nvidia-container-toolkit-ctr"
_FEW = 4


def judge_skew(view: LiveView) -> Iterator[Diagnostic]:
    yield from _server(view)
    yield from _kubelets(view)
    busy = frozenset(node.name for node in view.nodes if node.labels.get(UPGRADE_STATE, "") not in UPGRADE_SETTLED)
    owners = Owners(view.snapshot)
    pods: dict[tuple[str, str, str], list[KubernetesObject]] = {}
    for pod in view.snapshot.items(PODS):
        if (owner := owners.of(pod)) is not None and not ends(pod):
            pods.setdefault(key_of(owner), []).append(pod)
    for item in view.cluster.expected:
        if item.resource in (DAEMON_SETS, DEPLOYMENTS):
            for body in view.find(item):
                by_operator = mapping(mapping(pod_template_of(body)).get("metadata"))
                is_driver = mapping(by_operator.get("labels")).get(_COMPONENT) == _DRIVER
                yield from _old_pods(view, item, body, pods.get(key_of(body), []), busy if is_driver else frozenset())
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
    for node in view.nodes:
        found = _MINOR.match(node.info.get("kubeletVersion", ""))
        if found is not None and not oldest <= int(found[1]) <= minor:
            why = "newer than the API server" if int(found[1]) > minor else f"older than 1.{oldest}"
            apart.setdefault((f"1.{int(found[1])}", why), []).append(node.name)
    for (version, why), names in sorted(apart.items()):
        message = (
            f"the kubelet of {counted(len(names), 'node')} ({listed(sorted(names), _FEW)}) of cluster "
            f"`{view.cluster.name}` is {version}, {why}: the API server is {view.snapshot.server.removeprefix('v')}"
        )
        yield _finding(view, message, "/spec/kubernetes/version")


def _old_pods(
    view: LiveView, item: Expected, body: KubernetesObject, pods: list[KubernetesObject], busy: frozenset[str]
) -> Iterator[Diagnostic]:
    """Pods that still run another image than their workload says. Those of drivers may, on nodes that are upgraded at
    this moment: nothing else waits for that. An image that neither it nor the prediction knows is told for itself."""
    wanted, predicted = _images(pod_template_of(body)), _images(pod_template_of(item.body))
    behind: dict[tuple[str, str, str], list[str]] = {}
    for pod in pods:
        node = word(mapping(pod.get("spec")).get("nodeName"))
        if not node or node in busy:
            continue
        for container, image in _images(pod).items():
            said = wanted.get(container, "")
            known = (said, predicted.get(container, ""))
            if said and tag_of(image) != tag_of(said) and any(is_image(image, one) for one in known):
                behind.setdefault((container, tag_of(image), tag_of(said)), []).append(node)
    for (container, tag, said), nodes in behind.items():
        kind = item.resource.kind
        name = shown(kind, str(body["metadata"]["name"]), item.namespace)
        where = f"{counted(len(nodes), 'node')} ({listed(sorted(nodes), _FEW)})"
        message = (
            f"container `{container}` of {name} is still `{tag}` on {where} of cluster `{view.cluster.name}`, and the "
            f"{kind} says `{said}`"
        )
        yield _finding(view, message, "/spec/stack")


def _toolkit(view: LiveView, item: Expected, body: dict[str, Any]) -> Iterator[Diagnostic]:
    """A toolkit that was put on the cluster by hand, and is below what the release needs."""
    held = tag_of(_images(pod_template_of(body)).get(_TOOLKIT, ""))
    if not held or held == tag_of(_images(pod_template_of(item.body)).get(_TOOLKIT, "")):
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
    """The image of each container that has a tag: a digest alone tells no version."""
    spec = mapping(mapping(template).get("spec"))
    found = {}
    for field in ("initContainers", "containers"):
        for container in mappings(spec.get(field)):
            name, image = container.get("name"), container.get("image")
            if isinstance(name, str) and isinstance(image, str) and tag_of(image):
                found[name] = image
    return found


def _finding(view: LiveView, message: str, pointer: str) -> Diagnostic:
    return diagnose(OTHER_VERSION, message, view.cluster.of_cluster(pointer), subject=view.cluster.name)
