"""What every step of the lowering shares (types, optionals, names, values computed once), and overloads of calls.

The checker chose one overload of a call: the API server refuses any value that this overload does not take.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from poolsmith.kubernetes.cel.go_text import is_whole_duration, is_whole_timestamp
from poolsmith.kubernetes.cel.program import (
    PREFIX,
    Gap,
    call,
    failing,
    is_kind,
    is_optional_source,
    is_path,
    literal,
    parts_of,
)
from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, MapOf, Node, Select

if TYPE_CHECKING:
    from collections.abc import Callable

    from poolsmith.kubernetes.cel.cel_types import Type
    from poolsmith.kubernetes.cel.checker import Checked


_PASSING = {"dyn": 0, "_?_:_": 1, "_+_": 0, "map": -1, "transformList": -1, "transformMap": -1, "transformMapEntry": -1}
"""What makes a value of others, from which argument on."""


class Lowering(ABC):
    """One expression; optional: the policy's variables that are optionals, holding: those that hold some inside."""

    def __init__(self, checked: Checked, optional: frozenset[str], holding: frozenset[str]) -> None:
        self.checked = checked
        self.optional = optional
        self.holding = holding
        self.local: dict[str, Ident] = {}
        self.count = 0
        self.guarded = bool(optional or holding)
        self.hidden = False

    @abstractmethod
    def lower(self, node: Node) -> Node:
        """Raises Gap."""

    @abstractmethod
    def handed(self, node: Node) -> Node:
        """An argument of one of our functions; raises Gap."""

    def type_of(self, node: Node) -> Type:
        return self.checked.types[id(node)]

    def is_typed(self, node: Node) -> bool:
        """Parts of a qualified name, as of `google.protobuf.Duration`, are nothing by themselves."""
        return id(node) in self.checked.types

    def is_variable(self, node: Node) -> TypeGuard[Select]:
        """Whether it is a variable of the policy."""
        if not isinstance(node, Select) or not self.is_typed(node.operand):
            return False
        return self.type_of(node.operand).name == "kubernetes.variables"

    def is_optional(self, node: Node) -> bool:
        """Also where the checker says dyn: `a[?b]` always is one, and so is what is selected from one."""
        if isinstance(node, Call) and node.function == "or" and node.target is not None:
            return self.is_optional(node.target)
        if self.type_of(node).name == "optional_type":
            return True
        if isinstance(node, Call) and node.function == "_[?_]":
            return True
        if isinstance(node, Select):
            return node.optional or (self.is_typed(node.operand) and self.is_optional(node.operand))
        return isinstance(node, Call) and node.function == "_[_]" and self.is_optional(node.args[0])

    def nests_optionals(self, node: Node) -> bool:
        """The API server's evaluator takes the inner one out wherever such a value passes a name or a condition."""
        found = self.checked.types.get(id(node))
        if found is not None and any(
            one.name == "optional_type" and any(part.name == "optional_type" for part in parts_of(one)[1:])
            for one in parts_of(found)
        ):
            return True
        if not isinstance(node, Call) or node.function not in ("optMap", "of", "ofNonZeroValue") or not node.args:
            return False
        return (
            id(node.args[-1]) in self.checked.types and is_optional_source(node.args[-1]) and self.maybe(node.args[-1])
        )

    def hides_optional(self, node: Node) -> bool:
        """Whether an optional goes into a value of a type that does not say so.

        The engine ends the process, or worse, when it hands a list or map with an optional over to our functions.
        """
        if self.is_variable(node):
            return node.field in self.holding
        if isinstance(node, ListOf):
            parts = [one for at, one in enumerate(node.elements) if at not in node.optional]
        elif isinstance(node, MapOf):
            parts = [value for _, value, optional in node.entries if not optional]
        elif isinstance(node, Call) and node.function in _PASSING:
            parts = list(node.args[_PASSING[node.function] :])
        else:
            return False
        return not self.shows_optional(node) and any(
            self.shows_optional(one) or (self.is_variable(one) and one.field in self.optional) for one in parts
        )

    def shows_optional(self, node: Node) -> bool:
        if not self.is_typed(node):
            return False
        return any(one.name == "optional_type" for one in parts_of(self.type_of(node))) or self.is_optional(node)

    def may_hide(self, node: Node) -> bool:
        """Whether a value may hold an optional that its type does not show: any that is dyn, once one is hidden."""
        if not self.hidden or isinstance(node, Literal):
            return False
        if is_path(node):
            while isinstance(node, Select):
                node = node.operand
            if isinstance(node, Ident) and node.name not in self.local and node.name != "variables":
                return False
        return any(one.name == "dyn" for one in parts_of(self.type_of(node)))

    def refusal(self, name: str, held: Node) -> Node:
        """An error with the type of the value, where that can be handed over."""
        return failing("no such overload") if self.hidden else call("k_refused", literal(value=name), held)

    def maybe(self, node: Node) -> bool:
        return self.is_optional(node) or self.type_of(node).name == "dyn"

    def ends_optional(self, node: Node) -> bool:
        """Whether the whole expression is an optional, to the checker or not."""
        while isinstance(node, Call) and node.function == "dyn" and node.target is None and node.args:
            node = node.args[0]
        return self.is_optional(node)

    def is_optional_variable(self, node: Node) -> bool:
        """To the API server an optional in a variable is a value without fields: only its methods reach inside."""
        return self.is_variable(node) and node.field in self.optional

    def bound(self, value: Node, body: Callable[[Node], Node]) -> Node:
        """body with a value that is computed once; a name needs no binding."""
        if isinstance(value, Ident) or is_path(value):
            return body(value)
        name = self.new_name()
        return call("bind", name, value, body(name), target=Ident("cel", 0))

    def new_name(self) -> Ident:
        self.count += 1
        return Ident(f"{PREFIX}{self.count}", 0)

    def certain(self, node: Node) -> bool:
        """Whether the type cannot be a guess of the checker's: guesses come out of dyn values."""
        if isinstance(node, Literal):
            return True
        chosen = self.checked.chosen.get(id(node), ())
        return bool(chosen) and all(not any(part.is_parameter for part in parts_of(one.result)) for one in chosen)

    def plain(self, node: Node) -> None:
        """A variable that is dyn to the checker may hold optionals."""
        if self.is_variable(node) and node.field in self.holding:
            raise Gap(f"variables.{node.field}, which holds optionals, as a plain value")


