"""The request that brings an object to the API server, from what is known of it offline."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.kubernetes.admission.request import AdmissionRequest, User, name_of
from poolsmith.kubernetes.server.normalise import as_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from poolsmith.kubernetes.admission.resources import Resource, Resources

DEFAULT_NAMESPACE = "default"


def make_request(
    body: Mapping[str, Any] | None,
    resources: Resources,
    *,
    old: Mapping[str, Any] | None = None,
    operation: str = "CREATE",
    namespaces: Callable[[str], Mapping[str, Any] | None] = lambda _: None,
    user: User | None = None,
    subresource: str = "",
    plural: str = "",
    default_namespace: str = DEFAULT_NAMESPACE,
) -> AdmissionRequest:
    """`body` is None on DELETE, `old` on CREATE. What is not given counts as unknown where the API server knows it.

    `plural` names the resource where the kind does not tell it, `default_namespace` where a namespaced object goes.
    """
    kubernetes = resources.kubernetes
    either = mapping(body if body is not None else old)
    resource = resources.of(word(either.get("apiVersion")), word(either.get("kind")))
    if plural:
        resource = replace(resource, plural=plural, guessed=False)
    namespace = _namespace(either, resource, default_namespace)
    own = namespaces(namespace) if namespace else None
    if own is None and _is_namespace(resource):
        own = old
    unknown = {
        "userInfo": user is None,
        "namespaceObject": bool(namespace) and not _is_namespace(resource) and own is None,
        "oldObject": operation == "UPDATE" and old is None,
    }
    return AdmissionRequest(
        resource=resource,
        operation=operation,
        name=name_of(either),
        namespace=namespace,
        object=None if body is None else _placed(as_stored(body, kubernetes), resource, namespace),
        old_object=None if old is None else _placed(as_stored(old, kubernetes), resource, namespace),
        namespace_object=None if own is None else as_stored(own, kubernetes),
        user=user or User(),
        subresource=subresource or resource.subresource,
        unknown=frozenset(name for name, is_unknown in unknown.items() if is_unknown),
    )


def _is_namespace(resource: Resource) -> bool:
    return (resource.group, resource.kind) == ("", "Namespace")


def _namespace(body: Mapping[str, Any], resource: Resource, default: str) -> str:
    """The object's; a namespaced kind without one goes to the default one."""
    if _is_namespace(resource):
        return name_of(body)
    if resource.namespaced is False:
        return ""
    own = word(mapping(body.get("metadata")).get("namespace"))
    return own or (default if resource.namespaced else "")


def _placed(body: dict[str, Any], resource: Resource, namespace: str) -> dict[str, Any]:
    """The API server writes the namespace into the object where that leaves it out."""
    metadata = body.get("metadata")
    if not namespace or _is_namespace(resource) or not isinstance(metadata, dict) or metadata.get("namespace"):
        return body
    return body | {"metadata": metadata | {"namespace": namespace}}
