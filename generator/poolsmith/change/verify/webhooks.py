"""Admission webhooks of the stack that nobody answers any more: whatever they are asked of is refused, or unguarded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.change.verify.expected import shown
from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.live import LEFT_OVER
from poolsmith.core.sources.pod_template import mapping, mappings
from poolsmith.gpu.catalog.left_overs import read_left_overs
from poolsmith.kubernetes.live.resources import ENDPOINT_SLICES, NAMESPACES, SERVICES, WEBHOOKS, Resource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.verify.view import LiveView
    from poolsmith.core.diagnostics import Diagnostic

_OF_SERVICE = "kubernetes.io/service-name"


def judge_webhooks(view: LiveView) -> Iterator[Diagnostic]:
    """Those whose service stands in a namespace of the stack, or of a stack that people have had."""
    namespaces = view.cluster.stack_namespaces | read_left_overs().namespaces
    for resource in WEBHOOKS:
        for body in view.snapshot.items(resource):
            reasons: dict[str, bool] = {}
            for webhook in mappings(body.get("webhooks")):
                service = mapping(mapping(webhook.get("clientConfig")).get("service"))
                namespace, name = service.get("namespace"), service.get("name")
                if isinstance(namespace, str) and isinstance(name, str) and namespace in namespaces:
                    why = _why(view, namespace, name)
                    if why:
                        reasons[why] = reasons.get(why, False) or webhook.get("failurePolicy", "Fail") == "Fail"
            for why, fails in reasons.items():
                yield _finding(view, resource, body, why, fails=fails)


def _finding(view: LiveView, resource: Resource, body: dict[str, Any], why: str, *, fails: bool) -> Diagnostic:
    called = str(body["metadata"]["name"])
    name = shown(resource.kind, called, "")
    effect = "each request that it is for is refused" if fails else "requests that it is for pass unseen"
    message = f"{name} is left on cluster `{view.cluster.name}`: {why}; {effect}"
    subject = view.cluster.subject(resource.kind, called)
    return diagnose(LEFT_OVER, message, view.cluster.of_cluster("/spec/stack"), subject=subject)


def _why(view: LiveView, namespace: str, name: str) -> str:
    """Why nobody answers; empty where somebody does, or it is not known."""
    listed = view.snapshot.listed(NAMESPACES)
    if listed is not None and listed.is_known:
        there = {str(item["metadata"]["name"]) for item in listed.items}
        if namespace not in there:
            return f"the namespace `{namespace}` of its service is not there"
    if not _is_read(view, SERVICES, namespace):
        return ""
    if not any(_is(item, namespace, name) for item in view.snapshot.items(SERVICES)):
        return f"its service `{name}` in `{namespace}` is not there"
    if not _is_read(view, ENDPOINT_SLICES, namespace):
        return ""
    for item in view.snapshot.items(ENDPOINT_SLICES):
        labels = mapping(item["metadata"].get("labels"))
        if item["metadata"].get("namespace") == namespace and labels.get(_OF_SERVICE) == name:
            for endpoint in mappings(item.get("endpoints")):
                if mapping(endpoint.get("conditions")).get("ready") is not False:
                    return ""
    return f"no pod answers behind its service `{name}` in `{namespace}`"


def _is(item: dict[str, Any], namespace: str, name: str) -> bool:
    return (item["metadata"].get("namespace"), item["metadata"]["name"]) == (namespace, name)


def _is_read(view: LiveView, resource: Resource, namespace: str) -> bool:
    listed = view.snapshot.listed(resource)
    return listed is not None and listed.is_known and namespace in (listed.namespaces or (namespace,))
