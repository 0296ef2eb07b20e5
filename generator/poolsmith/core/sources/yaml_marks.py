"""From a JSON pointer to a place in a YAML text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from poolsmith.core.diagnostics.span import Position
from poolsmith.core.sources import pointer as pointers
from poolsmith.core.sources.yaml_reader import (
    YamlProblem,
    compose,
    is_merge_key,
    mapping_key,
    merge_sources,
    position_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yaml import Mark


class Marks:
    """The places in one document of a YAML text."""

    def __init__(self, text: str, document: int = 0) -> None:
        self._root: Node | None = None
        self._entries: dict[int, dict[str, tuple[Node, Node]]] = {}
        try:
            for index, node in enumerate(compose(text)):
                if index == document:
                    self._root = node
                    break
        except YamlProblem:
            self._root = None

    @property
    def root(self) -> Node | None:
        """The document's node; None where the text can't be read."""
        return self._root

    def key(self, pointer: str) -> tuple[Position, Position] | None:
        """Start and end of the key that `pointer` names, or of a list item's first token.

        When the pointer does not exist, its nearest existing ancestor; None when not even that has a key.
        """
        found: tuple[Position, Position] | None = None
        node = self._root
        for step in pointers.split(pointer):
            entry = self._child(node, step)
            if entry is None:
                break
            key_node, node = entry
            found = _extent(key_node)
        return found

    def scalar(self, pointer: str) -> ScalarNode | None:
        """The scalar that stands exactly at `pointer`."""
        node = self._root
        for step in pointers.split(pointer):
            entry = self._child(node, step)
            if entry is None:
                return None
            node = entry[1]
        return node if isinstance(node, ScalarNode) else None

    def block(self, pointer: str, lines: Sequence[str]) -> tuple[int, int] | None:
        """Of a literal block (`|`) at `pointer`: the number of its first line, and how far it is indented.

        `lines` are those of the text. None of any other scalar: its lines are not those of the file.
        """
        node = self.scalar(pointer)
        if node is None or node.style != "|":
            return None
        first: int = node.start_mark.line + 2
        for number, text in enumerate(node.value.split("\n"), first):
            if text.strip():
                written = lines[number - 1] if number <= len(lines) else ""
                return (first, len(written) - len(text)) if written.endswith(text) else None
        return None

    def _child(self, node: Node | None, step: str) -> tuple[Node, Node] | None:
        """The node to underline and the node to go on with."""
        if isinstance(node, SequenceNode):
            if not step.isdecimal() or int(step) >= len(node.value):
                return None
            item = node.value[int(step)]
            return item, item
        return self._entries_of(node).get(step) if isinstance(node, MappingNode) else None

    def _entries_of(self, mapping: Node) -> dict[str, tuple[Node, Node]]:
        """Key and value nodes by key; indexed once, for a file may have thousands of keys and of mistakes."""
        entries = self._entries.get(id(mapping))
        if entries is None:
            entries = self._entries[id(mapping)] = {}
            inherited: list[Node] = []
            for key_node, value_node in mapping.value:
                if is_merge_key(key_node):
                    inherited.extend(merge_sources(value_node))
                else:
                    entries.setdefault(mapping_key(key_node), (key_node, value_node))
            for source in inherited:
                for key, entry in list(self._entries_of(source).items()):
                    entries.setdefault(key, entry)
        return entries


def _extent(node: Node) -> tuple[Position, Position]:
    """End marks of block collections run into the next key, so only one-line scalars have an end."""
    start = position_of(node)
    end: Mark = node.end_mark
    if isinstance(node, ScalarNode) and end.line == node.start_mark.line:
        return start, Position(end.line + 1, end.column + 1)
    return start, start
