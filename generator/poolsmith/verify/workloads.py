"""Workloads in the namespaces of the stack: those that nobody predicted, and what known ones may do beyond it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.diagnostics import Severity, diagnose
from poolsmith.diagnostics.codes.live import UNPREDICTED_PRIVILEGE, UNPREDICTED_WORKLOAD
from poolsmith.diagnostics.listing import listed
from poolsmith.ledger.pod_privileges import pod_privileges
from poolsmith.live.resources import PODS, WORKLOADS
from poolsmith.sources.pod_template import mapping, mappings, pod_template_of
from poolsmith.verify.expected import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.diagnostics import Diagnostic
    from poolsmith.live.resources import Resource
    from poolsmith.verify.view import LiveView

_FEW = 4
_HARMLESS = frozenset(("allow-escalation",))
"""What any pod has that does not say otherwise."""


def judge_workloads(view: LiveView) -> Iterator[Diagnostic]:
    yield from _unpredicted(view)
    for item in view.cluster.expected:
        template = pod_template_of(item.body)
        if template is None:
            continue
        for body in view.find(item):
            live = pod_template_of(body)
            more = [] if live is None else _texts(live, set(_texts(template, set())))
            if more:
                called = str(body["metadata"]["name"])
                name = shown(item.resource.kind, called, item.namespace)
                message = f"{name} of cluster `{view.cluster.name}` holds {listed(more, _FEW)}, and nobody predicted it"
                place = view.cluster.place(item)
                subject = view.cluster.subject(item.resource.kind, called, item.namespace)
                yield diagnose(UNPREDICTED_PRIVILEGE, message, place, subject=subject)


def _unpredicted(view: LiveView) -> Iterator[Diagnostic]:
    owners = {
        (resource.kind, str(body["metadata"].get("namespace") or ""), str(body["metadata"]["name"])): body
        for resource in WORKLOADS
        for body in view.snapshot.items(resource)
    }
    for resource in (*WORKLOADS, PODS):
        for body in view.snapshot.items(resource):
            metadata = body["metadata"]
            namespace, name = str(metadata.get("namespace") or ""), str(metadata["name"])
            if namespace not in view.cluster.stack_namespaces or (resource, namespace, name) in view.known:
                continue
            owner = _owner(body, namespace, owners)
            allowed = set() if owner is None else set(_texts(pod_template_of(owner) or {}, set()))
            held = _texts(pod_template_of(body) or {}, allowed)
            if owner is None or held:
                yield _finding(view, resource, namespace, name, held, owner)


def _owner(
    body: dict[str, Any], namespace: str, owners: dict[tuple[str, str, str], dict[str, Any]]
) -> dict[str, Any] | None:
    """The workload on the cluster that makes this pod or job; one that only claims to be made has none.

    What a custom resource is said to own is judged for itself: whoever makes a workload may write an owner.
    """
    for reference in mappings(mapping(body["metadata"]).get("ownerReferences")):
        if reference.get("controller") is not True:
            continue
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        if kind == "ReplicaSet":  # of a Deployment, which is all that its name tells of it
            kind, name = "Deployment", name.rpartition("-")[0]
            return owners.get((kind, namespace, name))
        found = owners.get((kind, namespace, name))
        if found is not None and found["metadata"].get("uid") == reference.get("uid"):
            return found
    return None


def _finding(
    view: LiveView, resource: Resource, namespace: str, name: str, held: list[str], owner: dict[str, Any] | None
) -> Diagnostic:
    worse = [text for text in held if text.rpartition(": ")[2] not in _HARMLESS]
    holds = f"it holds {listed(worse, _FEW)}" if worse else "it holds no privilege"
    who = "is not predicted" if owner is None else f"is not what {owner['kind']} `{owner['metadata']['name']}` says"
    message = f"{shown(resource.kind, name, namespace)} of cluster `{view.cluster.name}` {who}: {holds}"
    severity = Severity.ERROR if worse else Severity.WARNING
    place = view.cluster.of_cluster("/spec/stack")
    subject = view.cluster.subject(resource.kind, name, namespace)
    return diagnose(UNPREDICTED_WORKLOAD, message, place, subject=subject, severity=severity)


def _texts(template: Any, but: set[str]) -> list[str]:
    """Privileges as `container: token`; of the whole pod the token alone."""
    found = (f"{container}: {token}" if container else str(token) for container, token in pod_privileges(template))
    return [text for text in found if text not in but]
