"""Which fields of `object` a policy reads, as far as its text tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.sources.pod_template import mapping
from poolsmith.kubernetes.admission.defaulting import ITEM, Path, depends_on_defaulting
from poolsmith.kubernetes.cel.parser import parse
from poolsmith.kubernetes.cel.syntax import Call, CelCompileError, Ident, Literal, Node, Select, children

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from poolsmith.kubernetes.admission.policy import Policy

_OVER_ITEMS = ("all", "exists", "exists_one", "existsOne", "map", "filter", "transformList", "transformMap")
_TRANSPARENT = ("orValue", "or", "value", "optional")
_INDEXES = ("_[_]", "_[?_]")
_FIRST, _SECOND = 1, 2
Known = dict[str, Path]
"""Names (of variables as `variables.x`) that stand for a place in the object."""


def fields_read(policy: Policy) -> tuple[Path, ...]:
    """Paths below `object`, sorted; ITEM for any item. What does not parse reads nothing."""
    known: Known = {"object": ()}
    found: set[Path] = set()
    for variable in policy.variables:
        node = _parsed(variable.expression.source)
        if node is not None:
            found.update(_paths(node, known))
            place = _place(node, known)
            if place is not None:
                known[f"variables.{variable.name}"] = place
    named = (*policy.match_conditions, *policy.audit_annotations)
    for expression in (*(item.expression for item in named), *(item.expression for item in policy.validations)):
        node = _parsed(expression.source)
        if node is not None:
            found.update(_paths(node, known))
    return tuple(sorted(path for path in found if path))


def absent_defaults(paths: tuple[Path, ...], body: Mapping[str, Any]) -> tuple[str, ...]:
    """Those fields, dotted, that an object leaves out and the API server fills in."""
    kind = str(body.get("kind", ""))
    return tuple(
        ".".join(path).replace(f".{ITEM}", "[]")
        for path in paths
        if depends_on_defaulting(kind, path) and _is_absent(body, path)
    )


def _is_absent(node: Any, path: Path) -> bool:
    """Whether some place that the path leads to is not there, though what holds it is."""
    for index, step in enumerate(path):
        if step == ITEM:
            items = node if isinstance(node, list) else list(mapping(node).values())
            return any(_is_absent(item, path[index + 1 :]) for item in items)
        if not isinstance(node, dict):
            return False
        if step not in node:
            return True
        node = node[step]
    return False


def _parsed(source: str) -> Node | None:
    try:
        return parse(source)
    except (CelCompileError, RecursionError):
        return None


def _paths(node: Node, known: Known) -> Iterator[Path]:
    """Of each longest chain of fields."""
    place = _place(node, known)
    if place is not None:
        yield place
        yield from _inside_indexes(node, known)
        return
    bound = _bound(node, known)
    for child in children(node):
        is_target = isinstance(node, Call) and child is node.target
        if is_target or bound is known or not isinstance(child, Ident):
            yield from _paths(child, known if is_target else bound)


def _inside_indexes(node: Node, known: Known) -> Iterator[Path]:
    while isinstance(node, Select | Call):
        if isinstance(node, Call) and node.function in _INDEXES:
            yield from _paths(node.args[1], known)
            node = node.args[0]
        elif isinstance(node, Call):
            if node.target is None:
                return
            node = node.target
        else:
            node = node.operand


def _bound(node: Node, known: Known) -> Known:
    """With the names that a macro gives to the items of what it is called on."""
    if not isinstance(node, Call) or node.target is None or node.function not in _OVER_ITEMS or not node.args:
        return known
    names = [item.name for item in node.args[:_SECOND] if isinstance(item, Ident)]
    place = _place(node.target, known)
    two = len(node.args) > _SECOND and len(names) == _SECOND
    shadowed = {name: path for name, path in known.items() if name not in names}
    if place is not None and names:
        shadowed[names[_FIRST if two else 0]] = (*place, ITEM)
    return shadowed


def _place(node: Node, known: Known) -> Path | None:
    if isinstance(node, Ident):
        return known.get(node.name)
    if isinstance(node, Select):
        if isinstance(node.operand, Ident) and node.operand.name == "variables":
            return known.get(f"variables.{node.field}")
        above = _place(node.operand, known)
        return None if above is None else (*above, node.field)
    if isinstance(node, Call) and node.function in _INDEXES:
        above = _place(node.args[0], known)
        key = node.args[1]
        step = key.value if isinstance(key, Literal) and isinstance(key.value, str) else ITEM
        return None if above is None else (*above, step)
    if isinstance(node, Call) and node.target is not None and node.function in _TRANSPARENT:
        return _place(node.target, known)
    return None
