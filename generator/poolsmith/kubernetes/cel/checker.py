"""Types of every part of an expression, and what is wrong with it, as cel-go's checker would tell."""

from __future__ import annotations

import re
import sys
from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.cel_types import (
    BOOL,
    DYN,
    ERROR,
    Type,
    Unifier,
    list_of,
    map_of,
    optional_of,
    type_of,
    unwrapped,
)
from poolsmith.kubernetes.cel.declared import IDENTIFIERS, MACROS, SYNTAX, Overload, overloads
from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, MapOf, Node, Select, StructOf, issue_at

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from poolsmith.kubernetes.cel.syntax import CompileIssue

_PLAIN_TYPES = ("bool", "bytes", "double", "dyn", "int", "null_type", "string", "uint")
_TYPE_NAMES = {
    **{name: Type(name) for name in (*_PLAIN_TYPES, "google.protobuf.Duration", "google.protobuf.Timestamp")},
    "list": list_of(DYN),
    "map": map_of(DYN, DYN),
    "type": Type("type"),
}
_LATER_TYPES = {
    "optional_type": (optional_of(DYN), 28),
    "net.IP": (Type("net.IP"), 30),
    "net.CIDR": (Type("net.CIDR"), 30),
}


@record(frozen=False, kw_only=False, slots=False)
class Checked:
    """What the checker found: types and overloads by the identity of a node, the names that are read, the issues."""

    types: dict[int, Type] = field(default_factory=dict)
    chosen: dict[int, tuple[Overload, ...]] = field(default_factory=dict)
    functions: dict[int, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)
    type_names: set[str] = field(default_factory=set)
    needs: int = 23
    same: range = range(sys.maxsize)
    """The minors that have and lack the same of what was asked for: for them all of this holds."""
    issues: list[CompileIssue] = field(default_factory=list)


