"""Expressions deeper than the engine's parser takes: parts that stand alone are computed when asked for.

Variables and closed subtrees become calls of one function that evaluates them once; their errors stay errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Literal, MapOf, Node, Select, children, walk
from poolsmith.kubernetes.cel.trees import variable

if TYPE_CHECKING:
    from poolsmith.kubernetes.cel.plan import LoweredPart

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
