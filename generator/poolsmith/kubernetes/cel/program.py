"""How an expression and the variables that it reads become one program for the engine, with the pieces to build it.

Variables are bound around the expression, each once, in order: computed when first read, remembered, and their errors
absorbed by `||` and `&&`. An expression that is deeper than the engine's parser takes is split: variables and closed
subtrees become calls of one function that evaluates them once, when asked for; their errors stay errors.
"""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, MapOf, Node, Select, children, walk

if TYPE_CHECKING:
    from poolsmith.kubernetes.cel.cel_types import Type


NATIVE = frozenset(
    {"size", "contains", "startsWith", "endsWith", "matches", "bytes", "dyn", "type", "timestamp", "hasValue", "value"}
    | {"optional.of", "optional.none", "optional.ofNonZeroValue", "optional.unwrap", "unwrapOpt"}
    | {"getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getMonth", "getMilliseconds"}
    | {"getHours", "getMinutes", "getSeconds"}
)
CONVERSIONS = {
    "string": {"string", "int", "bool", "uint"},
    "int": {"int", "uint", "double"},
    "uint": {"int", "uint", "double"},
    "double": {"int", "uint", "double"},
    "bool": {"bool"},
}
RETURNED = {"google.protobuf.Timestamp": "timestamp", "google.protobuf.Duration": "duration", "uint": "uint"}
KEYS = ("string", "int", "uint", "bool", "double")
WITH_OWN_EQUALITY = (
    *("kubernetes.Quantity", "kubernetes.Semver", "kubernetes.URL", "kubernetes.NamedFormat"),
    *("net.IP", "net.CIDR"),
)
AUTHORIZER = "kubernetes.authorization."
LIST_INDEX = "unsupported index type 'string' in list"


PREFIX = "poolsmith_"
UNKNOWN = "k_unknown"
_KEPT_IN_LISTS = ("google.protobuf.", "optional_type", "type", "uint")
_OPTIONAL = frozenset(
    {
        "_[?_]",
        "of",
        "none",
        "ofNonZeroValue",
        "first",
        "last",
        "named",
        "validate",
        "optMap",
        "optFlatMap",
        "or",
    }
)


def variable(name: str) -> Ident:
    """The name under which a policy's variable is bound."""
    return Ident(f"{PREFIX}v_{name}", 0)


def is_optional_source(node: Node) -> bool:
    """Whether a node can itself be an optional."""
    while isinstance(node, Select) and not node.optional:
        node = node.operand
    if isinstance(node, Call) and node.function in ("dyn", "_[_]") and node.args:
        return is_optional_source(node.args[0])
    if isinstance(node, Call) and node.function == "_?_:_":
        return any(map(is_optional_source, node.args[1:]))
    return isinstance(node, Select) or (isinstance(node, Call) and node.function in _OPTIONAL)


def is_path(node: Node) -> bool:
    while isinstance(node, Select) and not node.optional:
        node = node.operand
    return isinstance(node, Ident)


def parts_of(found: Type) -> list[Type]:
    return [found, *(inner for one in found.params for inner in parts_of(one))]


def is_kept(found: Type) -> bool:
    return any(one.name.startswith(_KEPT_IN_LISTS) for one in parts_of(found))


def call(name: str, *args: Node, target: Node | None = None) -> Call:
    return Call(name, args, 0, target)


def literal(*, value: bool | int | str) -> Literal:
    kind = "string" if isinstance(value, str) else type(value).__name__
    return Literal(value, kind, 0)


def is_kind(node: Node, kind: str) -> Node:
    return call("_==_", call("type", node), Ident(kind, 0))


def no_value() -> Node:
    return call("none", target=Ident("optional", 0))


def failing(message: str) -> Node:
    return call("k_error", literal(value=message))


def or_no_value(held: Node) -> Node:
    some = call("of", held, target=Ident("optional", 0))
    return call("_?_:_", call("_==_", held, Literal(None, "null_type", 0)), no_value(), some)


class Gap(Exception):  # noqa: N818
    """Something that the engine cannot do."""


def is_key(node: Node) -> Node:
    """Whether a value can be the key of a map."""
    return call("@in", call("type", node), ListOf(tuple(Ident(one, 0) for one in KEYS), 0))


def of_key(key: Node, found: Node) -> Node:
    """What stands under a key; an error for what can't be one."""
    return call("_?_:_", is_key(key), found, failing("invalid qualifier type"))


BINDERS = frozenset({"bind", "optMap", "optFlatMap"})
_FAILED = Literal(None, "null_type", 0)
_WHOLE = Ident(f"{PREFIX}whole", 0)


