"""From objects in files to policies, bindings and parameters, and what the API server would refuse of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes import policy as codes
from poolsmith.core.diagnostics.message_text import printable, shorten
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.kubernetes.admission.policy import (
    Action,
    Binding,
    Broken,
    Expression,
    FailurePolicy,
    MatchResources,
    Named,
    ParamKind,
    ParamRef,
    Policy,
    PolicySet,
    ResourceRule,
    Validation,
)
from poolsmith.kubernetes.admission.validity import binding_problems, policy_problems
from poolsmith.kubernetes.schema.kind_schema import KindSchema
from poolsmith.kubernetes.schema.schemas import Versions, kubernetes_minors, schemas_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.kubernetes.objects_file import PlacedObject


GROUP = "admissionregistration.k8s.io"
POLICY = "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"
MUTATING = ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")
_DEFINITION = "CustomResourceDefinition"
_SPEC = "/spec"


def read_policies(objects: Iterable[PlacedObject], kubernetes: str) -> tuple[PolicySet, tuple[Diagnostic, ...]]:
    """What the objects are, and what is wrong with each of them. `kubernetes` is the minor whose API judges them."""
    reading = _Reading(kubernetes)
    for item in objects:
        reading.take(item)
    return reading.result(), tuple(reading.problems)


class _Reading:
    def __init__(self, kubernetes: str) -> None:
        self.kubernetes = kubernetes
        self.policies: list[Policy] = []
        self.bindings: list[Binding] = []
        self.objects: list[PlacedObject] = []
        self.broken: list[Broken] = []
        self.problems: list[Diagnostic] = []
        self.seen: dict[tuple[str, str], PlacedObject] = {}

    def result(self) -> PolicySet:
        return PolicySet(
            policies=tuple(self.policies),
            bindings=tuple(self.bindings),
            objects=tuple(self.objects),
            definitions=tuple(item for item in self.objects if item.kind == _DEFINITION),
            broken=tuple(self.broken),
            names=frozenset(name for kind, name in self.seen if kind == POLICY),
        )

    def take(self, item: PlacedObject) -> None:
        if not item.api_version or not item.kind:
            message = "this is no Kubernetes object: it lacks `apiVersion` or `kind`"
            self._refuse(item, "/kind", message, "write apiVersion, kind, metadata and spec")
            self.broken.append(Broken(name="", placed=item, why=message))
        elif item.group != GROUP or item.kind not in (POLICY, BINDING, *MUTATING):
            self.objects.append(item)
        elif item.kind in MUTATING:
            message = f"{_shown(item)}: poolsmith evaluates validating policies only; this one would change objects"
            self.problems.append(diagnose(codes.MUTATING_POLICY, message, item.locate("/kind"), subject=_shown(item)))
            self.broken.append(Broken(name=item.name, placed=item, why="mutating policies are not evaluated"))
        else:
            self._take_policy(item)

    def _take_policy(self, item: PlacedObject) -> None:
        before = len(self.problems)
        sound = self._fits_schema(item)
        for pointer, message, advice in (policy_problems if item.kind == POLICY else binding_problems)(item.body):
            if not any(known.primary.pointer == item.pointer + pointer for known in self.problems[before:]):
                self._refuse(item, pointer, f"{_shown(item)}: {message}", advice)
        key = item.kind, item.name
        if key in self.seen:
            message = f"{_shown(item)}: another {item.kind} has this name; one of the two would replace the other"
            self._refuse(item, "/metadata/name", message, "give it a name of its own")
        self.seen.setdefault(key, item)
        if sound and item.kind == POLICY:
            self.policies.append(read_policy(item))
        elif sound:
            self.bindings.append(_binding(item))
        else:
            self.broken.append(Broken(name=item.name, placed=item, why=self.problems[before].message))

    def _fits_schema(self, item: PlacedObject) -> bool:
        """Whether it can be read at all; an unknown field alone does not keep it from that, and null is absent."""
        schema = self._schema(item)
        sound = bool(item.name)
        if schema is None:
            message = f"{_shown(item)}: no Kubernetes has {item.kind} as `{shorten(item.api_version)}`"
            self._refuse(item, "/apiVersion", message, f"use `apiVersion: {GROUP}/v1`")
            return False
        for violation in schema.violations(item.body):
            if violation.what == "null" and not violation.grave:
                continue
            unknown = violation.what == "unknown-field"
            sound = sound and (unknown or not violation.grave)
            field = shorten(violation.dotted) or "the object"
            self._refuse(item, violation.pointer, f"{_shown(item)}: `{field}` {violation.message}", violation.help)
        if not item.name:
            self._refuse(item, "/metadata/name", f"{item.kind} lacks `metadata.name`", "add `metadata.name`")
        return sound

    def _schema(self, item: PlacedObject) -> KindSchema | None:
        """Of the target, else of the nearest version that serves it: a kind that is not served is told elsewhere."""
        known = kubernetes_minors()
        wanted = [minor for minor in (self.kubernetes,) if minor in known]
        for minor in (*wanted, *reversed(known)):
            found = schemas_for(Versions(kubernetes=minor)).find(item.api_version, item.kind)
            if isinstance(found, KindSchema):
                return found
        return None

    def _refuse(self, item: PlacedObject, pointer: str, message: str, advice: str | None) -> None:
        self.problems.append(
            diagnose(codes.INVALID_ADMISSION_POLICY, message, item.locate(pointer), help=advice, subject=_shown(item))
        )


def _shown(item: PlacedObject) -> str:
    return shorten(printable(item.shown))


def read_policy(item: PlacedObject) -> Policy:
    """The typed policy; what is missing or of the wrong type reads as absent."""
    spec = mapping(item.body.get("spec"))
    kind = mapping(spec.get("paramKind"))
    return Policy(
        name=item.name,
        placed=item,
        match=match_resources(spec.get("matchConstraints")) or MatchResources(),
        failure_policy=FailurePolicy.IGNORE if spec.get("failurePolicy") == "Ignore" else FailurePolicy.FAIL,
        param_kind=ParamKind(word(kind.get("apiVersion")), word(kind.get("kind"))) if kind else None,
        match_conditions=_named(spec, "matchConditions", "name", "expression"),
        variables=_named(spec, "variables", "name", "expression"),
        validations=tuple(
            Validation(
                index=index,
                expression=Expression(word(body.get("expression")), f"{_SPEC}/validations/{index}/expression"),
                message=word(body.get("message")),
                message_expression=_expression(body, f"{_SPEC}/validations/{index}", "messageExpression"),
                reason=word(body.get("reason")),
            )
            for index, body in _items(spec, "validations")
        ),
        audit_annotations=_named(spec, "auditAnnotations", "key", "valueExpression"),
    )


def _binding(item: PlacedObject) -> Binding:
    spec = mapping(item.body.get("spec"))
    actions = words(spec.get("validationActions"))
    reference = spec.get("paramRef")
    return Binding(
        name=item.name,
        policy=word(spec.get("policyName")),
        actions=tuple(action for action in Action if action.value in actions) or (Action.DENY,),
        param_ref=_param_ref(reference) if isinstance(reference, dict) else None,
        match=match_resources(spec.get("matchResources")),
        placed=item,
    )


def _param_ref(body: Mapping[str, Any]) -> ParamRef:
    return ParamRef(
        name=word(body.get("name")),
        namespace=word(body.get("namespace")),
        selector=_mapping_or_none(body.get("selector")),
        deny_when_missing=body.get("parameterNotFoundAction") != "Allow",
    )


def match_resources(body: Any) -> MatchResources | None:
    """Of a policy's matchConstraints or a binding's matchResources; None where there are none."""
    if not isinstance(body, dict):
        return None
    return MatchResources(
        rules=tuple(_rule(item) for item in mappings(body.get("resourceRules"))),
        excluded=tuple(_rule(item) for item in mappings(body.get("excludeResourceRules"))),
        namespace_selector=_mapping_or_none(body.get("namespaceSelector")),
        object_selector=_mapping_or_none(body.get("objectSelector")),
        equivalent=body.get("matchPolicy") != "Exact",
    )


def _rule(body: Mapping[str, Any]) -> ResourceRule:
    return ResourceRule(
        operations=words(body.get("operations")),
        api_groups=words(body.get("apiGroups"), empty=True),
        api_versions=words(body.get("apiVersions")),
        resources=words(body.get("resources")),
        resource_names=words(body.get("resourceNames")),
        scope=word(body.get("scope")) or "*",
    )


def _named(spec: Mapping[str, Any], field: str, name: str, expression: str) -> tuple[Named, ...]:
    return tuple(
        Named(word(body.get(name)), Expression(word(body.get(expression)), f"{_SPEC}/{field}/{index}/{expression}"))
        for index, body in _items(spec, field)
    )


def _items(spec: Mapping[str, Any], field: str) -> tuple[tuple[int, Mapping[str, Any]], ...]:
    found = spec.get(field)
    items = enumerate(found) if isinstance(found, list) else ()
    return tuple((index, mapping(body)) for index, body in items)


def _expression(body: Mapping[str, Any], pointer: str, field: str) -> Expression | None:
    text = word(body.get(field))
    return Expression(text, f"{pointer}/{field}") if text else None


def _mapping_or_none(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None
