"""What the API server demands of a policy and a binding beyond their schema.

Rules: kubernetes/kubernetes:pkg/apis/admissionregistration/validation. Fields of the wrong type are the schema's
business and read as absent here.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.message_text import did_you_mean, listed, shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.kubernetes.admission.selector import selector_problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Problem = tuple[str, str, str | None]
"""Pointer, message and advice."""

MAX_MATCH_CONDITIONS = 64
MAX_AUDIT_ANNOTATIONS = 20
MAX_VALUE_EXPRESSION = 5 * 1024
_FAILURE_POLICIES = ("Fail", "Ignore")
_MATCH_POLICIES = ("Exact", "Equivalent")
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge", "Unauthorized")
_ACTIONS = ("Audit", "Deny", "Warn")
_NOT_FOUND_ACTIONS = ("Allow", "Deny")
_SCOPES = ("*", "Cluster", "Namespaced")
_OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_IDENTIFIER = pattern(r"[_a-zA-Z][_a-zA-Z0-9]*", re.ASCII)
_RESERVED = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
        *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
_QUALIFIED = pattern(r"(?:[a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
_DNS_NAME = pattern(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_SPEC = "/spec"


def policy_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    spec = mapping(body.get("spec"))
    yield from _name(body)
    yield from _one_of(spec, "failurePolicy", _FAILURE_POLICIES, _SPEC)
    yield from _param_kind(spec)
    yield from _constraints(spec)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        yield f"{_SPEC}/validations", "`spec.validations` or `spec.auditAnnotations` has to have an entry", None
    for index, item in _items(spec, "validations"):
        yield from _validation(item, f"{_SPEC}/validations/{index}")
    yield from _entries(spec, "matchConditions", "name", "expression", MAX_MATCH_CONDITIONS)
    yield from _entries(spec, "variables", "name", "expression", None)
    yield from _entries(spec, "auditAnnotations", "key", "valueExpression", MAX_AUDIT_ANNOTATIONS)
    for index, item in _items(spec, "auditAnnotations"):
        if len(word(item.get("valueExpression")).encode("utf-8", "replace")) > MAX_VALUE_EXPRESSION:
            pointer = f"{_SPEC}/auditAnnotations/{index}/valueExpression"
            yield pointer, f"`valueExpression` has more than {MAX_VALUE_EXPRESSION:,} bytes", None


def binding_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    spec = mapping(body.get("spec"))
    yield from _name(body)
    if not word(spec.get("policyName")):
        yield f"{_SPEC}/policyName", "`spec.policyName` is missing", "name the policy that is bound"
    elif not _DNS_NAME.fullmatch(spec["policyName"]):
        yield f"{_SPEC}/policyName", f"`{shorten(spec['policyName'])}` can't be the name of a policy", None
    reference = spec.get("paramRef")
    if isinstance(reference, dict):
        yield from _param_ref(reference)
    yield from _actions(spec)
    match = spec.get("matchResources")
    if isinstance(match, dict):
        yield from _match_resources(match, f"{_SPEC}/matchResources")


def _name(body: Mapping[str, Any]) -> Iterator[Problem]:
    name = word(mapping(body.get("metadata")).get("name"))
    if name and not _DNS_NAME.fullmatch(name):
        advice = "small letters, digits, `-` and `.`, at most 253 characters"
        yield "/metadata/name", f"`{shorten(name)}` can't be the name of an object", advice


def _param_kind(spec: Mapping[str, Any]) -> Iterator[Problem]:
    kind = spec.get("paramKind")
    if not isinstance(kind, dict):
        return
    for field in ("apiVersion", "kind"):
        if not word(kind.get(field)):
            yield f"{_SPEC}/paramKind/{field}", f"`spec.paramKind.{field}` is missing", None
    if word(kind.get("apiVersion")).count("/") > 1:
        yield f"{_SPEC}/paramKind/apiVersion", "`spec.paramKind.apiVersion` is no group and version", None


def _constraints(spec: Mapping[str, Any]) -> Iterator[Problem]:
    constraints = spec.get("matchConstraints")
    pointer = f"{_SPEC}/matchConstraints"
    if not isinstance(constraints, dict):
        yield pointer, "`spec.matchConstraints` is missing", "say which resources the policy is for"
        return
    if not constraints.get("resourceRules"):
        yield f"{pointer}/resourceRules", "`spec.matchConstraints.resourceRules` has to have an entry", None
    yield from _match_resources(constraints, pointer)


def _match_resources(body: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    yield from _one_of(body, "matchPolicy", _MATCH_POLICIES, pointer)
    for field in ("namespaceSelector", "objectSelector"):
        problem = selector_problem(mapping(body.get(field)))
        if problem is not None:
            yield f"{pointer}/{field}", f"`{field}`: {problem}", None
    for field in ("resourceRules", "excludeResourceRules"):
        for index, item in _items(body, field):
            yield from _rule(item, f"{pointer}/{field}/{index}")


def _rule(item: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    for field in ("operations", "apiGroups", "apiVersions", "resources"):
        values = words(item.get(field), empty=True)
        if not values:
            yield f"{pointer}/{field}", f"`{field}` of a rule has to have an entry", None
        elif field != "resources" and "*" in values and len(values) > 1:
            yield f"{pointer}/{field}", f"`{field}` holds `*`, so it must be the only entry", None
    for index, operation in enumerate(words(item.get("operations"))):
        if operation not in _OPERATIONS:
            yield (
                f"{pointer}/operations/{index}",
                f"`{shorten(operation)}` is no operation",
                did_you_mean(operation, _OPERATIONS),
            )
    resources = words(item.get("resources"))
    if "*/*" in resources and len(resources) > 1:
        yield f"{pointer}/resources", "`resources` holds `*/*`, so it must be the only entry", None
    elif "*" in resources and any("/" not in other for other in resources if other != "*"):
        yield f"{pointer}/resources", "`resources` holds `*`, so no other resource may be listed with it", None
    names = words(item.get("resourceNames"))
    if len(set(names)) < len(names):
        yield f"{pointer}/resourceNames", "`resourceNames` has a name twice", None
    yield from _one_of(item, "scope", _SCOPES, pointer)


def _validation(item: Mapping[str, Any], pointer: str) -> Iterator[Problem]:
    expression, message = word(item.get("expression")), word(item.get("message"))
    if not expression.strip():
        yield f"{pointer}/expression", "the validation has no `expression`", None
    if "messageExpression" in item and not word(item["messageExpression"]).strip():
        yield f"{pointer}/messageExpression", "`messageExpression` is empty", "write one, or remove the key"
    if message:
        if not message.strip():
            yield f"{pointer}/message", "`message` is blank", "write one, or remove the key"
        elif "\n" in message.strip():
            yield f"{pointer}/message", "`message` has more than one line", "write it on one"
    elif "\n" in expression.strip() and not word(item.get("messageExpression")):
        advice = "add `message`: the expression is what would be shown otherwise"
        yield f"{pointer}/message", "an expression of several lines needs a `message`", advice
    yield from _one_of(item, "reason", _REASONS, pointer)


def _entries(spec: Mapping[str, Any], field: str, name: str, expression: str, limit: int | None) -> Iterator[Problem]:
    """Match conditions, variables or audit annotations: named, unlike each other, and not too many."""
    items = _items(spec, field)
    if limit is not None and len(items) > limit:
        yield f"{_SPEC}/{field}", f"`spec.{field}` has {len(items)} entries; there may be {limit}", None
    seen: set[str] = set()
    for index, item in items:
        pointer = f"{_SPEC}/{field}/{index}"
        own = word(item.get(name))
        if not own:
            yield f"{pointer}/{name}", f"an entry of `spec.{field}` has no `{name}`", None
        elif field == "variables" and (not _IDENTIFIER.fullmatch(own) or own in _RESERVED):
            yield f"{pointer}/{name}", f"`{shorten(own)}` can't be the name of a variable in CEL", None
        elif field != "variables" and not _QUALIFIED.fullmatch(own):
            yield f"{pointer}/{name}", f"`{shorten(own)}` can't be a name here", "letters, digits, `-`, `_` and `.`"
        elif own in seen:
            yield f"{pointer}/{name}", f"`{shorten(own)}` stands twice in `spec.{field}`", "give it another name"
        seen.add(own)
        if not word(item.get(expression)).strip():
            yield f"{pointer}/{expression}", f"`{shorten(own)}` in `spec.{field}` has no `{expression}`", None


def _param_ref(reference: Mapping[str, Any]) -> Iterator[Problem]:
    pointer = f"{_SPEC}/paramRef"
    has_name, has_selector = bool(word(reference.get("name"))), reference.get("selector") is not None
    if has_name and has_selector:
        yield pointer, "`spec.paramRef` has `name` and `selector`, which exclude each other", "keep one of the two"
    elif not has_name and not has_selector:
        yield pointer, "`spec.paramRef` has neither `name` nor `selector`", "add one of the two"
    problem = selector_problem(mapping(reference.get("selector")))
    if problem is not None:
        yield f"{pointer}/selector", f"`selector`: {problem}", None
    if not word(reference.get("parameterNotFoundAction")):
        advice = "add `parameterNotFoundAction: Deny`"
        yield f"{pointer}/parameterNotFoundAction", "`spec.paramRef.parameterNotFoundAction` is missing", advice
    yield from _one_of(reference, "parameterNotFoundAction", _NOT_FOUND_ACTIONS, pointer)


def _actions(spec: Mapping[str, Any]) -> Iterator[Problem]:
    pointer = f"{_SPEC}/validationActions"
    actions = words(spec.get("validationActions"))
    if not actions:
        yield pointer, "`spec.validationActions` has to have an entry", "add `validationActions: [Deny]`"
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            yield f"{pointer}/{index}", f"`{shorten(action)}` is no action", did_you_mean(action, _ACTIONS)
        elif action in actions[:index]:
            yield f"{pointer}/{index}", f"`{action}` stands twice in `spec.validationActions`", "keep one of the two"
    if "Deny" in actions and "Warn" in actions:
        message = "`spec.validationActions` has Deny and Warn: one failure would be reported twice"
        yield pointer, message, "keep one of the two; Audit can be combined with either"


def _one_of(body: Mapping[str, Any], field: str, known: Sequence[str], pointer: str) -> Iterator[Problem]:
    value = body.get(field)
    if isinstance(value, str) and value not in known:
        yield f"{pointer}/{field}", f"`{shorten(value)}` is not supported in `{field}`", f"supported: {listed(known)}"


def _items(body: Mapping[str, Any], field: str) -> list[tuple[int, Mapping[str, Any]]]:
    found = body.get(field)
    return [(index, mapping(item)) for index, item in enumerate(found)] if isinstance(found, list) else []
