"""Whether a policy or a binding applies to a request, and with which parameters a policy is evaluated.

Rules: kubernetes/apiserver:pkg/admission/plugin/policy/matching and webhook/predicates. What depends on something that
nobody knows here (labels of a namespace, the plural of a kind, a conversion between versions) is undecided.

Rules: kubernetes/apiserver:pkg/admission/plugin/policy/generic, CollectParams.

Objects that are given as parameters, and with which no policy is evaluated, are reported.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.kubernetes.admission.policy import Binding, MatchResources
from poolsmith.kubernetes.admission.request import AdmissionRequest
from poolsmith.kubernetes.admission.selector import labels_of, selects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.kubernetes.admission.policy import (
        ParamKind,
        ParamRef,
        Policy,
        PolicySet,
        ResourceRule,
    )
    from poolsmith.kubernetes.admission.resources import Resource, Resources
    from poolsmith.kubernetes.objects_file import PlacedObject


_EXCLUDED = {
    "admissionregistration.k8s.io": (
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
    ),
    "authentication.k8s.io": ("selfsubjectreviews", "tokenreviews"),
    "authorization.k8s.io": (
        "localsubjectaccessreviews",
        "selfsubjectaccessreviews",
        "selfsubjectrulesreviews",
        "subjectaccessreviews",
    ),
}
_LIKENESS = 3
_EVENTS = frozenset(("", "events.k8s.io"))


class Answer(StrEnum):
    """Undecided: it hangs on something that is not known here."""

    YES = "yes"
    NO = "no"
    UNDECIDED = "undecided"


@record(kw_only=False)
class Match:
    """`why` tells what keeps it from matching, or from being decided."""

    answer: Answer
    why: str = ""


_YES, _NO = Match(Answer.YES), Match(Answer.NO)


def matches(criteria: MatchResources | None, request: AdmissionRequest, resources: Resources) -> Match:
    """Of a policy's matchConstraints, or a binding's matchResources; None matches all."""
    if request.resource.plural in _EXCLUDED.get(request.resource.group, ()):
        return Match(Answer.NO, "policies are never asked about this kind")
    if criteria is None:
        return _YES
    undecided = None
    for part in _parts(criteria, request, resources):
        if part.answer is Answer.NO:
            return part
        if part.answer is Answer.UNDECIDED and undecided is None:
            undecided = part
    return undecided or _YES


def may_match(criteria: MatchResources | None, resource: Resource, resources: Resources) -> bool:
    """Whether it may apply to the creation of some object of a resource, whatever that says and wherever it lies."""
    if criteria is not None:
        rules = tuple(replace(rule, resource_names=(), scope="*") for rule in criteria.rules)
        criteria = MatchResources(rules=rules, equivalent=criteria.equivalent)
    request = AdmissionRequest(resource=resource, subresource=resource.subresource)
    return matches(criteria, request, resources).answer is not Answer.NO


def _parts(criteria: MatchResources, request: AdmissionRequest, resources: Resources) -> Iterator[Match]:
    """What there is to ask, the cheap questions first."""
    if criteria.rules:
        yield _by_rules(criteria.rules, criteria, request, resources)
    if criteria.namespace_selector:
        yield _by_namespace(criteria, request)
    if criteria.object_selector:
        yield _by_labels(criteria, request)
    if criteria.excluded:
        yield _not(_by_rules(criteria.excluded, criteria, request, resources), "excludeResourceRules")


def _by_namespace(criteria: MatchResources, request: AdmissionRequest) -> Match:
    if not request.namespace and not request.is_namespace and request.resource.namespaced is not None:
        return _YES
    labels, complete = request.namespace_labels
    found = selects(criteria.namespace_selector, labels, complete=complete)
    if found is None:
        return Match(
            Answer.UNDECIDED, f"namespaceSelector: the labels of namespace `{request.namespace}` are not known"
        )
    return _YES if found else Match(Answer.NO, "namespaceSelector")


def _by_labels(criteria: MatchResources, request: AdmissionRequest) -> Match:
    """The object's or the old object's."""
    selector = criteria.object_selector
    for body in (request.object, request.old_object):
        if body is not None and selects(selector, labels_of(body)):
            return _YES
    if "oldObject" in request.unknown:
        return Match(Answer.UNDECIDED, "objectSelector: the old object is not known")
    return Match(Answer.NO, "objectSelector")


def _not(match: Match, why: str) -> Match:
    if match.answer is Answer.UNDECIDED:
        return match
    return Match(Answer.NO, why) if match.answer is Answer.YES else _YES


def _by_rules(
    rules: Iterable[ResourceRule], criteria: MatchResources, request: AdmissionRequest, resources: Resources
) -> Match:
    rules = tuple(rules)
    undecided = None
    for rule in rules:
        found = _by_rule(rule, request)
        if found.answer is Answer.YES:
            return found
        undecided = undecided or (found if found.answer is Answer.UNDECIDED else None)
    if undecided is None and criteria.equivalent:
        undecided = _by_conversion(rules, request, resources)
    return undecided or Match(Answer.NO, "resourceRules")


def _by_rule(rule: ResourceRule, request: AdmissionRequest) -> Match:
    resource = request.resource
    if not (
        _has(rule.operations, request.operation)
        and _has(rule.api_groups, resource.group)
        and _has(rule.api_versions, resource.version)
        and _names(rule, request)
    ):
        return _NO
    of_resource = _of_resource(rule, request)
    in_scope = _in_scope(rule, request)
    if Answer.NO in (of_resource.answer, in_scope.answer):
        return _NO
    return in_scope if in_scope.answer is Answer.UNDECIDED else of_resource


def _in_scope(rule: ResourceRule, request: AdmissionRequest) -> Match:
    if rule.scope == "*":
        return _YES
    if request.resource.namespaced is None and not request.namespace:
        return Match(Answer.UNDECIDED, f"whether {request.resource.kind} lies in namespaces is not known")
    lies_in_one = bool(request.namespace) and not request.is_namespace
    return _YES if (rule.scope == "Namespaced") == lies_in_one else _NO


def _of_resource(rule: ResourceRule, request: AdmissionRequest) -> Match:
    resource = request.resource
    similar = ""
    for item in rule.resources:
        plural, _, subresource = item.partition("/")
        if subresource not in ("*", request.subresource):
            continue
        if plural in ("*", resource.plural):
            return _YES
        if resource.guessed and _alike(plural, resource.kind):
            similar = plural
    if similar:
        return Match(Answer.UNDECIDED, f"whether `{similar}` is the resource of {resource.kind} is not known")
    return _NO


def _alike(plural: str, kind: str) -> bool:
    """Whether a plural may be the irregular one of a kind."""
    stem = kind.lower()[: max(_LIKENESS, len(kind) - 2)]
    return plural.startswith(stem) and abs(len(plural) - len(kind)) <= _LIKENESS


def _names(rule: ResourceRule, request: AdmissionRequest) -> bool:
    return not rule.resource_names or request.name in rule.resource_names


def _has(items: tuple[str, ...], wanted: str) -> bool:
    return "*" in items or wanted in items


def _by_conversion(rules: tuple[ResourceRule, ...], request: AdmissionRequest, resources: Resources) -> Match | None:
    """matchPolicy Equivalent: the same objects under another version, into which nothing is converted here."""
    resource = request.resource
    others = resources.other_versions(resource)
    for rule in rules:
        if not (_has(rule.operations, request.operation) and _names(rule, request)):
            continue
        if Answer.NO in (_of_resource(rule, request).answer, _in_scope(rule, request).answer):
            continue
        same_group = _has(rule.api_groups, resource.group)
        if resource.plural == "events" and resource.group in _EVENTS and not same_group:
            found = bool(_EVENTS & set(rule.api_groups))
        else:
            found = same_group and any(others is None or version in others for version in rule.api_versions)
        if found:
            version = ", ".join(rule.api_versions)
            return Match(
                Answer.UNDECIDED,
                f"matchPolicy Equivalent: {resource.api_version} {resource.kind} would be converted to {version}",
            )
    return None


Params = tuple["PlacedObject | None", ...]
"""One evaluation for each; None stands for `params` being null."""


class ParamsError(Exception):
    """A binding that can't be followed, in the words of the API server."""


