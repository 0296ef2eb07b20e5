"""Workloads that are not ready, with the reason that their pods give, and objects whose status says that they failed.

Such a status also says that nobody delivers an object any more, or that it is about to be deleted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.change.verify.live_view import ends
from poolsmith.change.verify.pod_counts import pod_counts
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import DIFFERS_ON_CLUSTER, NOT_READY
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.live_cluster import read_around, read_stopped
from poolsmith.kubernetes.live.api_resources import HELM_RELEASES, KUSTOMIZATIONS, PODS, SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.verify.expected import ExpectedCluster
    from poolsmith.change.verify.live_view import LiveView
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.kubernetes.live.snapshot import KubernetesObject


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
    spaces = {item.namespace for item, _ in view.running}
    all_pods = [pod for pod in view.snapshot.items(PODS) if word(pod["metadata"].get("namespace")) in spaces]
    unready = [pod for pod in all_pods if _is_ready(pod) is not True]
    for item in view.cluster.expected:
        if item.resource.kind not in ("DaemonSet", "Deployment"):
            continue
        for body in view.find(item):
            wanted, ready = pod_counts(body)
            name = str(body["metadata"]["name"])
            pods = _selected(unready, item.namespace, body)
            if ready < wanted:
                told = f"{ready} of {wanted} pods are ready{_why(pods)}"
            elif not (
                told := _failing(pods) or _misplaced(body) or _restarted(_selected(all_pods, item.namespace, body))
            ):
                continue
            message = f"{shown(item.resource.kind, name, item.namespace)} of cluster `{view.cluster.name}`: {told}"
            subject = view.cluster.subject(item.resource.kind, name, item.namespace)
            yield diagnose(NOT_READY, message, view.cluster.place(item), subject=subject)


def _misplaced(body: dict[str, Any]) -> str:
    """Of a DaemonSet: pods on nodes that it does not select any more. Empty for none."""
    number = mapping(body.get("status")).get("numberMisscheduled")
    if not isinstance(number, int) or number <= 0:
        return ""
    return f"{counted(number, 'pod')} on nodes that it does not select (`status.numberMisscheduled`)"


def _restarted(pods: list[KubernetesObject]) -> str:
    """The container that was started again most often, where that is no accident any more."""
    counts = [
        (number, word(item.get("name")), pod)
        for pod in pods
        for field in ("initContainerStatuses", "containerStatuses")
        for item in mappings(mapping(pod.get("status")).get(field))
        if isinstance(number := item.get("restartCount"), int) and number >= read_around().restarts
    ]
    if not counts:
        return ""
    number, name, pod = max(counts, key=lambda item: item[:2])
    return f"{_called(pod)}: container `{name}` was started again {number} times (`restartCount`)"


def _selected(pods: list[KubernetesObject], namespace: str, body: dict[str, Any]) -> list[KubernetesObject]:
    """The workload's own."""
    chosen = mapping(mapping(mapping(body.get("spec")).get("selector")).get("matchLabels"))
    found = []
    for pod in pods if chosen else ():
        labels = mapping(pod["metadata"].get("labels"))
        if pod["metadata"].get("namespace") == namespace and all(labels.get(key) == chosen[key] for key in chosen):
            found.append(pod)
    return found


def _why(pods: list[KubernetesObject]) -> str:
    """The first that says more, by what it waits for; else the first."""
    told = next((f"; {_called(pod)}: {words}" for pod in pods if (words := _cause(pod))), "")
    return told or (f"; {_called(pods[0])} is not" if pods else "")


def _failing(pods: list[KubernetesObject]) -> str:
    """The first that says so itself, whatever its controller counts; empty for none."""
    for pod in pods:
        words = "" if ends(pod) else _cause(pod)
        if words or (_is_ready(pod) is False and not ends(pod)):
            return f"{_called(pod)} is not ready" + (f": {words}" if words else "")
    return ""


def _called(pod: KubernetesObject) -> str:
    node = word(mapping(pod.get("spec")).get("nodeName"))
    return f"pod `{pod['metadata']['name']}`" + (f" on `{node}`" if node else "")


