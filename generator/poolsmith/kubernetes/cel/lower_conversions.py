"""Calls whose overload the checker chose: the API server refuses any value that this overload does not take."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.kubernetes.cel.lowering import Lowering
from poolsmith.kubernetes.cel.syntax import Call, ListOf, Literal, Node
from poolsmith.kubernetes.cel.times import is_whole_duration, is_whole_timestamp
from poolsmith.kubernetes.cel.trees import Gap, call, failing, is_kind, literal

if TYPE_CHECKING:
    from collections.abc import Callable


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