class Conversions(Lowering):
    """int(), string() and their like; functions of lists of one type."""

    def converted(self, node: Call, name: str, *, native: bool) -> Node:
        kind = self.type_of(node.args[0]).name
        argument = self.lower(node.args[0]) if native else self.handed(node.args[0])
        if kind != "dyn" and not self.certain(node.args[0]):
            return self.bound(argument, lambda held: self.exactly(held, kind, name, native=native))
        if native:
            return replace(node, target=None, args=(argument,))
        if name == "string" and self.type_of(node.args[0]).name == "google.protobuf.Timestamp":
            raise Gap("the text of a timestamp: it forgets the time zone")
        return call(f"k_{name}", argument)

    def exactly(self, held: Node, kind: str, name: str, *, native: bool) -> Node:
        """A conversion from what the checker took the value for: the API server refuses any other."""
        done = call(name if native else f"k_{name}", held)
        return call("_?_:_", is_kind(held, kind), done, self.refusal(name, held))

    def of_one_type(self, node: Call, receiver: Node, argument: Node, done: Callable[[Node], Node]) -> Node:
        """A function of lists of one type: the API server looks at the first element if the checker chose one."""
        chosen = self.checked.chosen[id(node)]
        if len(chosen) > 1 or self.certain(receiver) or self.is_written(receiver):
            return done(argument)
        kind = chosen[0].arguments[0].params[0].name

        def guarded(held: Node) -> Node:
            empty = call("_==_", call("size", target=held), literal(value=0))
            first = is_kind(call("_[_]", held, literal(value=0)), kind)
            fits = call("_&&_", is_kind(held, "list"), call("_||_", empty, first))
            return call("_?_:_", fits, done(held), failing(f"no such overload: {node.function}(list)"))

        return self.bound(argument, guarded)

    def is_written(self, node: Node) -> bool:
        return isinstance(node, ListOf) and all(self.certain(one) for one in node.elements) and bool(node.elements)

    def milliseconds(self, node: Call, receiver: Node, kind: str) -> Node:
        """All of a duration's, which the engine takes for those of its last second."""
        duration = "google.protobuf.Duration"
        if kind == duration:
            return call("k_milliseconds", self.lower(receiver))
        if kind == "google.protobuf.Timestamp" and self.certain(receiver):
            return replace(node, target=self.lower(receiver))

        def either(held: Node) -> Node:
            return call(
                "_?_:_", is_kind(held, duration), call("k_milliseconds", held), call(node.function, target=held)
            )

        return self.bound(self.lower(receiver), either)

    def negated(self, node: Call) -> Node:
        """Also of a duration that is dyn, which the engine refuses."""
        zero = call("duration", literal(value="0s"))

        def either(held: Node) -> Node:
            less = call("_-_", zero, held)
            return call("_?_:_", is_kind(held, "google.protobuf.Duration"), less, replace(node, args=(held,)))

        return self.bound(self.lower(node.args[0]), either)

    def moment(self, node: Call, name: str, kind: str) -> Node:
        """duration() and timestamp(), which lose nothing."""
        given = node.args[0]
        if isinstance(given, Literal):
            whole = is_whole_duration if name == "duration" else is_whole_timestamp
            if isinstance(given.value, str) and not whole(given.value):
                raise Gap("a fraction of a microsecond")
            return node
        if name == "duration":
            return self.duration(node, kind)
        if kind not in ("dyn", "string"):
            return self.converted(node, name, native=True)
        argument = self.handed(given)
        if kind == "string" and self.certain(given):
            return replace(node, args=(call("k_moment", argument),))

        def read(held: Node) -> Node:
            other = replace(node, args=(held,)) if kind == "dyn" else self.refusal(name, held)
            whole = replace(node, args=(call("k_moment", held),))
            return call("_?_:_", is_kind(held, "string"), whole, other)

        return self.bound(argument, read)

    def duration(self, node: Call, kind: str) -> Node:
        if kind == "google.protobuf.Duration":
            if not self.certain(node.args[0]):
                refused = failing("no such overload: duration")
                return self.bound(
                    self.lower(node.args[0]), lambda held: call("_?_:_", is_kind(held, kind), held, refused)
                )
            return self.lower(node.args[0])
        return call("k_duration", self.handed(node.args[0]))