def _is_ready(pod: dict[str, Any]) -> bool | None:
    """None where nothing says it."""
    told = mappings(mapping(pod.get("status")).get("conditions"))
    return next((item.get("status") == "True" for item in told if item.get("type") == "Ready"), None)


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


def judge_states(view: LiveView) -> Iterator[Diagnostic]:
    for item in view.cluster.expected:
        if item.passing:
            continue
        for body in view.find(item):
            name = str(body["metadata"]["name"])
            about = f"{shown(item.resource.kind, name, item.namespace)} of cluster `{view.cluster.name}`"
            place, subject = view.cluster.place(item), view.cluster.subject(item.resource.kind, name, item.namespace)
            for text in _stopped(item, body):
                yield diagnose(DIFFERS_ON_CLUSTER, f"{about} {text}", place, subject=subject)
            if text := _wrong(item, body) or _behind(view, item, body):
                yield diagnose(NOT_READY, f"{about} {text}", place, subject=subject)


def _stopped(item: ExpectedCluster, body: dict[str, Any]) -> Iterator[str]:
    given, held = (mapping(one["metadata"].get("annotations")) for one in (item.body, body))
    for key, (values, means) in read_stopped().annotations.items():
        if held.get(key) in values and given.get(key) != held[key]:
            yield f"has the annotation `{key}: {held[key]}`: {means}"


def _wrong(item: ExpectedCluster, body: dict[str, Any]) -> str:
    """The first that it says, the worst first; empty where all is well, and where it says nothing."""
    status = mapping(body.get("status"))
    if body["metadata"].get("deletionTimestamp") or status.get("phase") == "Terminating":
        return "is about to be deleted"
    facts = read_stopped()
    kind, told = facts.conditions.get(item.resource.group, ("", ()))
    for condition in mappings(status.get("conditions")):
        if kind and condition.get("type") == kind and condition.get("status") in told:
            reason, message = word(condition.get("reason")), word(condition.get("message"))
            held = word(condition.get("status"))
            return f"says {kind} {held}: {': '.join(part for part in (reason, message) if part) or 'without a reason'}"
    for field in facts.states:
        if (field.api_version, field.kind) == (item.resource.api_version, item.resource.kind):
            value = word(value_at(status, field.field))
            if value and value not in field.well:
                return f"says that its {' '.join(field.field)} is `{value}`"
    wanted, seen = body["metadata"].get("generation"), status.get("observedGeneration")
    if isinstance(wanted, int) and isinstance(seen, int) and 0 <= seen < wanted:  # -1: nobody has ever looked
        return "was changed, and who works on it has not looked at that yet"
    return ""


def _behind(view: LiveView, item: ExpectedCluster, body: dict[str, Any]) -> str:
    """Of an object of Flux: that it is suspended, or has not applied what its source has. Empty for neither."""
    spec, status = mapping(body.get("spec")), mapping(body.get("status"))
    if item.resource not in (KUSTOMIZATIONS, HELM_RELEASES, *SOURCES):
        return ""
    if spec.get("suspend") is True and mapping(item.body.get("spec")).get("suspend") is not True:
        return ""  # told as a field that somebody added
    applied = word(status.get("lastAppliedRevision"))
    if item.resource == HELM_RELEASES:
        last = next(mappings(status.get("history")), {})
        applied = word(last.get("chartVersion"))
    wanted = _revision_of_source(view, spec, body) or word(status.get("lastAttemptedRevision"))
    if applied and wanted and applied != wanted and applied.partition("+")[0] != wanted.partition("+")[0]:
        return f"has applied the revision `{applied}`, and its source has `{wanted}`"
    return ""


def _revision_of_source(view: LiveView, spec: Mapping[str, Any], body: dict[str, Any]) -> str:
    reference = mapping(spec.get("sourceRef"))
    kind, name = word(reference.get("kind")), word(reference.get("name"))
    namespace = word(reference.get("namespace")) or str(body["metadata"].get("namespace") or "")
    resource = next((one for one in SOURCES if one.kind == kind), None)
    for source in view.snapshot.items(resource) if resource is not None else ():
        if (source["metadata"].get("namespace"), source["metadata"]["name"]) == (namespace, name):
            return word(mapping(mapping(source.get("status")).get("artifact")).get("revision"))
    return ""
