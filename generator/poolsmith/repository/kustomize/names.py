"""Names that a kustomization changes, and the fields of other objects that follow them.

Source: kustomize api/internal/konfig/builtinpluginconsts/namereference.go (the kinds of this field).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PREVIOUS = "\0previous-names"
"""A key in the metadata of an object that is being built: the names that it had, the first one first."""
NEEDS_HASH = "\0needs-hash"

CLUSTER_SCOPED = frozenset(
    (
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "ClusterTrustBundle",
        "ComponentStatus",
        "CustomResourceDefinition",
        "DeviceClass",
        "FlowSchema",
        "IPAddress",
        "IngressClass",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PodSecurityPolicy",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceSlice",
        "RuntimeClass",
        "ServiceCIDR",
        "StorageClass",
        "StorageVersion",
        "StorageVersionMigration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
    )
)
"""Kinds of Kubernetes without a namespace; kustomize takes every other kind for one with."""
_POD = ("spec/template/spec", "spec/jobTemplate/spec/template/spec", "spec", "template/spec")
_CONTAINERS = ("containers", "initContainers")


def _of_pods(*paths: str) -> tuple[str, ...]:
    return tuple(f"{pod}/{path}" for pod in _POD for path in paths)


def _of_containers(*paths: str) -> tuple[str, ...]:
    return _of_pods(*(f"{listed}[]/{path}" for listed in _CONTAINERS for path in paths))


@record(kw_only=False)
class Reference:
    """`path` in objects of `kind` (any where empty) names an object of the kind `of`; `[]` stands for each item."""

    of: str
    path: str
    kind: str = ""


_PLAIN: dict[str, tuple[str, ...]] = {
    "ConfigMap": (
        *_of_pods("volumes[]/configMap/name", "volumes[]/projected/sources[]/configMap/name"),
        *_of_containers("env[]/valueFrom/configMapKeyRef/name", "envFrom[]/configMapRef/name"),
    ),
    "Secret": (
        *_of_pods(
            "volumes[]/secret/secretName", "volumes[]/projected/sources[]/secret/name", "imagePullSecrets[]/name"
        ),
        *_of_containers("env[]/valueFrom/secretKeyRef/name", "envFrom[]/secretRef/name"),
        "spec/tls[]/secretName",
        "imagePullSecrets[]/name",
        "secrets[]/name",
    ),
    "ServiceAccount": _of_pods("serviceAccountName", "serviceAccount"),
    "PersistentVolumeClaim": _of_pods("volumes[]/persistentVolumeClaim/claimName"),
    "PriorityClass": _of_pods("priorityClassName"),
    "RuntimeClass": _of_pods("runtimeClassName"),
}
_OF_KINDS: tuple[Reference, ...] = (
    Reference("Service", "spec/serviceName", "StatefulSet"),
    Reference("Service", "spec/rules[]/http/paths[]/backend/service/name", "Ingress"),
    Reference("Service", "webhooks[]/clientConfig/service/name", "ValidatingWebhookConfiguration"),
    Reference("Service", "webhooks[]/clientConfig/service/name", "MutatingWebhookConfiguration"),
    Reference("Service", "spec/service/name", "APIService"),
    Reference("Deployment", "spec/scaleTargetRef/name", "HorizontalPodAutoscaler"),
    Reference("StatefulSet", "spec/scaleTargetRef/name", "HorizontalPodAutoscaler"),
    Reference("ClusterRole", "roleRef/name", "ClusterRoleBinding"),
    Reference("ClusterRole", "roleRef/name", "RoleBinding"),
    Reference("Role", "roleRef/name", "RoleBinding"),
    Reference("ServiceAccount", "subjects[]/name", "ClusterRoleBinding"),
    Reference("ServiceAccount", "subjects[]/name", "RoleBinding"),
)
REFERENCES: tuple[Reference, ...] = (
    *(Reference(kind, path) for kind, paths in _PLAIN.items() for path in paths),
    *_OF_KINDS,
)


def configured(data: Any) -> Iterator[Reference]:
    """`nameReference` of a transformer configuration."""
    for entry in (data.get("nameReference") or ()) if isinstance(data, dict) else ():
        of = entry.get("kind") if isinstance(entry, dict) else None
        for field in (entry.get("fieldSpecs") or ()) if isinstance(of, str) else ():
            path, kind = field.get("path"), field.get("kind")
            if isinstance(path, str):
                yield Reference(str(of), path, kind if isinstance(kind, str) else "")


def slots(node: Any, steps: list[str]) -> Iterator[tuple[dict[str, Any], str]]:
    """The mappings, and the key in each, that a path leads to; lists on the way stand for their items."""
    if isinstance(node, list):
        for item in node:
            yield from slots(item, steps)
        return
    if not isinstance(node, dict) or not steps:
        return
    step = steps[0].removesuffix("[]")
    if step not in node:
        return
    if len(steps) == 1:
        yield node, step
    else:
        yield from slots(node[step], steps[1:])


def follow(objects: list[dict[str, Any]], references: Iterable[Reference]) -> None:
    """Writes the present names of renamed objects into those that name them; `objects` are for this to change."""
    renamed: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for item in objects:
        metadata = item.get("metadata")
        for name in metadata.get(PREVIOUS, ()) if isinstance(metadata, dict) else ():
            renamed.setdefault((str(item.get("kind")), name), []).append(item)
    if not renamed:
        return
    kinds = {kind for kind, _ in renamed}
    for reference in references:
        if reference.of not in kinds:
            continue
        steps = reference.path.split("/")
        for item in objects:
            if reference.kind and item.get("kind") != reference.kind:
                continue
            for holder, key in slots(item, steps):
                found = renamed.get((reference.of, holder[key])) if isinstance(holder[key], str) else None
                if found and holder.get("kind", reference.of) in (reference.of, item.get("kind")):
                    holder[key] = _nearest(found, item)["metadata"]["name"]


def _nearest(found: list[dict[str, Any]], item: dict[str, Any]) -> dict[str, Any]:
    own = item.get("metadata", {}).get("namespace")
    return next((other for other in found if other["metadata"].get("namespace") == own), found[0])
