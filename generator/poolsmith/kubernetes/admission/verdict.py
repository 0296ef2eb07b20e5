"""What admission policies say of requests."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.masking import KnownSecrets


class Verdict(StrEnum):
    """Of one validation. An error allows or denies as failurePolicy says; not evaluated is neither."""

    ALLOW = "allow"
    DENY = "deny"
    ERROR = "error"
    NOT_EVALUATED = "notEvaluated"


CODES = {"Unauthorized": 401, "Forbidden": 403, "RequestEntityTooLarge": 413, "Invalid": 422}
DEFAULT_REASON = "Invalid"


@record
class ValidationResult:
    """One validation of one policy under one binding with one parameter.

    `validation` is None where the whole policy is meant: a match condition, its parameters, an audit annotation.
    `binding` None: implied. `actions` are the binding's; `action` is what is done because of this verdict, None for
    nothing. `failed` says that the request does not pass this validation.
    """

    policy: str
    binding: str | None
    verdict: Verdict
    validation: int | None = None
    action: str | None = None
    actions: tuple[str, ...] = ()
    message: str = ""
    reason: str = ""
    param: str | None = None
    pointer: str = ""
    failed: bool = False

    @property
    def code(self) -> int | None:
        return CODES.get(self.reason or DEFAULT_REASON, CODES[DEFAULT_REASON]) if self.failed else None

    @property
    def denied(self) -> bool:
        return self.failed and self.action == "Deny"


@record(kw_only=False)
class NotMatched:
    """A policy, or one of its bindings, that is not meant for the request, and which part of it says so."""

    policy: str
    binding: str | None
    why: str


@record(kw_only=False)
class AuditAnnotation:
    """What the audit log would get: `<policy>/<key>`."""

    key: str
    value: str


@record
class Evaluation:
    """All that policies say of one request, in their order."""

    results: tuple[ValidationResult, ...] = ()
    not_matched: tuple[NotMatched, ...] = ()
    audit_annotations: tuple[AuditAnnotation, ...] = ()

    def without(self, secrets: KnownSecrets) -> Evaluation:
        """The same, with no secret of an object in what policies say of it."""
        return replace(
            self,
            results=tuple(replace(item, message=secrets.without(item.message)) for item in self.results),
            audit_annotations=tuple(
                replace(item, value=secrets.without(item.value)) for item in self.audit_annotations
            ),
        )

    @property
    def met(self) -> frozenset[str]:
        """Names of the policies that were asked; one with audit annotations alone gives no results."""
        annotating = (item.key.partition("/")[0] for item in self.audit_annotations)
        return frozenset((*(item.policy for item in self.results), *annotating))

    @property
    def denial(self) -> ValidationResult | None:
        """The one that the response tells: the first."""
        return next((item for item in self.results if item.denied), None)

    @property
    def undecided(self) -> bool:
        return any(item.verdict is Verdict.NOT_EVALUATED for item in self.results)


@record(kw_only=False)
class Decision:
    """The decision on one request. `allowed` None: it can't be known here."""

    shown: str
    operation: str
    evaluation: Evaluation

    @property
    def allowed(self) -> bool | None:
        if self.evaluation.denial is not None:
            return False
        return None if self.evaluation.undecided else True


@record
class PolicyEvalResult:
    """Decisions in the order of the objects, and what is wrong with the files."""

    kubernetes: str
    decisions: tuple[Decision, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    notes: tuple[str, ...] = ()
    policies: int = 0

    @property
    def allowed(self) -> bool | None:
        """Of all requests together; nobody can say while something is wrong in a file."""
        answers = {item.allowed for item in self.decisions}
        if False in answers:
            return False
        return None if None in answers or not answers or self.has_errors else True

    @property
    def failed(self) -> bool:
        return self.allowed is not True or self.has_errors

    @property
    def not_evaluated(self) -> int:
        """Results that nobody can give here."""
        results = (result for item in self.decisions for result in item.evaluation.results)
        return sum(result.verdict is Verdict.NOT_EVALUATED for result in results)

    @property
    def has_errors(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.diagnostics)