class Checker:
    """One expression at a time, for one minor; fields: what struct types have; macro: checks a macro's call."""

    def __init__(
        self,
        source: str,
        minor: int,
        names: Mapping[str, Type],
        fields: Mapping[str, Mapping[str, Type]],
        macro: Callable[[Checker, Call], Type],
    ) -> None:
        self.source = source
        self.minor = minor
        self.fields = fields
        self.names = names
        self.macro = macro
        self.scopes: list[dict[str, Type]] = []
        self.unifier = Unifier()
        self.found = Checked()

    def whole(self, node: Node) -> Checked:
        """Checks all; types are final afterwards."""
        self.check(node)
        found = self.found
        found.types = {key: self.unifier.resolve(one, free=True) for key, one in found.types.items()}
        found.issues = sorted(dict.fromkeys(found.issues), key=lambda one: (one.line, one.column))
        return found

    def fail(self, offset: int, message: str) -> Type:
        self.found.issues.append(issue_at(self.source, offset, message))
        return ERROR

    def has(self, since: int) -> bool:
        """Whether the minor has what another one brought."""
        has_it, same = since <= self.minor, self.found.same
        start, stop = (max(same.start, since), same.stop) if has_it else (same.start, min(same.stop, since))
        self.found.same = range(start, stop)
        return has_it

    def need(self, minor: int) -> None:
        self.found.needs = max(self.found.needs, minor)

    def check(self, node: Node) -> Type:
        """The type of a node, recorded."""
        found = self._check(node)
        self.found.types[id(node)] = found
        return found

    def _check(self, node: Node) -> Type:
        if isinstance(node, Literal):
            return Type(node.kind)
        if isinstance(node, Ident):
            return self.ident(node.name, node.offset)
        if isinstance(node, Select):
            return self.select(node)
        if isinstance(node, Call):
            return self.call(node)
        if isinstance(node, ListOf):
            return self.list_literal(node)
        if isinstance(node, MapOf):
            return self.map_literal(node)
        return self.struct_literal(node)

    def lookup(self, name: str) -> Type | None:
        """A variable of the expression, one of the policy, or the name of a type."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        if name in self.names:
            self.found.names.add(name.partition(".")[0])
            self.need(IDENTIFIERS.get(name, 23))
            return self.names[name]
        if name in _TYPE_NAMES:
            return type_of(_TYPE_NAMES[name])
        if name in _LATER_TYPES and self.has(_LATER_TYPES[name][1]):
            self.found.type_names.add(name)
            self.need(_LATER_TYPES[name][1])
            return type_of(_LATER_TYPES[name][0])
        return None

    def ident(self, name: str, offset: int) -> Type:
        found = self.lookup(name)
        return self.undeclared(name, offset) if found is None else found

    def undeclared(self, name: str, offset: int, since: int = 0) -> Type:
        later = _brought_by(since) if since > self.minor else ""
        return self.fail(offset, f"undeclared reference to '{name[:80]}' (in container ''){later}")

    def select(self, node: Select) -> Type:
        if node.quoted and self.minor < SYNTAX["quoted"]:
            return self.fail(node.offset, f"unsupported syntax: '`{node.field[:80]}`'; write [\"{node.field[:80]}\"]")
        if not node.optional and (name := qualified(node)) is not None and name.partition(".")[0] not in self.local():
            found = self.lookup(name)
            if found is not None:
                self.found.functions[id(node)] = name
                return found
        if node.optional and not self.allowed(node.offset, SYNTAX["optional"], "unsupported syntax '.?'"):
            return ERROR
        return self.field_of(node)

    def local(self) -> set[str]:
        return {name for scope in self.scopes for name in scope}

    def allowed(self, offset: int, since: int, what: str) -> bool:
        if not self.has(since):
            self.fail(offset, f"{what}{_brought_by(since)}")
            return False
        self.need(since)
        return True

    def field_of(self, node: Select) -> Type:
        operand = self.unifier.resolve(self.check(node.operand))
        target, optional = unwrapped(operand)
        if target.name == "map" and target.params:
            result = target.params[1]
        elif target.name in self.fields:
            result = self.struct_field(target, node)
        elif target.is_parameter:
            self.unifier.assignable(DYN, target)
            result = DYN
        elif target.name in ("dyn", ERROR.name):
            result = DYN
        elif target.name.startswith(("kubernetes.", "net.")):
            result = self.fail(node.offset, f"undefined field '{node.field[:80]}'")
        else:
            self.fail(node.offset, f"type '{self.shown(target)}' does not support field selection")
            result = DYN
        return optional_of(result) if optional or node.optional else result

    def struct_field(self, target: Type, node: Select) -> Type:
        found = self.fields[target.name].get(node.field)
        if found is None:
            return self.fail(node.offset, f"undefined field '{node.field[:80]}'")
        if target.name == "kubernetes.variables":
            self.found.variables.add(node.field)
        return found

    def call(self, node: Call) -> Type:
        name, count = node.function, len(node.args)
        since = MACROS.get((name, count))
        if since is not None and (node.target is not None) == (name != "has"):
            if self.has(since):
                self.need(since)
                return self.macro(self, node)
            return self.undeclared(name, node.offset, since)
        if name == "_[?_]" and not self.allowed(node.offset, SYNTAX["optional"], "unsupported syntax '[?'"):
            return ERROR
        arguments = [self.check(one) for one in node.args]
        if node.target is None:
            return self.resolve(node, name, arguments, member=False)
        prefix = qualified(node.target)
        full = None if prefix is None else f"{prefix}.{name}"
        if full is not None and full in overloads():
            self.found.functions[id(node)] = full
            return self.resolve(node, full, arguments, member=False)
        target = self.check(node.target)
        return self.resolve(node, name, [target, *arguments], member=True)

    def resolve(self, node: Call, name: str, arguments: list[Type], *, member: bool) -> Type:
        """The result of the overloads that fit; several different results make dyn."""
        declared = overloads().get(name, ())
        if True not in {self.has(one.since) for one in declared}:  # each is asked
            since = min((one.since for one in declared), default=0)
            return self.undeclared(name, node.offset, since)
        if name in ("_&&_", "_||_"):
            return self.logical(node, arguments)
        result: Type | None = None
        chosen = []
        for one in declared:
            if one.member != member or one.since > self.minor or len(one.arguments) != len(arguments):
                continue
            wanted, given = self.instantiated(one)
            if not self.unifier.all_assignable(tuple(arguments), wanted):
                continue
            chosen.append(one)
            found = self.unifier.resolve(given)
            if result is None:
                result = found
            elif result not in {DYN, found}:
                result = DYN
        if result is None:
            shown = [self.shown(one) for one in arguments]
            signature = f"{shown[0]}.({', '.join(shown[1:])})" if member else f"({', '.join(shown)})"
            return self.fail(node.offset, f"found no matching overload for '{name}' applied to '{signature}'")
        self.found.chosen[id(node)] = tuple(chosen)
        self.need(min(one.since for one in chosen))
        return result

    def logical(self, node: Call, arguments: list[Type]) -> Type:
        for one, part in zip(arguments, node.args, strict=True):
            if not self.unifier.assignable(one, BOOL):
                self.mismatch(part, BOOL, one)
        return BOOL

    def instantiated(self, one: Overload) -> tuple[tuple[Type, ...], Type]:
        fresh: dict[str, Type] = {}

        def replaced(part: Type) -> Type:
            if part.name.startswith("<"):
                if part.name not in fresh:
                    fresh[part.name] = self.unifier.fresh()
                return fresh[part.name]
            return Type(part.name, tuple(map(replaced, part.params))) if part.params else part

        return tuple(map(replaced, one.arguments)), replaced(one.result)

    def mismatch(self, node: Node, wanted: Type, given: Type) -> Type:
        return self.fail(node.offset, f"expected type '{self.shown(wanted)}' but found '{self.shown(given)}'")

    def shown(self, one: Type) -> str:
        return shown_type(self.unifier.resolve(one, free=True))

    def list_literal(self, node: ListOf) -> Type:
        element: Type | None = None
        for index, part in enumerate(node.elements):
            given = self.check(part)
            if index in node.optional:
                given = self.optional_part(part, given)
            element = self.joined(element, given)
        return list_of(self.unifier.fresh() if element is None else element)

    def optional_part(self, node: Node, given: Type) -> Type:
        inner, is_optional = unwrapped(self.unifier.resolve(given))
        if not is_optional and inner.name not in ("dyn", ERROR.name):
            self.mismatch(node, optional_of(inner), inner)
        self.allowed(node.offset, SYNTAX["optional"], "unsupported syntax '?'")
        return inner

    def joined(self, before: Type | None, given: Type) -> Type:
        if before is None:
            return given
        if self.unifier.assignable(before, given):
            return self.unifier.join(before, given)
        return DYN

    def map_literal(self, node: MapOf) -> Type:
        key_type: Type | None = None
        value_type: Type | None = None
        for key, value, optional in node.entries:
            key_type = self.joined(key_type, self.check(key))
            given = self.check(value)
            if optional:
                given = self.optional_part(value, given)
            value_type = self.joined(value_type, given)
        if key_type is None or value_type is None:
            return map_of(self.unifier.fresh(), self.unifier.fresh())
        return map_of(key_type, value_type)

    def struct_literal(self, node: StructOf) -> Type:
        for _, value, _ in node.entries:
            self.check(value)
        return self.undeclared(node.name, node.offset)


def _brought_by(since: int) -> str:
    """A new expression may use what the minor before has, so that the cluster can go back to that."""
    return f"; Kubernetes 1.{since} brought it, and new policies may use it from 1.{since + 1} on"


def qualified(node: Node) -> str | None:
    """`a.b.c` as one name, when the node is nothing but names."""
    parts: list[str] = []
    while isinstance(node, Select) and not node.optional and not node.quoted:
        parts.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    parts.append(node.name)
    return ".".join(reversed(parts))


def shown_type(one: Type) -> str:
    """As messages spell it."""
    return re.sub(r"\bnull_type\b", "null", str(one))
