"""Policies evaluated on a request as the API server's plugin does it: verdicts, messages, and audit annotations.

Rules: kubernetes/apiserver:pkg/admission/plugin/policy/validating, dispatcher and validator. Costs are not counted;
the engine has limits of its own, and what passes them is not evaluated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.kubernetes.admission.matching import Answer, ParamsError, collect_params, matches
from poolsmith.kubernetes.admission.policy import Action, Binding, FailurePolicy
from poolsmith.kubernetes.admission.verdict import (
    DEFAULT_REASON,
    AuditAnnotation,
    Evaluation,
    NotMatched,
    ValidationResult,
    Verdict,
)
from poolsmith.kubernetes.cel import CelError, NotEvaluated
from poolsmith.kubernetes.server.normalise import as_stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.kubernetes.admission.matching import Match, Params
    from poolsmith.kubernetes.admission.policy import PolicySet, Validation
    from poolsmith.kubernetes.admission.policy_expressions import CompiledExpression, CompiledPolicy
    from poolsmith.kubernetes.admission.request import Subject
    from poolsmith.kubernetes.admission.resources import Resources
    from poolsmith.kubernetes.objects_file import PlacedObject


MAX_MESSAGE_BYTES = 5 * 1024
SPACE = " \t\n\v\f\r\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go trims."""


def failure_message(validation: Validation, part: CompiledExpression | None, subject: Subject) -> str:
    """Of the message expression where that gives one line of bounded length; else the message; else the expression."""
    return (
        _evaluated(part, subject)
        or validation.message.strip(SPACE)
        or f"failed expression: {validation.expression.source.strip(SPACE)}"
    )


def _evaluated(part: CompiledExpression | None, subject: Subject) -> str:
    if part is None:
        return ""
    try:
        value = subject.value(part)
    except (CelError, NotEvaluated):
        return ""
    text = value.strip(SPACE) if isinstance(value, str) else ""
    too_long = len(text.encode("utf-8", "surrogatepass")) > MAX_MESSAGE_BYTES
    return "" if too_long or "\n" in text else text


MAX_VALUE_BYTES = 10 * 1024


class Audit:
    """`published` by the keys of the policy; `errors` and `unknown` are pointers with what is wrong there."""

    def __init__(self, compiled: CompiledPolicy, subject: Subject) -> None:
        published: list[AuditAnnotation] = []
        errors: list[tuple[str, str]] = []
        unknown: list[tuple[str, str]] = []
        for named, part in zip(compiled.policy.audit_annotations, compiled.audit_annotations, strict=True):
            pointer = part.expression.pointer
            try:
                value = subject.value(part)
            except CelError as error:
                errors.append(
                    (pointer, part.failure or f"expression '{part.expression.source}' resulted in error: {error}")
                )
            except NotEvaluated as reason:
                unknown.append((pointer, str(reason)))
            else:
                text = value.strip(SPACE) if isinstance(value, str) else ""
                if text:
                    published.append(AuditAnnotation(named.name, _cut(text)))
        self.published = tuple(published)
        self.errors = tuple(errors)
        self.unknown = tuple(unknown)


def _cut(text: str) -> str:
    raw = text.encode("utf-8", "surrogatepass")
    return text if len(raw) <= MAX_VALUE_BYTES else raw[:MAX_VALUE_BYTES].decode("utf-8", "ignore")


IMPLIED = "implied"
_NO_PARAMS: Params = (None,)


