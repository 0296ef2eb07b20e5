"""What is sent to the API server: an object, what is done with it, by whom, and where."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.kubernetes.admission.selector import labels_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.kubernetes.admission.resources import Resource

NAME_LABEL = "kubernetes.io/metadata.name"
OPERATIONS = ("CREATE", "UPDATE", "DELETE", "CONNECT")
_OF_NAMESPACE = (
    "name",
    "generateName",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "finalizers",
)


@record
class User:
    """Who sends the request."""

    name: str = ""
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def variable(self) -> dict[str, Any]:
        """What is empty is absent."""
        parts = {
            "username": self.name,
            "uid": self.uid,
            "groups": list(self.groups),
            "extra": {key: list(values) for key, values in self.extra.items()},
        }
        return {key: value for key, value in parts.items() if value}


@record
class AdmissionRequest:
    """One request. Objects are normalised already; `object` is None on DELETE, `old_object` on CREATE.

    `unknown` names what nobody knows offline: `oldObject`, `namespaceObject`, `userInfo`. `namespace` is the
    object's; a Namespace lies in itself.
    """

    resource: Resource
    operation: str = "CREATE"
    name: str = ""
    namespace: str = ""
    object: Mapping[str, Any] | None = None
    old_object: Mapping[str, Any] | None = None
    namespace_object: Mapping[str, Any] | None = None
    user: User = field(default_factory=User)
    subresource: str = ""
    dry_run: bool = False
    unknown: frozenset[str] = frozenset()

    @property
    def is_namespace(self) -> bool:
        return self.resource.kind == "Namespace" and self.resource.group == ""

    @property
    def namespace_labels(self) -> tuple[dict[str, str], bool]:
        """Labels of the namespace, and whether those are all."""
        if self.is_namespace and not self.subresource and self.operation in ("CREATE", "UPDATE"):
            return self._named(labels_of(self.object)), True
        if self.namespace_object is None:
            return self._named({}), False
        return self._named(labels_of(self.namespace_object)), True

    def _named(self, labels: dict[str, str]) -> dict[str, str]:
        """The API server gives every namespace a label with its name."""
        return {NAME_LABEL: self.namespace} | labels if self.namespace else labels

    def request_variable(self) -> dict[str, Any]:
        """What expressions see as `request`: empty names are absent, `options` is there and null."""
        resource = self.resource
        kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
        names = {"group": resource.group, "version": resource.version, "resource": resource.plural}
        optional = {
            "subResource": self.subresource,
            "requestSubResource": self.subresource,
            "name": self.name,
            "namespace": self.namespace,
        }
        return {
            "uid": "",
            "kind": kind,
            "resource": names,
            "requestKind": dict(kind),
            "requestResource": dict(names),
            "operation": self.operation,
            "userInfo": self.user.variable(),
            "dryRun": self.dry_run,
            "options": None,
            **{key: value for key, value in optional.items() if value},
        }

    def namespace_variable(self) -> dict[str, Any] | None:
        """What expressions see as `namespaceObject`; null for what lies in no namespace, and for namespaces."""
        if self.namespace_object is None or not self.namespace or self.is_namespace:
            return None
        metadata = mapping(self.namespace_object.get("metadata"))
        shown = {key: metadata[key] for key in _OF_NAMESPACE if metadata.get(key) not in (None, "", {}, [])}
        spec, status = (
            {
                key: value
                for key, value in mapping(self.namespace_object.get(part)).items()
                if value not in ("", [], None)
            }
            for part in ("spec", "status")
        )
        return {"metadata": {"creationTimestamp": None} | shown, "spec": spec, "status": status}


def name_of(body: Mapping[str, Any] | None) -> str:
    """The name that a request for an object carries: none where the API server makes it up."""
    return word(mapping(mapping(body).get("metadata")).get("name"))
