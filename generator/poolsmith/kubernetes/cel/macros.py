"""Macros: their types, from what cel-go expands them to, and their variables as the engine has them.

Macros with variables are loops, and bodies for the value of an optional. Each variable gets a generated name: one that
the user calls `list` or `optional` must not hide what the lowered text means.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.kubernetes.cel.cel_types import BOOL, DYN, ERROR, INT, Type, list_of, map_of, optional_of
from poolsmith.kubernetes.cel.declared import SYNTAX, overloads
from poolsmith.kubernetes.cel.lowering import Lowering
from poolsmith.kubernetes.cel.program import Gap, call, is_kept, parts_of
from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, MapOf, Node, Select, StructOf

if TYPE_CHECKING:
    from poolsmith.kubernetes.cel.checker import Checker


TWO_VARIABLES = 3


def check_macro(checker: Checker, node: Call) -> Type:
    """Macros have the types of what cel-go expands them to."""
    name = node.function
    if name == "has":
        return _presence(checker, node)
    assert node.target is not None
    if name in ("optMap", "optFlatMap"):
        return _optional_macro(checker, node)
    two = len(node.args) >= TWO_VARIABLES and (name, len(node.args)) != ("map", 3)
    variables = node.args[:2] if two else node.args[:1]
    names = [one.name for one in variables if isinstance(one, Ident)]
    if len(names) != len(variables):
        bad = next(one for one in variables if not isinstance(one, Ident))
        return checker.fail(bad.offset, "argument must be a simple name")
    if len(set(names)) != len(names):
        return checker.fail(variables[1].offset, f"duplicate variable name: {names[1][:80]}")
    if "__result__" in names:
        return checker.fail(variables[0].offset, "iteration variable overwrites accumulator variable")
    types = _loop_types(checker, node.target, two=two)
    checker.scopes.append(dict(zip(names, types, strict=False)))
    parts = [checker.check(one) for one in node.args[len(variables) :]]
    result = _loop_result(checker, node, parts, types)
    checker.scopes.pop()
    return result


def _presence(checker: Checker, node: Call) -> Type:
    inside = node.args[0]
    if not isinstance(inside, Select) or inside.optional:
        return checker.fail(node.offset, "invalid argument to has() macro")
    if inside.quoted and checker.minor < SYNTAX["quoted"]:
        return checker.fail(inside.offset, f"unsupported syntax: '`{inside.field[:80]}`'")
    checker.found.types[id(inside)] = checker.field_of(inside)
    return BOOL


def _loop_types(checker: Checker, range_node: Node, *, two: bool) -> tuple[Type, Type]:
    given = checker.unifier.resolve(checker.check(range_node))
    if given.name == "list" and given.params:
        return (INT, given.params[0]) if two else (given.params[0], DYN)
    if given.name == "map" and given.params:
        return given.params[0], given.params[1]
    if given.name in ("dyn", ERROR.name) or given.is_parameter:
        checker.unifier.assignable(DYN, given)
        return DYN, DYN
    shown = checker.shown(given)
    words = f"expression of type '{shown}' cannot be range of a comprehension (must be list, map, or dynamic)"
    return checker.fail(range_node.offset, words), ERROR


def _loop_result(checker: Checker, node: Call, parts: list[Type], types: tuple[Type, Type]) -> Type:
    name = node.function
    bodies = node.args[-len(parts) :]
    if name in ("all", "exists", "exists_one", "existsOne", "filter"):
        _wants_bool(checker, node, bodies[0], parts[0])
        return list_of(types[0]) if name == "filter" else BOOL
    if len(parts) > 1:
        _wants_bool(checker, node, bodies[0], parts[0])
    if name in ("map", "transformList"):
        return list_of(parts[-1])
    if name == "transformMap":
        return map_of(types[0], parts[-1])
    if name == "transformMapEntry":
        key, value = checker.unifier.fresh(), checker.unifier.fresh()
        if not checker.unifier.assignable(parts[-1], map_of(key, value)):
            checker.mismatch(bodies[-1], map_of(DYN, DYN), parts[-1])
        return checker.unifier.resolve(map_of(key, value))
    return _sorted_by(checker, node, parts[-1])


def _sorted_by(checker: Checker, node: Call, key: Type) -> Type:
    assert node.target is not None
    if isinstance(node.target, Literal | MapOf | StructOf):
        words = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        return checker.fail(node.target.offset, words)
    plain = [one.arguments[0].params[0] for one in overloads()["sort"]]
    if not any(checker.unifier.assignable(key, one) for one in plain):
        shown = checker.shown(key)
        checker.fail(node.offset, f"found no matching overload for '@sortByAssociatedKeys' applied to 'list({shown})'")
    given = checker.unifier.resolve(checker.found.types[id(node.target)])
    if given.name == "list":
        return given
    return DYN if checker.unifier.resolve(key, free=True) == DYN else list_of(checker.unifier.fresh())


def _wants_bool(checker: Checker, node: Call, body: Node, given: Type) -> None:
    if checker.unifier.assignable(given, BOOL):
        return
    if node.function in ("all", "exists"):
        checker.mismatch(body, BOOL, given)
        return
    shown = checker.shown(given)
    checker.fail(node.offset, f"found no matching overload for '_?_:_' applied to '({shown}, dyn, dyn)'")


def _optional_macro(checker: Checker, node: Call) -> Type:
    assert node.target is not None
    variable = node.args[0]
    if not isinstance(variable, Ident):
        word = "optMap" if node.function == "optMap" else "optFlatMap"
        return checker.fail(variable.offset, f"{word}() variable name must be a simple identifier")
    held = checker.unifier.fresh()
    given = checker.check(node.target)
    if not checker.unifier.assignable(given, optional_of(held)):
        shown = checker.shown(given)
        return checker.fail(node.offset, f"found no matching overload for 'hasValue' applied to '{shown}.()'")
    checker.scopes.append({variable.name: checker.unifier.resolve(held)})
    body = checker.check(node.args[1])
    checker.scopes.pop()
    if node.function == "optMap":
        return optional_of(body)
    value = optional_of(checker.unifier.fresh())
    if not checker.unifier.assignable(body, value):
        shown = checker.shown(body)
        words = f"found no matching overload for '_?_:_' applied to '(bool, {shown}, optional_type(dyn))'"
        return checker.fail(node.offset, words)
    return checker.unifier.join(checker.unifier.resolve(body), checker.unifier.resolve(value))


class Loops(Lowering):
    """all, exists, map, filter, sortBy, optMap and their like."""

    def loop(self, node: Call) -> Node:
        """Raises Gap."""
        assert node.target is not None
        name, count = node.function, len(node.args)
        target = self.lower(node.target)
        two = count >= TWO_VARIABLES and (name, count) != ("map", 3)
        written, parts = (node.args[:2], node.args[2:]) if two else (node.args[:1], node.args[1:])
        outer = self.local
        renamed = {one.name: self.new_name() for one in written if isinstance(one, Ident)}
        variables = tuple(renamed.values())
        self.local = {**outer, **renamed}
        bodies = tuple(map(self.lower, parts))
        if name in ("transformMap", "transformMapEntry", "sortBy") and self.may_hide(parts[-1]):
            raise Gap(f"a value that may hold an optional out of {name}()")
        self.local = outer
        if name in ("transformMap", "transformMapEntry"):
            return self.transformed(node, target, variables, bodies)
        if name == "sortBy":
            self.sortable(node)
            keys = call("map", *variables, *bodies, target=target)
            return self.bound(target, lambda held: call("k_sortBy", held, replace(keys, target=held)))
        word = "existsOne" if two and name == "exists_one" else name
        return replace(node, function=word, target=target, args=(*variables, *bodies))

    def sortable(self, node: Call) -> None:
        assert node.target is not None
        found = self.type_of(node)
        if is_kept(found) or any(one.name == "optional_type" for one in parts_of(self.type_of(node.args[1]))):
            raise Gap(f"a {found} out of sortBy()")
        if self.may_hide(node.target):
            raise Gap("a value that may hold an optional out of sortBy()")

    def transformed(self, node: Call, target: Node, variables: tuple[Ident, ...], bodies: tuple[Node, ...]) -> Node:
        """Maps are built from lists of pairs: the engine has no way to insert."""
        if is_kept(self.type_of(node)):
            raise Gap(f"a {self.type_of(node)} out of {node.function}()")
        entry = bodies[-1]
        if node.function == "transformMap":
            entry = ListOf((variables[0], entry), 0)
        made = call("transformList", *variables, *bodies[:-1], entry, target=target)
        return call("k_pairs" if node.function == "transformMap" else "k_entries", made)