class Surroundings:
    """What a policy is evaluated among: bindings and possible parameters, and the kinds that are known."""

    def __init__(self, policies: PolicySet, resources: Resources, *, imply_bindings: bool = True) -> None:
        self.policies = policies
        self.resources = resources
        self._imply = imply_bindings
        self._bindings: dict[str, tuple[Binding, ...]] = {}
        self._params: dict[int, Mapping[str, Any]] = {}
        self._allowed: dict[tuple[str, str | None, int, str | None], ValidationResult] = {}
        self._evaluations: dict[tuple[int, ...], Evaluation] = {}

    def bindings_of(self, policy: str) -> tuple[Binding, ...]:
        if policy not in self._bindings:
            implied = (Binding(name=IMPLIED, policy=policy),) if self._imply else ()
            self._bindings[policy] = self.policies.bindings_of(policy) or implied
        return self._bindings[policy]

    def params_of(self, compiled: CompiledPolicy, binding: Binding, subject: Subject) -> Params:
        """Raises ParamsError."""
        policy = compiled.policy
        if policy.param_kind is None:
            return _NO_PARAMS
        return collect_params(policy, binding, subject.request, self.policies.objects, self.resources)

    def stored(self, param: PlacedObject) -> Mapping[str, Any]:
        """A parameter as the API server holds it."""
        if id(param) not in self._params:
            self._params[id(param)] = as_stored(param.body, self.resources.kubernetes)
        return self._params[id(param)]

    def allowed(self, run: _Run, index: int, pointer: str) -> ValidationResult:
        """That a validation allows, said by one and the same object each time."""
        key = run.policy.name, run.shown_binding, index, run.param
        if key not in self._allowed:
            self._allowed[key] = run.result(Verdict.ALLOW, "", validation=index, pointer=pointer)
        return self._allowed[key]

    def remembered(self, results: tuple[ValidationResult, ...]) -> Evaluation:
        """The same evaluation for the same results, where all of them allow."""
        if any(item.verdict is not Verdict.ALLOW for item in results):
            return Evaluation(results=results)
        key = tuple(map(id, results))
        if key not in self._evaluations:
            self._evaluations[key] = Evaluation(results=results)
        return self._evaluations[key]


def evaluate(
    compiled: CompiledPolicy, subject: Subject, around: Surroundings, match: Match | None = None
) -> Evaluation:
    """One policy under all of its bindings on one request; `match` where it is known already."""
    policy = compiled.policy
    match = match or matches(policy.match, subject.request, around.resources)
    if match.answer is Answer.NO:
        return Evaluation(not_matched=(NotMatched(policy.name, None, match.why),))
    results: list[ValidationResult] = []
    not_matched: list[NotMatched] = []
    audits: list[AuditAnnotation] = []
    for binding in around.bindings_of(policy.name):
        one = _Run(compiled, binding, subject, around)
        narrowed = matches(binding.match, subject.request, around.resources)
        if narrowed.answer is Answer.NO:
            not_matched.append(NotMatched(policy.name, one.shown_binding, narrowed.why))
            continue
        undecided = next((item for item in (match, narrowed) if item.answer is Answer.UNDECIDED), None)
        if undecided is not None:
            results.append(one.not_evaluated(undecided.why))
            continue
        try:
            params = around.params_of(compiled, binding, subject)
        except ParamsError as error:
            results.append(one.misconfigured(f"failed to configure binding: {error}"))
            continue
        if not params:
            not_matched.append(NotMatched(policy.name, one.shown_binding, "no parameters, which the binding allows"))
        for param in params:
            found, why = one.with_param(param)
            results.extend(found)
            if why is not None:
                not_matched.append(NotMatched(policy.name, one.shown_binding, why))
            audits.extend(one.audits)
    if not not_matched and not audits:
        return around.remembered(tuple(results))
    return Evaluation(
        results=tuple(results), not_matched=tuple(not_matched), audit_annotations=joined(policy.name, audits)
    )


def joined(policy: str, audits: list[AuditAnnotation]) -> tuple[AuditAnnotation, ...]:
    """Values of one key from several bindings stand in one annotation, each once."""
    values: dict[str, list[str]] = {}
    for item in audits:
        known = values.setdefault(item.key, [])
        if item.value not in known:
            known.append(item.value)
    return tuple(AuditAnnotation(f"{policy}/{key}", ", ".join(found)) for key, found in values.items())


