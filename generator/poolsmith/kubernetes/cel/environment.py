"""CEL as the API server of one Kubernetes minor has it: functions, variables, and the fields of the typed ones.

Source: k8s.io/apiserver 0.34.1 `pkg/admission/plugin/cel/compile.go`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.cel_types import BOOL, DYN, INT, STRING, TIMESTAMP, Type, list_of, map_of
from poolsmith.kubernetes.cel.checker import Checked, Checker
from poolsmith.kubernetes.cel.compiled import Compiled
from poolsmith.kubernetes.cel.declared import IDENTIFIERS
from poolsmith.kubernetes.cel.errors import UnknownKubernetes
from poolsmith.kubernetes.cel.go_text import printable
from poolsmith.kubernetes.cel.literals import literal_issues
from poolsmith.kubernetes.cel.lower import Lowerer
from poolsmith.kubernetes.cel.macros import check_macro
from poolsmith.kubernetes.cel.parser import parse
from poolsmith.kubernetes.cel.program import Gap, LoweredPart, is_optional_source, undecidable_part
from poolsmith.kubernetes.cel.syntax import CelCompileError, CompileIssue, Node

if TYPE_CHECKING:
    from collections.abc import Mapping


VARIABLES = "kubernetes.variables"
_STRINGS = list_of(STRING)
_LABELS = map_of(STRING, STRING)


def _struct(name: str) -> Type:
    return Type(f"kubernetes.{name}")


_KIND = {"group": STRING, "version": STRING, "kind": STRING}
_RESOURCE = {"group": STRING, "version": STRING, "resource": STRING}
FIELDS: dict[str, dict[str, Type]] = {
    "kubernetes.GroupVersionKind": _KIND,
    "kubernetes.GroupVersionResource": _RESOURCE,
    "kubernetes.UserInfo": {
        "username": STRING,
        "uid": STRING,
        "groups": _STRINGS,
        "extra": map_of(STRING, _STRINGS),
    },
    "kubernetes.AdmissionRequest": {
        "kind": _struct("GroupVersionKind"),
        "resource": _struct("GroupVersionResource"),
        "subResource": STRING,
        "requestKind": _struct("GroupVersionKind"),
        "requestResource": _struct("GroupVersionResource"),
        "requestSubResource": STRING,
        "name": STRING,
        "namespace": STRING,
        "operation": STRING,
        "userInfo": _struct("UserInfo"),
        "dryRun": BOOL,
        "options": DYN,
    },
    "kubernetes.NamespaceCondition": {
        "status": STRING,
        "type": STRING,
        "lastTransitionTime": TIMESTAMP,
        "message": STRING,
        "reason": STRING,
    },
    "kubernetes.NamespaceSpec": {"finalizers": _STRINGS},
    "kubernetes.NamespaceStatus": {"conditions": list_of(_struct("NamespaceCondition")), "phase": STRING},
    "kubernetes.NamespaceMetadata": {
        "name": STRING,
        "generateName": STRING,
        "namespace": STRING,
        "labels": _LABELS,
        "annotations": _LABELS,
        "UID": STRING,
        "creationTimestamp": TIMESTAMP,
        "deletionGracePeriodSeconds": INT,
        "deletionTimestamp": TIMESTAMP,
        "generation": INT,
        "resourceVersion": STRING,
        "finalizers": _STRINGS,
    },
    "kubernetes.Namespace": {
        "metadata": _struct("NamespaceMetadata"),
        "spec": _struct("NamespaceSpec"),
        "status": _struct("NamespaceStatus"),
    },
}
_KEPT = frozenset(
    {"bool", "bytes", "double", "int", "null_type", "string", "uint", TIMESTAMP.name, "google.protobuf.Duration"}
)


def names(*, params: bool, authorizer: bool) -> Mapping[str, Type]:
    """What a policy's expressions may name; params: it has a paramKind; authorizer: false in messages."""
    out = {
        "object": DYN,
        "oldObject": DYN,
        "request": _struct("AdmissionRequest"),
        "namespaceObject": _struct("Namespace"),
        "variables": Type(VARIABLES),
    }
    if params:
        out["params"] = DYN
    if authorizer:
        out["authorizer"] = Type("kubernetes.authorization.Authorizer")
        out["authorizer.requestResource"] = Type("kubernetes.authorization.ResourceCheck")
    return out


def variable_type(found: Type) -> Type:
    """The type with which later expressions see a variable: lists, maps and plain types stay, the rest is dyn."""
    if found.name in _KEPT:
        return found
    if found.name in ("list", "map") and found.params:
        return Type(found.name, tuple(map(variable_type, found.params)))
    return DYN


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
        """The same for all minors to which it means the same. Raises CelCompileError."""
        before = _compiled_before(source, tuple(scope.names), scope.variables)
        for same, compiled in before:
            if self.minor in same:
                return compiled
        same, compiled = self._compile(source, scope)
        before.append((same, compiled))
        return compiled

    def _compile(self, source: str, scope: Scope) -> tuple[range, Compiled]:
        node = parse(source)
        fields = {**FIELDS, VARIABLES: {one.name: one.type for one in scope.variables}}
        try:
            checked = Checker(source, self.minor, scope.names, fields, check_macro).whole(node)
            if not checked.issues:
                checked.issues.extend(literal_issues(source, node, checked))
            if checked.issues:
                raise CelCompileError(*checked.issues)
            return checked.same, _compiled(source, node, checked, scope)
        except RecursionError:
            raise CelCompileError(CompileIssue("expression is nested too deeply")) from None


@lru_cache(maxsize=1_024)
def _compiled_before(
    _source: str, _names: tuple[str, ...], _variables: tuple[Variable, ...]
) -> list[tuple[range, Compiled]]:
    """What an expression was compiled to, and for which minors: to begin with nothing."""
    return []


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
