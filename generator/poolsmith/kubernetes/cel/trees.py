"""Small pieces of lowered trees, and what a tree or a type holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.kubernetes.cel.natives import KEYS
from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, Node, Select

if TYPE_CHECKING:
    from poolsmith.kubernetes.cel.cel_types import Type

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
