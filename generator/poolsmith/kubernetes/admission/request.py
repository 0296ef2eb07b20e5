"""The admission request of an object, made offline: the object, the operation, the user, the place, its CEL values.

The values for expressions are made once and shared by all policies. Ephemeral containers get a request of their own,
because they enter a pod in no other way: a policy for pods/ephemeralcontainers and not for pods would be missed without
it.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.kubernetes.admission.selector import labels_of
from poolsmith.kubernetes.admission.verdict import Evaluation
from poolsmith.kubernetes.cel import Bindings, CelError, NotEvaluated
from poolsmith.kubernetes.server.normalise import as_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from poolsmith.kubernetes.admission.policy_expressions import CompiledExpression
    from poolsmith.kubernetes.admission.resources import Resource, Resources


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


USER = "userInfo"
_ASKS_FOR_PRESENCE = pattern(r"has\s*\(|\?")
_UNKNOWN = {
    USER: "who sends the request is not known here: it reads `request.userInfo`",
    "namespaceObject": "the namespace is not known here: it reads `namespaceObject`",
    "oldObject": "the old object is not known here: it reads `oldObject`",
}


class Subject:
    """Evaluates parts of policies on one request."""

    def __init__(self, request: AdmissionRequest, *, params: Mapping[str, Any] | None = None) -> None:
        self.request = request
        self._params = params
        self._bindings: Bindings | None = None
        self._without_namespace: Bindings | None = None

    def with_params(self, params: Mapping[str, Any]) -> Subject:
        other = Subject(self.request, params=params)
        if self._bindings is not None:
            other._bindings = self._bindings.with_params(params)
        return other

    def value(self, part: CompiledExpression) -> Any:
        """Raises CelError for an error of CEL, a compile error included, and NotEvaluated."""
        return self._value(part, ("namespaceObject", "oldObject"), self.bindings)

    def condition(self, part: CompiledExpression) -> Any:
        """As `value`, of a match condition: for those namespaceObject is always null."""
        if not part.reads("namespaceObject"):
            return self._value(part, ("oldObject",), self.bindings)
        if self._without_namespace is None:
            self._without_namespace = self._made(namespace=None)
        return self._value(part, ("oldObject",), self._without_namespace)

    @property
    def bindings(self) -> Bindings:
        if self._bindings is None:
            self._bindings = self._made(namespace=self.request.namespace_variable())
        return self._bindings

    def _made(self, *, namespace: Mapping[str, Any] | None) -> Bindings:
        request = self.request
        return Bindings(
            object=request.object,
            old_object=request.old_object,
            request=request.request_variable(),
            namespace_object=namespace,
            params=self._params,
        )

    def _value(self, part: CompiledExpression, names: tuple[str, ...], bindings: Bindings) -> Any:
        if part.undecidable:
            raise NotEvaluated(part.undecidable)
        if part.compiled is None:
            raise CelError(part.failure)
        unknown = self.request.unknown
        if unknown:
            for name in names:
                if name in unknown and part.reads(name):
                    raise NotEvaluated(_UNKNOWN[name])
            if USER in unknown and part.reads("request"):
                return self._of_unknown_user(part, bindings)
        return part.compiled.evaluate(bindings)

    def _of_unknown_user(self, part: CompiledExpression, bindings: Bindings) -> Any:
        """A result that does not depend on the user holds for every user."""
        text = part.texts
        if USER not in text:
            return part.compiled.evaluate(bindings) if part.compiled is not None else None
        if _ASKS_FOR_PRESENCE.search(text):
            raise NotEvaluated(_UNKNOWN[USER])
        try:
            return part.compiled.evaluate(bindings) if part.compiled is not None else None
        except CelError:
            raise NotEvaluated(_UNKNOWN[USER]) from None


EPHEMERAL = "ephemeralcontainers"


def ephemeral_requests(requests: Sequence[AdmissionRequest]) -> Iterator[AdmissionRequest]:
    """An UPDATE of the subresource for each pod that has such containers."""
    for request in tuple(requests):
        resource = request.resource
        is_pod = (resource.group, resource.kind, request.subresource) == ("", "Pod", "")
        if is_pod and mapping(mapping(request.object).get("spec")).get("ephemeralContainers"):
            unknown = request.unknown | ({"oldObject"} if request.old_object is None else set())
            yield replace(request, subresource=EPHEMERAL, operation="UPDATE", unknown=unknown)


def ephemeral_answers(
    requests: Sequence[AdmissionRequest], asked: int, evaluations: Sequence[Evaluation]
) -> Iterator[tuple[AdmissionRequest, Evaluation]]:
    """What policies say of the requests after the first `asked` that say nothing of the pod as it was sent."""
    said = {
        id(request.object): {item.policy for item in evaluation.results}
        for request, evaluation in zip(requests[:asked], evaluations, strict=False)
    }
    for request, evaluation in zip(requests[asked:], evaluations[asked:], strict=True):
        results = tuple(item for item in evaluation.results if item.policy not in said[id(request.object)])
        if results:
            yield request, Evaluation(results=results)
