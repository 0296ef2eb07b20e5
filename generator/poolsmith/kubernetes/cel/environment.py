"""CEL as the API server of one Kubernetes minor has it: what a policy's expressions may say, and what they mean."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.admission_types import FIELDS, VARIABLES, names, variable_type
from poolsmith.kubernetes.cel.cel_types import DYN, Type
from poolsmith.kubernetes.cel.checker import Checked, Checker
from poolsmith.kubernetes.cel.compiled import Compiled
from poolsmith.kubernetes.cel.declared import IDENTIFIERS
from poolsmith.kubernetes.cel.errors import UnknownKubernetes
from poolsmith.kubernetes.cel.literals import literal_issues
from poolsmith.kubernetes.cel.lower import Lowerer
from poolsmith.kubernetes.cel.macros import check_macro
from poolsmith.kubernetes.cel.parser import parse
from poolsmith.kubernetes.cel.plan import LoweredPart, undecidable_part
from poolsmith.kubernetes.cel.printed_text import printable
from poolsmith.kubernetes.cel.syntax import CelCompileError, CompileIssue, Node
from poolsmith.kubernetes.cel.trees import Gap, is_optional_source

if TYPE_CHECKING:
    from collections.abc import Mapping

OLDEST, NEWEST = 23, 37


@record(kw_only=False, slots=False)
class Variable:
    """One of a policy's variables: its type for others, and what computes it; error: why it does not compile."""

    name: str
    type: Type
    compiled: Compiled | None
    error: str = ""


@record(kw_only=False, slots=False)
class Scope:
    """The names that an expression may use: the usual ones, and the variables declared so far."""

    names: Mapping[str, Type]
    variables: tuple[Variable, ...] = ()

    def with_variable(self, name: str, compiled: Compiled) -> Scope:
        """A later expression may read variables.<name>."""
        return self._with(Variable(name, variable_type(compiled.type), compiled))

    def with_failed_variable(self, name: str, error: CelCompileError) -> Scope:
        """A variable that does not compile: declared, and an error when it is read."""
        first = error.messages[0].message if error.messages else "unknown"
        return self._with(Variable(name, DYN, None, first))

    def _with(self, one: Variable) -> Scope:
        return replace(self, variables=(*(known for known in self.variables if known.name != one.name), one))


@record(kw_only=False, slots=False)
class CelEnvironment:
    """kubernetes: the minor, as 1.34."""

    kubernetes: str

    @classmethod
    def of(cls, kubernetes: str) -> CelEnvironment:
        """The environment of a version; raises UnknownKubernetes."""
        return _environment(".".join(kubernetes.removeprefix("v").split(".")[:2]))

    @property
    def minor(self) -> int:
        return int(self.kubernetes.partition(".")[2])

    def scope(self, *, params: bool, authorizer: bool = True) -> Scope:
        """params: the policy has a paramKind. authorizer: false where Kubernetes does not offer it (messages)."""
        known = names(params=params, authorizer=authorizer)
        minor = self.minor
        return Scope({name: one for name, one in known.items() if IDENTIFIERS.get(name.partition(".")[0], 0) <= minor})

    def compile(self, source: str, scope: Scope) -> Compiled:
        """Raises CelCompileError."""
        node = parse(source)
        fields = {**FIELDS, VARIABLES: {one.name: one.type for one in scope.variables}}
        try:
            checked = Checker(source, self.minor, scope.names, fields, check_macro).whole(node)
            if not checked.issues:
                checked.issues.extend(literal_issues(source, node, checked))
            if checked.issues:
                raise CelCompileError(*checked.issues)
            return _compiled(source, node, checked, scope)
        except RecursionError:
            raise CelCompileError(CompileIssue("expression is nested too deeply")) from None


def _compiled(source: str, node: Node, checked: Checked, scope: Scope) -> Compiled:
    used = tuple(one for one in scope.variables if one.name in checked.variables)
    read = {name for name in checked.names if name != "variables"}
    needs = checked.needs
    for one in used:
        if one.compiled is not None:
            read |= one.compiled.names
            needs = max(needs, int(one.compiled.needs.partition(".")[2]))
    part = _part(node, checked, used)
    return Compiled(
        source=source,
        type=checked.types[id(node)],
        names=frozenset(read | ({"variables"} if used else set())),
        needs=f"1.{needs}",
        part=part,
    )


def _part(node: Node, checked: Checked, used: tuple[Variable, ...]) -> LoweredPart:
    parts = {
        one.name: LoweredPart.failing(one.name, one.error) if one.compiled is None else one.compiled.part
        for one in used
    }
    optional = frozenset(one.name for one in used if one.compiled and one.compiled.part.optional)
    holding = frozenset(one.name for one in used if one.compiled and one.compiled.part.holding)
    lowerer = Lowerer(checked, optional, holding - optional)
    try:
        lowered = lowerer.whole(node)
    except Gap as gap:
        return undecidable_part(f"the engine cannot evaluate {gap}", parts)
    return LoweredPart(
        lowered,
        parts,
        optional=lowerer.ends_optional(node),
        holding=_holds_optionals(node, checked) or lowerer.hidden or lowerer.is_optional_variable(node),
        written=node,
    )


def _holds_optionals(node: Node, checked: Checked) -> bool:
    return "optional_type" in str(checked.types[id(node)]) or is_optional_source(node)


@cache
def _environment(kubernetes: str) -> CelEnvironment:
    major, _, minor = kubernetes.partition(".")
    if major != "1" or not minor.isdecimal() or not OLDEST <= int(minor) <= NEWEST:
        raise UnknownKubernetes(
            f"Kubernetes {printable(kubernetes[:20])} is not known; known are 1.{OLDEST} to 1.{NEWEST}"
        )
    return CelEnvironment(kubernetes)
