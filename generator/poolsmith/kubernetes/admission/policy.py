"""ValidatingAdmissionPolicy and its binding as a typed model, each part with its place.

Of the versions v1, v1beta1 and v1alpha1 of admissionregistration.k8s.io, which have the same fields. What is required
and missing has been reported before it gets here.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.kubernetes.objects_file import PlacedObject


class FailurePolicy(StrEnum):
    """What happens to a request when a policy can't be evaluated."""

    FAIL = "Fail"
    IGNORE = "Ignore"


class Action(StrEnum):
    """What a binding does with a failed validation, the hardest first."""

    DENY = "Deny"
    WARN = "Warn"
    AUDIT = "Audit"


@record(kw_only=False)
class Expression:
    """Text in CEL; `pointer` leads to it in its object."""

    source: str
    pointer: str


@record(kw_only=False)
class Named:
    """A match condition, a variable or an audit annotation."""

    name: str
    expression: Expression


@record
class Validation:
    """`reason` is empty where the policy gives none; `message` too."""

    index: int
    expression: Expression
    message: str = ""
    message_expression: Expression | None = None
    reason: str = ""


@record(kw_only=False)
class ParamKind:
    """The kind of a policy's parameters."""

    api_version: str
    kind: str


@record
class ResourceRule:
    """Requests by what they do to which resources; `*` stands for any."""

    operations: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    scope: str = "*"


@record
class MatchResources:
    """Selectors are label selectors as plain mappings; None selects everything."""

    rules: tuple[ResourceRule, ...] = ()
    excluded: tuple[ResourceRule, ...] = ()
    namespace_selector: Mapping[str, Any] | None = None
    object_selector: Mapping[str, Any] | None = None
    equivalent: bool = True


@record
class ParamRef:
    """Which parameters a binding takes: one by name, or all that a selector fits."""

    name: str = ""
    namespace: str = ""
    selector: Mapping[str, Any] | None = None
    deny_when_missing: bool = True


@record
class Policy:
    """One ValidatingAdmissionPolicy."""

    name: str
    placed: PlacedObject
    match: MatchResources
    failure_policy: FailurePolicy = FailurePolicy.FAIL
    param_kind: ParamKind | None = None
    match_conditions: tuple[Named, ...] = ()
    variables: tuple[Named, ...] = ()
    validations: tuple[Validation, ...] = ()
    audit_annotations: tuple[Named, ...] = ()

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All of them, in the order of the file's usual form."""
        named = (*self.match_conditions, *self.variables, *self.audit_annotations)
        of_messages = (item.message_expression for item in self.validations if item.message_expression is not None)
        return (*(item.expression for item in named), *(item.expression for item in self.validations), *of_messages)


@record
class Binding:
    """One ValidatingAdmissionPolicyBinding; without `placed` it is implied: nobody wrote one, and Deny is assumed."""

    name: str
    policy: str
    actions: tuple[Action, ...] = (Action.DENY,)
    param_ref: ParamRef | None = None
    match: MatchResources | None = None
    placed: PlacedObject | None = None

    @property
    def is_implied(self) -> bool:
        return self.placed is None


@record
class Broken:
    """An object that was meant to be a policy and can't be read as one; `why` says what the API server would."""

    name: str
    placed: PlacedObject
    why: str


@record
class PolicySet:
    """All that stands together: policies, their bindings, and other objects, which may be parameters.

    `definitions` are CustomResourceDefinitions; `broken` were meant to be policies.
    """

    policies: tuple[Policy, ...] = ()
    bindings: tuple[Binding, ...] = ()
    objects: tuple[PlacedObject, ...] = ()
    definitions: tuple[PlacedObject, ...] = ()
    broken: tuple[Broken, ...] = ()
    names: frozenset[str] = field(default_factory=frozenset)
    """Of all policies that were meant, the broken ones included."""

    def bindings_of(self, policy: str) -> tuple[Binding, ...]:
        return tuple(binding for binding in self.bindings if binding.policy == policy)