class _Run:
    """A policy under one binding on one request."""

    def __init__(self, compiled: CompiledPolicy, binding: Binding, subject: Subject, around: Surroundings) -> None:
        self.around = around
        self.compiled = compiled
        self.policy = compiled.policy
        self.binding = binding
        self.subject = subject
        self.param: str | None = None
        self.audits: tuple[AuditAnnotation, ...] = ()

    @property
    def shown_binding(self) -> str | None:
        return None if self.binding.is_implied else self.binding.name

    @property
    def fails(self) -> bool:
        return self.policy.failure_policy is FailurePolicy.FAIL

    def with_param(self, param: PlacedObject | None) -> tuple[list[ValidationResult], str | None]:
        """The results, or why there are none."""
        self.param = param.name if param is not None else None
        self.audits = ()
        subject = self.subject if param is None else self.subject.with_params(self.around.stored(param))
        skipped, problem = self._conditions(subject) if self.compiled.match_conditions else (None, None)
        if skipped is not None:
            return [], skipped
        if problem is not None:
            return [problem], None
        results = list(self._validations(subject))
        if self.compiled.audit_annotations:
            results.extend(self._annotations(subject))
        return results, None

    def not_evaluated(self, why: str, validation: int | None = None, pointer: str = "") -> ValidationResult:
        return self.result(Verdict.NOT_EVALUATED, why, validation=validation, pointer=pointer)

    def misconfigured(self, message: str) -> ValidationResult:
        """Denied whatever the binding's actions are."""
        return self.result(Verdict.ERROR, message, failed=self.fails, action=Action.DENY if self.fails else None)

    def _conditions(self, subject: Subject) -> tuple[str | None, ValidationResult | None]:
        """Why the policy is not asked, or what comes of its match conditions. A false one wins over all others."""
        errors: list[str] = []
        unknown: tuple[str, str] | None = None
        for named, part in zip(self.policy.match_conditions, self.compiled.match_conditions, strict=True):
            try:
                if subject.condition(part) is False:
                    return f"matchConditions: `{named.name}` is false", None
            except CelError as error:
                errors.append(_said(part, error))
            except NotEvaluated as reason:
                unknown = unknown or (str(reason), part.expression.pointer)
        if unknown is not None:
            return None, self.not_evaluated(unknown[0], pointer=unknown[1])
        if not errors:
            return None, None
        if not self.fails:
            return "matchConditions: an error, which failurePolicy Ignore passes", None
        message = errors[0] if len(errors) == 1 else f"[{', '.join(dict.fromkeys(errors))}]"
        return None, self._error(message)

    def _validations(self, subject: Subject) -> Iterator[ValidationResult]:
        for validation, part, said in zip(
            self.policy.validations, self.compiled.validations, self.compiled.messages, strict=True
        ):
            index, pointer = validation.index, part.expression.pointer
            try:
                passed = subject.value(part) is True
            except CelError as error:
                yield self._error(_said(part, error), validation=index, pointer=pointer)
            except NotEvaluated as reason:
                yield self.not_evaluated(str(reason), index, pointer)
            else:
                if passed:
                    yield self.around.allowed(self, index, pointer)
                else:
                    message = failure_message(validation, said, subject)
                    reason_ = validation.reason or DEFAULT_REASON
                    yield self._denied(message, reason_, index, pointer)

    def _annotations(self, subject: Subject) -> Iterator[ValidationResult]:
        audit = Audit(self.compiled, subject)
        self.audits = audit.published
        for pointer, message in audit.errors if self.fails else ():
            yield self.result(Verdict.ERROR, message, failed=True, action=Action.DENY, pointer=pointer)
        for pointer, why in audit.unknown if self.fails else ():
            yield self.not_evaluated(why, pointer=pointer)

    def _denied(self, message: str, reason: str, index: int, pointer: str) -> ValidationResult:
        return self.result(
            Verdict.DENY,
            message,
            validation=index,
            pointer=pointer,
            reason=reason,
            failed=True,
            action=self.binding.actions[0],
        )

    def _error(self, message: str, *, validation: int | None = None, pointer: str = "") -> ValidationResult:
        return self.result(
            Verdict.ERROR,
            message,
            validation=validation,
            pointer=pointer,
            failed=self.fails,
            action=self.binding.actions[0] if self.fails else None,
        )

    def result(
        self,
        verdict: Verdict,
        message: str,
        *,
        validation: int | None = None,
        pointer: str = "",
        reason: str = "",
        failed: bool = False,
        action: str | None = None,
    ) -> ValidationResult:
        return ValidationResult(
            policy=self.policy.name,
            binding=self.shown_binding,
            verdict=verdict,
            validation=validation,
            action=None if action is None else str(action),
            actions=tuple(map(str, self.binding.actions)),
            message=message,
            reason=reason,
            param=self.param,
            pointer=pointer,
            failed=failed,
        )


def _said(part: CompiledExpression, error: CelError) -> str:
    """As the API server words it; a compile error stands alone."""
    return part.failure or f"expression '{part.expression.source}' resulted in error: {error}"