def collect_params(
    policy: Policy,
    binding: Binding,
    request: AdmissionRequest,
    objects: Iterable[PlacedObject],
    resources: Resources,
) -> Params:
    """Empty: there are none, and the binding allows that. Raises ParamsError.

    With an implied binding, each object of the policy's paramKind. An object that names no namespace counts as lying
    in the one that is asked for.
    """
    kind = policy.param_kind
    if kind is None:
        return (None,)
    found = sorted(
        (item for item in objects if (item.api_version, item.kind) == (kind.api_version, kind.kind)),
        key=lambda item: (item.namespace, item.name),
    )
    if binding.is_implied:
        return tuple(found) or (None,)
    reference = binding.param_ref
    if reference is None:
        return (None,)
    chosen = _chosen(reference, _within(reference, kind, found, request, resources))
    if not chosen and reference.deny_when_missing:
        raise ParamsError("no params found for policy binding with `Deny` parameterNotFoundAction")
    return chosen


def _within(
    reference: ParamRef, kind: ParamKind, found: list[PlacedObject], request: AdmissionRequest, resources: Resources
) -> list[PlacedObject]:
    """Those in the namespace that the binding looks in."""
    namespaced = resources.of(kind.api_version, kind.kind).namespaced
    if namespaced is None:
        namespaced = bool(reference.namespace) or any(item.namespace for item in found)
    if not namespaced:
        if reference.namespace:
            raise ParamsError("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
        return found
    namespace = reference.namespace or request.namespace
    if not namespace:
        raise ParamsError("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
    return [item for item in found if item.namespace in ("", namespace)]


def _chosen(reference: ParamRef, found: list[PlacedObject]) -> Params:
    if reference.name:
        return tuple(item for item in found if item.name == reference.name)[:1]
    return tuple(item for item in found if selects(reference.selector, labels_of(item.body)))


_FEW = 3


def unused_params(
    given: Iterable[PlacedObject], policies: PolicySet, requests: Sequence[AdmissionRequest], resources: Resources
) -> Iterator[str]:
    """One sentence for each: what would have to be true of it. Policies and definitions are no parameters."""
    others = {id(item) for item in policies.definitions}
    candidates = {id(item) for item in policies.objects} - others
    asked = {request.namespace: request for request in requests}.values()
    used: set[int] = set()
    for policy in policies.policies:
        for binding in _bindings(policy, policies):
            for request in asked if policy.param_kind is not None else ():
                try:
                    chosen = collect_params(policy, binding, request, policies.objects, resources)
                except ParamsError:
                    continue
                used.update(id(item) for item in chosen if item is not None)
    for item in given:
        if id(item) in candidates and id(item) not in used:
            yield f"{shorten(item.shown)}: nothing was evaluated with this parameter, since {_why(item, policies)}"


def _bindings(policy: Policy, policies: PolicySet) -> tuple[Binding, ...]:
    return policies.bindings_of(policy.name) or (Binding(name="", policy=policy.name),)


def _why(item: PlacedObject, policies: PolicySet) -> str:
    """Of the policies that take its kind, which parameters their bindings ask for."""
    taking = [
        policy
        for policy in policies.policies
        if policy.param_kind is not None
        and (policy.param_kind.api_version, policy.param_kind.kind) == (item.api_version, item.kind)
    ]
    if not taking:
        return f"no policy has `paramKind` {shorten(item.api_version)} {shorten(item.kind)}"
    asked = [_asked(binding) for policy in taking for binding in policies.bindings_of(policy.name)]
    few = "; ".join(asked[:_FEW]) + ("; and others" if len(asked) > _FEW else "")
    return few or "another object stands in its place"


def _asked(binding: Binding) -> str:
    name, reference = f"binding `{shorten(binding.name)}`", binding.param_ref
    if reference is None:
        return f"{name} has no `paramRef`"
    where = f" in namespace `{shorten(reference.namespace)}`" if reference.namespace else ""
    if reference.name:
        return f"{name} takes `{shorten(reference.name)}`{where}"
    return f"{name} takes what its selector fits{where}"
