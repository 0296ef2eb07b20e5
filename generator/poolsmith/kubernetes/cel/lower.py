"""Checked expressions to text that the engine reads as the API server would: its gaps are closed by other words.

Calls of Kubernetes' functions become calls of ours, optional access and `has` on values that are no maps become what
cel-go makes of them, variables become lazy bindings around the expression.
"""

from __future__ import annotations

from dataclasses import replace

from poolsmith.kubernetes.cel.functions.registry import NAMES
from poolsmith.kubernetes.cel.lowering import Conversions
from poolsmith.kubernetes.cel.macros import Loops
from poolsmith.kubernetes.cel.program import (
    AUTHORIZER,
    CONVERSIONS,
    KEYS,
    LIST_INDEX,
    NATIVE,
    PREFIX,
    RETURNED,
    UNKNOWN,
    WITH_OWN_EQUALITY,
    Gap,
    call,
    failing,
    is_kept,
    is_key,
    is_kind,
    is_optional_source,
    literal,
    no_value,
    of_key,
    or_no_value,
    parts_of,
    variable,
)
from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, MapOf, Node, Select, StructOf, walk


class Lowerer(Conversions, Loops):
    """One expression of a policy."""

    def whole(self, node: Node) -> Node:
        """Raises Gap."""
        if any(isinstance(one, Ident) and one.name.startswith(PREFIX) for one in walk(node)):
            raise Gap(f"a name that starts with {PREFIX}")
        if any(name.startswith("net.") for name in self.checked.type_names):
            raise Gap("the type of an address as a value")
        if any(map(self.nests_optionals, walk(node))):
            raise Gap("an optional that holds an optional")
        self.guarded = self.guarded or any(map(is_optional_source, walk(node)))
        self.hidden = any(map(self.hides_optional, walk(node)))
        return self.lower(node)

    def lower(self, node: Node) -> Node:
        if self.type_of(node).name.startswith(AUTHORIZER):
            return call(UNKNOWN)
        if isinstance(node, Literal):
            return node
        if isinstance(node, Ident):
            return self.local.get(node.name, node)
        if isinstance(node, Select):
            return self.select(node)
        if isinstance(node, ListOf):
            return replace(node, elements=tuple(map(self.lower, node.elements)))
        if isinstance(node, MapOf):
            entries = tuple((self.lower(key), self.lower(value), optional) for key, value, optional in node.entries)
            return replace(node, entries=entries)
        if isinstance(node, StructOf):
            raise Gap("a message literal")
        return self.call(node)

    def select(self, node: Select) -> Node:
        name = self.checked.functions.get(id(node))
        if name is not None:
            return node
        if self.type_of(node.operand).name == "kubernetes.variables":
            return variable(node.field)
        operand = self.lower(node.operand)
        self.plain(node.operand)
        if node.optional or self.is_optional(node.operand):
            return self.optional_select(operand, node.field, optional=self.is_optional(node.operand))
        if self.is_optional_variable(node.operand):
            return failing(f"no such key: {node.field}")
        return replace(node, operand=operand)

    def optional_select(self, operand: Node, name: str, *, optional: bool) -> Node:
        def plain(held: Node, given: Node) -> Node:
            other = call("_?_:_", is_kind(held, "list"), failing(LIST_INDEX), no_value())
            return call("_?_:_", is_kind(held, "map"), Select(given, name, 0, optional=True), other)

        if not optional:
            return self.bound(operand, lambda held: plain(held, held))

        def inside(held: Node) -> Node:
            value = call("value", target=held)
            return call("_?_:_", call("hasValue", target=held), plain(value, held), no_value())

        return self.bound(operand, inside)

    def presence(self, node: Select) -> Node:
        """has(): false for anything that is no map, an error for a list and for a variable that fails."""
        if self.type_of(node.operand).name == "kubernetes.variables":
            kind = call("type", variable(node.field))
            return call("_==_", kind, kind)
        if self.is_optional(node.operand):
            found = self.optional_select(self.lower(node.operand), node.field, optional=True)
            return call("hasValue", target=found)

        def tested(held: Node) -> Node:
            other = call("_?_:_", is_kind(held, "list"), failing(LIST_INDEX), literal(value=False))
            return call("_?_:_", is_kind(held, "map"), call("has", Select(held, node.field, 0)), other)

        self.plain(node.operand)
        operand = self.lower(node.operand)
        if self.type_of(node.operand).name == "map":
            return call("has", Select(operand, node.field, 0))
        return self.bound(operand, tested)

    def call(self, node: Call) -> Node:
        name = self.checked.functions.get(id(node), node.function)
        if name == "has":
            inside = node.args[0]
            assert isinstance(inside, Select)
            return self.presence(inside)
        if id(node) not in self.checked.chosen and node.target is not None:
            return self.loop(node)
        if name == "_[?_]":
            return self.optional_index(node)
        if name == "_[_]" and self.is_optional_variable(node.args[0]):
            return failing("no such key")
        if name == "_[_]" and self.is_optional(node.args[0]):
            return self.optional_index(node)
        if name == "@in" and isinstance(node.args[1], ListOf) and not node.args[1].elements:
            return literal(value=False)
        if name == "@in":
            return self.membership(node)
        if name in ("_==_", "_!=_") and self.type_of(node.args[0]).name in WITH_OWN_EQUALITY:
            return call("k_same" if name == "_==_" else "k_differs", *map(self.handed, node.args))
        if name in ("orValue", "or"):
            return self.alternative(node)
        if name == "-_" and self.type_of(node.args[0]).name not in ("int", "double"):
            return self.negated(node)
        if name.startswith(("_", "@", "!", "-")):
            return replace(node, args=tuple(map(self.lower, node.args)))
        return self.function(node, name)

    def optional_index(self, node: Call) -> Node:
        self.plain(node.args[0])
        if self.type_of(node.args[1]).name == "double":
            raise Gap("a double as an optional index")
        operand, index = self.lower(node.args[0]), self.lower(node.args[1])
        certain = self.type_of(node.args[1]).name in KEYS

        def plain(held: Node, given: Node) -> Node:
            known = call("_||_", is_kind(held, "map"), is_kind(held, "list"))

            def found(key: Node) -> Node:
                return call("_?_:_", known, call("_[?_]", given, key), no_value())

            return found(index) if certain else self.bound(index, lambda key: of_key(key, found(key)))

        if not self.is_optional(node.args[0]):
            return self.bound(operand, lambda held: plain(held, held))

        def inside(held: Node) -> Node:
            value = call("value", target=held)
            return call("_?_:_", call("hasValue", target=held), plain(value, held), no_value())

        return self.bound(operand, inside)

    def membership(self, node: Call) -> Node:
        """What cannot be the key of a map is in none."""
        wanted, held = map(self.lower, node.args)
        kinds = [self.type_of(one).name for one in node.args]
        if kinds[0] in KEYS or kinds[1] == "list":
            return replace(node, args=(wanted, held))

        def tested(one: Node, many: Node) -> Node:
            odd = call("_&&_", is_kind(many, "map"), call("!_", is_key(one)))
            return call("_?_:_", odd, literal(value=False), replace(node, args=(one, many)))

        return self.bound(wanted, lambda one: self.bound(held, lambda many: tested(one, many)))

    def alternative(self, node: Call) -> Node:
        """orValue and or: what is no optional stays as it is."""
        assert node.target is not None
        target, arguments = self.lower(node.target), tuple(map(self.lower, node.args))
        if self.is_optional(node.target):
            return replace(node, target=target, args=arguments)

        def either(held: Node) -> Node:
            return call("_?_:_", is_kind(held, "optional_type"), replace(node, target=held, args=arguments), held)

        return self.bound(target, either)

    def function(self, node: Call, name: str) -> Node:
        qualified = id(node) in self.checked.functions
        receiver = () if node.target is None or qualified else (node.target,)
        given = (*receiver, *node.args)
        kinds = [self.type_of(one).name for one in given]
        if any(one.arguments and one.arguments[0].name.startswith(AUTHORIZER) for one in self.checked.chosen[id(node)]):
            return call(UNKNOWN)
        if name in ("first", "last"):
            return self.end_of(given[0], last=name == "last")
        if name in CONVERSIONS:
            native = kinds[0] in CONVERSIONS[name] or (
                name in ("int", "double", "uint") and kinds[0] not in ("string", "dyn")
            )
            if native and name == "int" and kinds[0] == "google.protobuf.Duration":
                native = False
            return self.converted(node, name, native=native)
        if name == "getMilliseconds" and len(given) == 1:
            return self.milliseconds(node, given[0], kinds[0])
        if name in ("duration", "timestamp"):
            return self.moment(node, name, kinds[0])
        if name == "bytes" and not self.certain(given[0]) and kinds[0] != "dyn":
            return self.converted(node, name, native=True)
        if name == "type" and kinds[0].startswith(("kubernetes.", "net.")):
            raise Gap(f"type() of a {kinds[0]}")
        if name in NATIVE:
            target = None if node.target is None else (node.target if qualified else self.lower(node.target))
            return replace(node, target=target, args=tuple(map(self.lower, node.args)))
        return self.ours(node, name, given)

    def end_of(self, given: Node, *, last: bool) -> Node:
        refused = "no such overload: last(map)" if last else "no such overload: first(map)"

        def picked(held: Node) -> Node:
            size = call("size", target=held)
            index = call("_-_", size, literal(value=1)) if last else literal(value=0)
            empty = call("_==_", size, literal(value=0))
            found = call("_?_:_", empty, no_value(), call("_[?_]", held, index))
            return call("_?_:_", is_kind(held, "map"), failing(refused), found)

        return self.bound(self.lower(given), picked)

    def ours(self, node: Call, name: str, given: tuple[Node, ...]) -> Node:
        ours = "k_" + name.replace(".", "_")
        if ours not in NAMES:
            raise Gap(f"{name}(), of which only the signature is known")
        arguments = tuple(map(self.handed, given))
        result = self.type_of(node)
        if name == "sum" and result.name in ("int", "double", "dyn"):
            chosen = self.checked.chosen[id(node)]
            word = f"k_sum_{chosen[0].result.name}" if len(chosen) == 1 else "k_sum"
            return self.of_one_type(node, given[0], arguments[0], lambda held: call(word, held))
        if name in ("indexOf", "lastIndexOf") and self.type_of(given[0]).name in ("string", "list"):
            return self.bound(
                arguments[0],
                lambda held: call(
                    "_?_:_",
                    is_kind(held, self.type_of(given[0]).name),
                    call(ours, held, *arguments[1:]),
                    self.refusal(name, held),
                ),
            )
        if result.name == "optional_type":
            return self.bound(call(ours, *arguments), or_no_value)
        ending = RETURNED.get(result.name)
        if ending is None and result.name == "list" and is_kept(result):
            raise Gap(f"a {result} out of {name}()")
        word = f"{ours}_{ending}" if ending else ours
        if name in ("min", "max", "isSorted"):
            return self.of_one_type(node, given[0], arguments[0], lambda held: call(word, held))
        return call(word, *arguments)

    def handed(self, node: Node) -> Node:
        """An argument of one of our functions; optionals cannot be handed over, and nothing of ours takes them."""
        found = self.type_of(node)
        if any(one.name in ("optional_type", "type") for one in parts_of(found)):
            raise Gap(f"a value of type {found} as an argument")
        if self.is_optional(node):
            return failing("no such overload")
        if self.may_hide(node):
            raise Gap("a value that may hold an optional as an argument")
        self.plain(node)
        argument = self.lower(node)
        if not self.guarded or found.name not in ("dyn", "list", "map"):
            return argument
        if found.name != "dyn":
            if any(isinstance(one, ListOf | MapOf) and self.holds_optional(one) for one in walk(node)):
                raise Gap("a list or map of optionals as an argument")
            return argument
        return self.bound(
            argument, lambda held: call("_?_:_", is_kind(held, "optional_type"), failing("no such overload"), held)
        )

    def holds_optional(self, node: ListOf | MapOf) -> bool:
        parts = node.elements if isinstance(node, ListOf) else [value for _, value, _ in node.entries]
        return any(
            self.is_optional(one) or (self.type_of(one).name == "dyn" and is_optional_source(one)) for one in parts
        )
