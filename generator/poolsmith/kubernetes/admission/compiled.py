"""A policy whose expressions are compiled, and what the API server would refuse of them.

A compile error spoils its own expression only: at evaluation that one is an error, and failurePolicy decides.

The API server holds new expressions to what the minor before its own has, so that it can be gone back to; stored ones
it evaluates with all that it has. So what only this minor has is refused, and evaluated all the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.kubernetes.cel import CelCompileError, CelEnvironment, CompileIssue, NotEvaluated

if TYPE_CHECKING:
    from poolsmith.kubernetes.admission.policy import Expression, Policy
    from poolsmith.kubernetes.cel import Compiled, Scope

_BOOL = ("bool",)
_STRING = ("string",)
_STRING_OR_NULL = ("string", "null_type", "null")
_NEWEST = "1.37"
_FIRST_SERVING = 30
"""The first minor that serves policies unasked; before it their CEL is what it has."""


@record
class Issue:
    """What is wrong with an expression, at a place of its text that counts from 1.

    `needs` is the Kubernetes minor that takes it as a new expression, where a too old one is all that is wrong;
    `held_back` says that this one evaluates it all the same where it is stored.
    """

    pointer: str
    message: str
    line: int = 1
    column: int = 1
    needs: str = ""
    held_back: bool = False


@record(kw_only=False)
class CompiledExpression:
    """One expression. `compiled` is None where it does not compile (`failure`) or can't be (`undecidable`).

    `texts` are its own source and those of the variables that it may read.
    """

    expression: Expression
    compiled: Compiled | None
    failure: str = ""
    undecidable: str = ""
    texts: str = ""

    def reads(self, name: str) -> bool:
        return self.compiled is not None and name in self.compiled.names


@record
class CompiledPolicy:
    """Parts in the order of the policy's own fields; `messages` has a place for each validation."""

    policy: Policy
    match_conditions: tuple[CompiledExpression, ...]
    validations: tuple[CompiledExpression, ...]
    messages: tuple[CompiledExpression | None, ...]
    audit_annotations: tuple[CompiledExpression, ...]
    issues: tuple[Issue, ...]

    @property
    def undecidable(self) -> tuple[str, ...]:
        """Why parts of it can't be evaluated here, each reason once."""
        parts = (*self.match_conditions, *self.validations, *self.audit_annotations)
        reasons = (part.undecidable or (part.compiled.undecidable if part.compiled else None) for part in parts)
        return tuple(dict.fromkeys(reason for reason in reasons if reason))


def compile_policy(policy: Policy, kubernetes: str) -> CompiledPolicy:
    """Raises UnknownKubernetes."""
    return _Compiling(policy, CelEnvironment.of(kubernetes)).result()


class _Compiling:
    def __init__(self, policy: Policy, environment: CelEnvironment) -> None:
        self.policy = policy
        self.environment = environment
        self.issues: list[Issue] = []
        has_params = policy.param_kind is not None
        self.scope = environment.scope(params=has_params)
        self.message_scope = environment.scope(params=has_params, authorizer=False)

    def result(self) -> CompiledPolicy:
        for variable in self.policy.variables:
            part = self._part(variable.expression, (), self.scope)
            if part.compiled is not None:
                self.scope = self.scope.with_variable(variable.name, part.compiled)
                self.message_scope = self.message_scope.with_variable(variable.name, part.compiled)
            else:
                why = CelCompileError(CompileIssue(part.failure or part.undecidable))
                self.scope = self.scope.with_failed_variable(variable.name, why)
                self.message_scope = self.message_scope.with_failed_variable(variable.name, why)
        return CompiledPolicy(
            policy=self.policy,
            match_conditions=tuple(
                self._part(item.expression, _BOOL, self.scope) for item in self.policy.match_conditions
            ),
            validations=tuple(self._part(item.expression, _BOOL, self.scope) for item in self.policy.validations),
            messages=tuple(
                self._part(item.message_expression, _STRING, self.message_scope) if item.message_expression else None
                for item in self.policy.validations
            ),
            audit_annotations=tuple(
                self._part(item.expression, _STRING_OR_NULL, self.scope) for item in self.policy.audit_annotations
            ),
            issues=tuple(self.issues),
        )

    def _part(self, expression: Expression, types: tuple[str, ...], scope: Scope) -> CompiledExpression:
        try:
            compiled = self.environment.compile(expression.source, scope)
        except CelCompileError as error:
            needs = self._needs(expression, scope)
            for issue in error.messages:
                self._tell(expression, issue.message, issue.line, issue.column, needs)
            said = "; ".join(f"{issue.line}:{issue.column}: {issue.message}" for issue in error.messages)
            return CompiledExpression(expression, None, failure=f"compilation error: compilation failed: {said}")
        except NotEvaluated as reason:
            return CompiledExpression(expression, None, undecidable=str(reason))
        except RecursionError:
            return CompiledExpression(expression, None, undecidable="the expression is nested too deeply")
        if types and compiled.result_type not in types:
            wanted = types[0] if len(types) == 1 else "one of [string null_type]"
            message = f"must evaluate to {wanted} but got {compiled.result_type}"
            self._tell(expression, message, 1, 1, "")
            return CompiledExpression(expression, None, failure=f"compilation error: {message}")
        if _minor(compiled.needs) == self.environment.minor >= _FIRST_SERVING:
            self._tell_held_back(expression, scope)
        variables = (item.expression.source for item in self.policy.variables) if "variables" in compiled.names else ()
        return CompiledExpression(expression, compiled, texts="\n".join((expression.source, *variables)))

    def _tell_held_back(self, expression: Expression, scope: Scope) -> None:
        """What the minor before does not have; what only its variables use is told at those."""
        minor = self.environment.minor
        try:
            CelEnvironment.of(f"1.{minor - 1}").compile(expression.source, scope)
        except CelCompileError as error:
            for issue in error.messages:
                needs = f"1.{minor + 1}"
                self._tell(expression, issue.message, issue.line, issue.column, needs, held_back=True)

    def _needs(self, expression: Expression, scope: Scope) -> str:
        """The minor that would take it, where a later one does."""
        if self.environment.kubernetes == _NEWEST:
            return ""
        try:
            needs = CelEnvironment.of(_NEWEST).compile(expression.source, scope).needs
        except (CelCompileError, NotEvaluated, RecursionError):
            return ""
        return f"1.{_minor(needs) + 1}"

    def _tell(
        self, expression: Expression, message: str, line: int, column: int, needs: str, *, held_back: bool = False
    ) -> None:
        pointer = expression.pointer
        self.issues.append(
            Issue(pointer=pointer, message=message, line=line, column=column, needs=needs, held_back=held_back)
        )


def _minor(version: str) -> int:
    return int(version.partition(".")[2])
