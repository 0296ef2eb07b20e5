"""The names that a policy's expressions may use, and the fields of the typed ones, as the API server declares them.

Source: k8s.io/apiserver 0.34.1 `pkg/admission/plugin/cel/compile.go`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.cel.cel_types import BOOL, DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of

if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLES = "kubernetes.variables"
_STRINGS = list_of(STRING)
_LABELS = map_of(STRING, STRING)


def _struct(name: str) -> Type:
    return Type(f"kubernetes.{name}")


_KIND = {"group": STRING, "version": STRING, "kind": STRING}
_RESOURCE = {"group": STRING, "version": STRING, "resource": STRING}
FIELDS: dict[str, dict[str, Type]] = {
    "kubernetes.GroupVersionKind": _KIND,
    "kubernetes.GroupVersionResource": _RESOURCE,
    "kubernetes.UserInfo": {
        "username": STRING,
        "uid": STRING,
        "groups": _STRINGS,
        "extra": map_of(STRING, _STRINGS),
    },
    "kubernetes.AdmissionRequest": {
        "kind": _struct("GroupVersionKind"),
        "resource": _struct("GroupVersionResource"),
        "subResource": STRING,
        "requestKind": _struct("GroupVersionKind"),
        "requestResource": _struct("GroupVersionResource"),
        "requestSubResource": STRING,
        "name": STRING,
        "namespace": STRING,
        "operation": STRING,
        "userInfo": _struct("UserInfo"),
        "dryRun": BOOL,
        "options": DYN,
    },
    "kubernetes.NamespaceCondition": {
        "status": STRING,
        "type": STRING,
        "lastTransitionTime": TIMESTAMP,
        "message": STRING,
        "reason": STRING,
    },
    "kubernetes.NamespaceSpec": {"finalizers": _STRINGS},
    "kubernetes.NamespaceStatus": {"conditions": list_of(_struct("NamespaceCondition")), "phase": STRING},
    "kubernetes.NamespaceMetadata": {
        "name": STRING,
        "generateName": STRING,
        "namespace": STRING,
        "labels": _LABELS,
        "annotations": _LABELS,
        "UID": STRING,
        "creationTimestamp": TIMESTAMP,
        "deletionGracePeriodSeconds": INT,
        "deletionTimestamp": TIMESTAMP,
        "generation": INT,
        "resourceVersion": STRING,
        "finalizers": _STRINGS,
    },
    "kubernetes.Namespace": {
        "metadata": _struct("NamespaceMetadata"),
        "spec": _struct("NamespaceSpec"),
        "status": _struct("NamespaceStatus"),
    },
}
_KEPT = frozenset(
    {"bool", "bytes", "double", "int", "null_type", "string", "uint", TIMESTAMP.name, "google.protobuf.Duration"}
)


def names(*, params: bool, authorizer: bool) -> Mapping[str, Type]:
    """What a policy's expressions may name; params: it has a paramKind; authorizer: false in messages."""
    out = {
        "object": DYN,
        "oldObject": DYN,
        "request": _struct("AdmissionRequest"),
        "namespaceObject": _struct("Namespace"),
        "variables": Type(VARIABLES),
    }
    if params:
        out["params"] = DYN
    if authorizer:
        out["authorizer"] = Type("kubernetes.authorization.Authorizer")
        out["authorizer.requestResource"] = Type("kubernetes.authorization.ResourceCheck")
    return out


def variable_type(found: Type) -> Type:
    """The type with which later expressions see a variable: lists, maps and plain types stay, the rest is dyn."""
    if found.name in _KEPT:
        return found
    if found.name in ("list", "map") and found.params:
        return Type(found.name, tuple(map(variable_type, found.params)))
    return DYN