@record(kw_only=False, slots=False, eq=False)
class LoweredPart:
    """A lowered tree and the parts that it reads as variables; undecidable: why it has no meaning here;
    optional: its value is one; holding: it may be or hold some; written: the tree before it was lowered."""

    node: Node
    variables: dict[str, LoweredPart] = field(default_factory=dict)
    undecidable: str | None = None
    optional: bool = False
    holding: bool = False
    written: Node | None = None

    @staticmethod
    def failing(name: str, error: str) -> LoweredPart:
        """A variable that is an error when it is read."""
        message = Literal(f'composited variable "{name}" fails to compile: compilation failed: {error}', "string", 0)
        return LoweredPart(Call("k_error", (message,), 0))

    def ordered(self) -> dict[str, LoweredPart]:
        """All variables that are read, also through others, each after those that it reads."""
        out: dict[str, LoweredPart] = {}
        waiting = [(name, part, False) for name, part in reversed(self.variables.items())]
        while waiting:
            name, part, ready = waiting.pop()
            if name in out:
                continue
            if ready:
                out[name] = part
                continue
            waiting.append((name, part, True))
            waiting.extend((inner, one, False) for inner, one in reversed(part.variables.items()))
        return out

    def reason(self) -> str | None:
        """Why it cannot be evaluated, itself or a variable."""
        if self.undecidable is not None:
            return self.undecidable
        for name, part in self.ordered().items():
            if part.undecidable is not None:
                return f"variables.{name}: {part.undecidable}"
        return None

    def bound(self) -> Node:
        """One tree with everything bound."""
        node = with_own_slots(self.node)
        for name, part in reversed(self.ordered().items()):
            node = Call("bind", (variable(name), part.node, node), 0, Ident("cel", 0))
        return node


def with_own_slots(node: Node) -> Node:
    """The tree as the value of a binding around it: the engine then reuses no slot of a loop for a binding inside.

    A loop that ends early leaves its variable in its slot, and a binding takes what stands in its slot for its value.
    Only within the value of a binding has each loop and each binding a slot of its own, since that value is computed
    nobody knows when. Source: cel-cpp, eval/compiler/flat_expr_builder.cc, PreVisitComprehension.
    """
    if not any(isinstance(one, Call) and one.function in BINDERS for one in walk(node)):
        return node
    return Call("bind", (_WHOLE, node, _WHOLE), 0, Ident("cel", 0))


def undecidable_part(reason: str, variables: dict[str, LoweredPart]) -> LoweredPart:
    return LoweredPart(_FAILED, variables, reason)


DEEPEST = 24
LATER = "k_later"
_MACROS = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map", "transformList", "bind"})
_MACROS_OF_OPTIONALS = frozenset({"optMap", "optFlatMap"})


def split(part: LoweredPart) -> tuple[Node, dict[str, Node]]:
    """The tree in which deep parts are calls, and those parts by their number, none deeper than the parser takes."""
    later: dict[str, Node] = {}
    names: dict[str, str] = {}
    for name, one in part.ordered().items():
        number = str(len(later))
        later[number] = one.node
        names[variable(name).name] = number
    whole = {number: _shortened(_without_variables(node, names), later) for number, node in list(later.items())}
    later.update(whole)
    return _shortened(_without_variables(part.node, names), later), later


def _call(number: str) -> Node:
    return Call(LATER, (Literal(number, "string", 0),), 0)


def _without_variables(node: Node, names: dict[str, str]) -> Node:
    if isinstance(node, Ident):
        return _call(names[node.name]) if node.name in names else node
    return _rebuilt(node, [_without_variables(one, names) for one in children(node)])


def _shortened(node: Node, later: dict[str, Node]) -> Node:
    return _cut(node, later, frozenset())[0]


def _cut(node: Node, later: dict[str, Node], local: frozenset[str]) -> tuple[Node, int]:
    """The node with deep closed parts cut out, and its height."""
    inner = local | _introduced(node)
    parts: list[Node] = []
    height = 0
    for one in children(node):
        made, high = _cut(one, later, inner)
        if high >= DEEPEST and not any(isinstance(each, Ident) and each.name in inner for each in walk(made)):
            number = str(len(later))
            later[number] = made
            made, high = _call(number), 2
        parts.append(made)
        height = max(height, high)
    return _rebuilt(node, parts), height + 1


def _introduced(node: Node) -> frozenset[str]:
    if not isinstance(node, Call) or node.target is None:
        return frozenset()
    if node.function in _MACROS | _MACROS_OF_OPTIONALS:
        return frozenset(one.name for one in node.args[:2] if isinstance(one, Ident))
    return frozenset()


def _rebuilt(node: Node, parts: list[Node]) -> Node:
    if isinstance(node, Select):
        return replace(node, operand=parts[0])
    if isinstance(node, Call):
        if node.target is None:
            return replace(node, args=tuple(parts))
        return replace(node, target=parts[0], args=tuple(parts[1:]))
    if isinstance(node, ListOf):
        return replace(node, elements=tuple(parts))
    if isinstance(node, MapOf):
        pairs = zip(parts[::2], parts[1::2], node.entries, strict=True)
        return replace(node, entries=tuple((key, value, entry[2]) for key, value, entry in pairs))
    return node
