"""A policy with compiled expressions, what the API server would refuse of them, and the fields of `object` it reads.

A compile error spoils its own expression only: at evaluation that one is an error, and failurePolicy decides.

The API server checks new expressions against what the minor version before its own has, so that a downgrade stays
possible; stored ones it evaluates with all that it has. So what only this minor has is refused, and evaluated all the
same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping
from poolsmith.kubernetes.cel import CelCompileError, CelEnvironment, CompileIssue, NotEvaluated
from poolsmith.kubernetes.cel.parser import parse
from poolsmith.kubernetes.cel.syntax import Call, Ident, Literal, Node, Select, children
from poolsmith.kubernetes.server.defaults import ITEM, Path, depends_on_defaulting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

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


_OVER_ITEMS = ("all", "exists", "exists_one", "existsOne", "map", "filter", "transformList", "transformMap")
_TRANSPARENT = ("orValue", "or", "value", "optional")
_INDEXES = ("_[_]", "_[?_]")
_FIRST, _SECOND = 1, 2
Known = dict[str, Path]
"""Names (of variables as `variables.x`) that stand for a place in the object."""


def fields_read(policy: Policy) -> tuple[Path, ...]:
    """Paths below `object`, sorted; ITEM for any item. What does not parse reads nothing."""
    known: Known = {"object": ()}
    found: set[Path] = set()
    for variable in policy.variables:
        node = _parsed(variable.expression.source)
        if node is not None:
            found.update(_paths(node, known))
            place = _place(node, known)
            if place is not None:
                known[f"variables.{variable.name}"] = place
    named = (*policy.match_conditions, *policy.audit_annotations)
    for expression in (*(item.expression for item in named), *(item.expression for item in policy.validations)):
        node = _parsed(expression.source)
        if node is not None:
            found.update(_paths(node, known))
    return tuple(sorted(path for path in found if path))


def absent_defaults(paths: tuple[Path, ...], body: Mapping[str, Any]) -> tuple[str, ...]:
    """Those fields, dotted, that an object leaves out and the API server fills in."""
    kind = str(body.get("kind", ""))
    return tuple(
        ".".join(path).replace(f".{ITEM}", "[]")
        for path in paths
        if depends_on_defaulting(kind, path) and _is_absent(body, path)
    )


def _is_absent(node: Any, path: Path) -> bool:
    """Whether some place that the path leads to is not there, though what holds it is."""
    for index, step in enumerate(path):
        if step == ITEM:
            items = node if isinstance(node, list) else list(mapping(node).values())
            return any(_is_absent(item, path[index + 1 :]) for item in items)
        if not isinstance(node, dict):
            return False
        if step not in node:
            return True
        node = node[step]
    return False


def _parsed(source: str) -> Node | None:
    try:
        return parse(source)
    except (CelCompileError, RecursionError):
        return None


def _paths(node: Node, known: Known) -> Iterator[Path]:
    """Of each longest chain of fields."""
    place = _place(node, known)
    if place is not None:
        yield place
        yield from _inside_indexes(node, known)
        return
    bound = _bound(node, known)
    for child in children(node):
        is_target = isinstance(node, Call) and child is node.target
        if is_target or bound is known or not isinstance(child, Ident):
            yield from _paths(child, known if is_target else bound)


def _inside_indexes(node: Node, known: Known) -> Iterator[Path]:
    while isinstance(node, Select | Call):
        if isinstance(node, Call) and node.function in _INDEXES:
            yield from _paths(node.args[1], known)
            node = node.args[0]
        elif isinstance(node, Call):
            if node.target is None:
                return
            node = node.target
        else:
            node = node.operand


def _bound(node: Node, known: Known) -> Known:
    """With the names that a macro gives to the items of what it is called on."""
    if not isinstance(node, Call) or node.target is None or node.function not in _OVER_ITEMS or not node.args:
        return known
    names = [item.name for item in node.args[:_SECOND] if isinstance(item, Ident)]
    place = _place(node.target, known)
    two = len(node.args) > _SECOND and len(names) == _SECOND
    shadowed = {name: path for name, path in known.items() if name not in names}
    if place is not None and names:
        shadowed[names[_FIRST if two else 0]] = (*place, ITEM)
    return shadowed


def _place(node: Node, known: Known) -> Path | None:
    if isinstance(node, Ident):
        return known.get(node.name)
    if isinstance(node, Select):
        if isinstance(node.operand, Ident) and node.operand.name == "variables":
            return known.get(f"variables.{node.field}")
        above = _place(node.operand, known)
        return None if above is None else (*above, node.field)
    if isinstance(node, Call) and node.function in _INDEXES:
        above = _place(node.args[0], known)
        key = node.args[1]
        step = key.value if isinstance(key, Literal) and isinstance(key.value, str) else ITEM
        return None if above is None else (*above, step)
    if isinstance(node, Call) and node.target is not None and node.function in _TRANSPARENT:
        return _place(node.target, known)
    return None
