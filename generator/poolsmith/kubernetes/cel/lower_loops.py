"""Macros with variables as the engine has them: loops, and bodies for what an optional holds.

Each variable gets a name of ours: one that the user calls `list` or `optional` must not hide what lowered text means.
"""

from __future__ import annotations

from dataclasses import replace

from poolsmith.kubernetes.cel.lowering import Lowering
from poolsmith.kubernetes.cel.macros import TWO_VARIABLES
from poolsmith.kubernetes.cel.syntax import Call, Ident, ListOf, Node
from poolsmith.kubernetes.cel.trees import Gap, call, is_kept, parts_of


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
