"""What is not ready, and why as far as its pods tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics import diagnose
from poolsmith.diagnostics.codes.live import NOT_READY
from poolsmith.diagnostics.listing import listed
from poolsmith.live.resources import NODES, PODS
from poolsmith.sources.pod_template import mapping, mappings
from poolsmith.verify.expected import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Diagnostic
    from poolsmith.verify.view import LiveView

UPGRADE_STATE = "nvidia.com/gpu-driver-upgrade-state"
"""Source: NVIDIA/k8s-operator-libs, pkg/upgrade/consts.go."""
_FAILED = "upgrade-failed"
_CAUSES = {
    "ImagePullBackOff": "the node can't pull the image: does the registry have it, and does the pull secret fit?",
    "ErrImagePull": "the node can't pull the image: does the registry have it, and does the pull secret fit?",
    "InvalidImageName": "the image's name is none",
    "CrashLoopBackOff": "it starts and ends again and again: its log says why",
    "CreateContainerConfigError": "a ConfigMap or Secret that it names is not there",
    "CreateContainerError": "the container runtime refuses it: is the RuntimeClass's handler on the node?",
    "RunContainerError": "the container runtime can't start it: is the toolkit configured on the node?",
    "FailedCreatePodSandBox": "the container runtime has no such handler: is the toolkit ready on the node?",
    "Unschedulable": "no node takes it: labels, taints and resources of the pool decide that",
    "Evicted": "the node was short of a resource",
    "OOMKilled": "it needs more memory than its limit",
}
"""Reasons that the kubelet and the scheduler write, and what they mean here."""
_FEW = 3


def judge_rollout(view: LiveView) -> Iterator[Diagnostic]:
    for item in view.cluster.expected:
        if item.resource.kind not in ("DaemonSet", "Deployment"):
            continue
        for body in view.find(item):
            wanted, ready = _counts(body)
            if ready < wanted:
                name = str(body["metadata"]["name"])
                why = _why(view, item.namespace, body)
                message = (
                    f"{shown(item.resource.kind, name, item.namespace)} of cluster `{view.cluster.name}`: {ready} of "
                    f"{wanted} pods are ready{why}"
                )
                subject = view.cluster.subject(item.resource.kind, name, item.namespace)
                yield diagnose(NOT_READY, message, view.cluster.place(item), subject=subject)
    failed = [
        str(node["metadata"]["name"])
        for node in view.snapshot.items(NODES)
        if mapping(node["metadata"].get("labels")).get(UPGRADE_STATE) == _FAILED
    ]
    if failed:
        message = f"the driver upgrade failed on {listed(failed, _FEW)} of cluster `{view.cluster.name}`"
        yield diagnose(NOT_READY, message, view.cluster.of_cluster("/spec/stack"), subject=view.cluster.name)


def _counts(body: dict[str, Any]) -> tuple[int, int]:
    status = mapping(body.get("status"))
    if body["kind"] == "DaemonSet":
        return _number(status.get("desiredNumberScheduled")), _number(status.get("numberReady"))
    wanted = mapping(body.get("spec")).get("replicas")
    told = "observedGeneration" in status
    return (_number(wanted, 1) if told else 0), _number(status.get("readyReplicas"))


def _number(value: Any, default: int = 0) -> int:
    return value if isinstance(value, int) else default


def _why(view: LiveView, namespace: str, body: dict[str, Any]) -> str:
    """The first of its pods that says more, by what it waits for."""
    chosen = mapping(mapping(mapping(body.get("spec")).get("selector")).get("matchLabels"))
    for pod in view.snapshot.items(PODS):
        labels = mapping(pod["metadata"].get("labels"))
        if pod["metadata"].get("namespace") != namespace or not chosen:
            continue
        if all(labels.get(key) == value for key, value in chosen.items()) and (words := _cause(pod)):
            node = mapping(pod.get("spec")).get("nodeName")
            where = f" on `{node}`" if isinstance(node, str) and node else ""
            return f"; pod `{pod['metadata']['name']}`{where}: {words}"
    return ""


def _cause(pod: dict[str, Any]) -> str:
    status = mapping(pod.get("status"))
    for field in ("initContainerStatuses", "containerStatuses"):
        for container in mappings(status.get(field)):
            state = mapping(container.get("state"))
            reason = mapping(state.get("waiting")).get("reason") or mapping(state.get("terminated")).get("reason")
            if isinstance(reason, str) and reason in _CAUSES:
                return f"container `{container.get('name')}` is in {reason}: {_CAUSES[reason]}"
            if field == "initContainerStatuses" and "running" in state:
                return f"init container `{container.get('name')}` still waits for what starts before it"
    for condition in mappings(status.get("conditions")):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            reason = str(condition.get("reason") or "")
            return f"{reason}: {_CAUSES.get(reason, 'it has no node')}"
    reason = str(status.get("reason") or "")
    return f"{reason}: {_CAUSES[reason]}" if reason in _CAUSES else ""
