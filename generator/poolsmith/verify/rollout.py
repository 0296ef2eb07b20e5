"""What is not ready, and why as far as its pods tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics import diagnose
from poolsmith.diagnostics.codes.live import NOT_READY
from poolsmith.live.resources import PODS
from poolsmith.sources.pod_template import mapping, mappings, word
from poolsmith.verify.counts import pod_counts
from poolsmith.verify.expected import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Diagnostic
    from poolsmith.verify.view import LiveView

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


def judge_rollout(view: LiveView) -> Iterator[Diagnostic]:
    for item in view.cluster.expected:
        if item.resource.kind not in ("DaemonSet", "Deployment"):
            continue
        for body in view.find(item):
            wanted, ready = pod_counts(body)
            if ready < wanted:
                name = str(body["metadata"]["name"])
                why = _why(view, item.namespace, body)
                message = (
                    f"{shown(item.resource.kind, name, item.namespace)} of cluster `{view.cluster.name}`: {ready} of "
                    f"{wanted} pods are ready{why}"
                )
                subject = view.cluster.subject(item.resource.kind, name, item.namespace)
                yield diagnose(NOT_READY, message, view.cluster.place(item), subject=subject)


def _why(view: LiveView, namespace: str, body: dict[str, Any]) -> str:
    """The first of its pods that says more, by what it waits for; else the first that is not ready."""
    chosen = mapping(mapping(mapping(body.get("spec")).get("selector")).get("matchLabels"))
    silent = ""
    for pod in view.snapshot.items(PODS):
        labels = mapping(pod["metadata"].get("labels"))
        if pod["metadata"].get("namespace") != namespace or not chosen:
            continue
        if any(labels.get(key) != value for key, value in chosen.items()):
            continue
        node = word(mapping(pod.get("spec")).get("nodeName"))
        name = f"pod `{pod['metadata']['name']}`" + (f" on `{node}`" if node else "")
        if words := _cause(pod):
            return f"; {name}: {words}"
        if not silent and not _is_ready(pod):
            silent = f"; {name} is not"
    return silent


def _is_ready(pod: dict[str, Any]) -> bool:
    told = mappings(mapping(pod.get("status")).get("conditions"))
    return any(item.get("type") == "Ready" and item.get("status") == "True" for item in told)


def _cause(pod: dict[str, Any]) -> str:
    status = mapping(pod.get("status"))
    beside = {
        word(item.get("name"))
        for item in mappings(mapping(pod.get("spec")).get("initContainers"))
        if item.get("restartPolicy") == "Always"
    }
    for field in ("initContainerStatuses", "containerStatuses"):
        for container in mappings(status.get(field)):
            name, state = word(container.get("name")), mapping(container.get("state"))
            reason = mapping(state.get("waiting")).get("reason") or mapping(state.get("terminated")).get("reason")
            if isinstance(reason, str) and reason in _CAUSES:
                return f"container `{name}` is in {reason}: {_CAUSES[reason]}"
            if field == "initContainerStatuses" and "running" in state and name not in beside:
                return f"init container `{name}` still waits for what starts before it"
    for condition in mappings(status.get("conditions")):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            reason = str(condition.get("reason") or "")
            return f"{reason}: {_CAUSES.get(reason, 'it has no node')}"
    reason = word(status.get("reason"))
    return f"{reason}: {_CAUSES[reason]}" if reason in _CAUSES else ""
