"""From a JSON pointer to a place in a YAML text; a file of many documents is composed once for all of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.diagnostic import Location, Position, Span
from poolsmith.core.sources import pointer as pointers
from poolsmith.core.sources import yaml_nodes
from poolsmith.core.sources.secret_scalars import Secrets, secrets_of
from poolsmith.core.sources.yaml_problem import YamlProblem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yaml import Mark

    from poolsmith.core.sources.yaml_nodes import Node, ScalarNode

_DEEPEST = 64
"""A text may hold itself, by an anchor."""


class Marks:
    """The places in one document of a YAML text."""

    def __init__(self, text: str, document: int = 0) -> None:
        self._root: Node | None = None
        self._entries: dict[int, dict[str, tuple[Node, Node]]] = {}
        try:
            for index, node in enumerate(yaml_nodes.compose(text)):
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
        return node if isinstance(node, yaml_nodes.ScalarNode) else None

    def value(self, pointer: str, line: int) -> tuple[Position, Position] | None:
        """Start and end of the scalar at `pointer` where it stands on that line, and is not empty."""
        node = self.scalar(pointer)
        if node is None:
            return None
        start, end = _extent(node)
        return (start, end) if start.line == line and end > start else None

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

    def at(self, place: Position) -> tuple[str, bool] | None:
        """The pointer of the innermost key or scalar at a place, and whether it is the key; None where none is."""
        node, pointer = self._root, ""
        for _ in range(_DEEPEST):
            for step, key, value in self._steps(node):
                if _is_in(key, place) and key is not value:
                    return pointers.join(pointer, step), True
                if _is_in(value, place):
                    node, pointer = value, pointers.join(pointer, step)
                    break
            else:
                return (pointer, False) if pointer and isinstance(node, yaml_nodes.ScalarNode) else None
        return None

    def _steps(self, node: Node | None) -> Iterator[tuple[str, Node, Node]]:
        """Of a list the items stand in the place of keys."""
        if isinstance(node, yaml_nodes.SequenceNode):
            yield from ((str(index), item, item) for index, item in enumerate(node.value))
        elif isinstance(node, yaml_nodes.MappingNode):
            yield from ((step, *entry) for step, entry in self._entries_of(node).items())

    def _child(self, node: Node | None, step: str) -> tuple[Node, Node] | None:
        """The node to underline and the node to go on with."""
        if isinstance(node, yaml_nodes.SequenceNode):
            if not step.isdecimal() or int(step) >= len(node.value):
                return None
            item = node.value[int(step)]
            return item, item
        return self._entries_of(node).get(step) if isinstance(node, yaml_nodes.MappingNode) else None

    def _entries_of(self, mapping: Node) -> dict[str, tuple[Node, Node]]:
        """Key and value nodes by key; indexed once, for a file may have thousands of keys and of mistakes."""
        entries = self._entries.get(id(mapping))
        if entries is None:
            entries = self._entries[id(mapping)] = {}
            inherited: list[Node] = []
            for key_node, value_node in mapping.value:
                if yaml_nodes.is_merge_key(key_node):
                    inherited.extend(yaml_nodes.merge_sources(value_node))
                else:
                    entries.setdefault(yaml_nodes.mapping_key(key_node), (key_node, value_node))
            for source in inherited:
                for key, entry in list(self._entries_of(source).items()):
                    entries.setdefault(key, entry)
        return entries


def _is_in(node: Node, place: Position) -> bool:
    start, end = node.start_mark, node.end_mark
    return (start.line, start.column) <= (place.line - 1, place.column - 1) <= (end.line, end.column)


def _extent(node: Node) -> tuple[Position, Position]:
    """End marks of block collections run into the next key, so only one-line scalars have an end."""
    start = yaml_nodes.position_of(node)
    end: Mark = node.end_mark
    if isinstance(node, yaml_nodes.ScalarNode) and end.line == node.start_mark.line:
        return start, Position(end.line + 1, end.column + 1)
    return start, start


class StreamPlaces:
    """As SourceFile.locate, for any document of the text. Nothing is composed before somebody asks."""

    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text

    @cached_property
    def _documents(self) -> list[Marks]:
        found: list[Marks] = []
        try:
            found.extend(NodeMarks(node) for node in yaml_nodes.compose(self._text))
        except YamlProblem:
            return found
        return found

    def marks(self, document: int) -> Marks:
        """The places in one document; in one that does not exist there are none."""
        return self._documents[document] if document < len(self._documents) else NodeMarks(None)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the whole text."""
        return self._text.splitlines()

    @cached_property
    def secrets(self) -> Secrets:
        """Those of all documents."""
        return secrets_of(self._text, (marks.root for marks in self._documents), self.lines)

    def locate(self, document: int, pointer: str, note: str | None = None) -> Location:
        extent = self._documents[document].key(pointer) if document < len(self._documents) else None
        return self._place(extent, pointer, note)

    def _place(self, extent: tuple[Position, Position] | None, pointer: str, note: str | None = None) -> Location:
        secrets = self.secrets
        if extent is None:
            return Location(span=Span(path=self._path), pointer=pointer, note=note, secrets=secrets.known)
        start, end = extent
        line = secrets.shown(start.line, self.lines[start.line - 1]) if start.line <= len(self.lines) else None
        span = Span(path=self._path, start=start, end=end)
        return Location(span=span, pointer=pointer, note=note, source_line=line, secrets=secrets.known)

    def inside(self, document: int, pointer: str, line: int, column: int) -> Location:
        """A place in the text that stands at `pointer`; line and column count from 1 within that text."""
        node = self._documents[document].scalar(pointer) if document < len(self._documents) else None
        if node is None:
            return self.locate(document, pointer)
        start = position_inside(node, self.lines, line, column)
        return self._place((start, Position(start.line, start.column + 1)), pointer)


class NodeMarks(Marks):
    """Marks of a node that is composed already."""

    def __init__(self, root: Node | None) -> None:
        self._root = root
        self._entries = {}


def position_inside(node: ScalarNode, lines: Sequence[str], line: int, column: int) -> Position:
    """Where a place of the value stands in the file's `lines`; line and column count from 1.

    Exact for literal blocks and for values on one line without escapes; else the start of the value.
    """
    start = node.start_mark
    whole = Position(start.line + 1, start.column + 1)
    if node.style == "|":
        first = start.line + 1
        found = first + line - 1
        indent = _indent(lines[first : node.end_mark.line])
        return Position(found + 1, indent + column) if found < len(lines) else whole
    is_plain = not node.style
    if line == 1 and start.line == node.end_mark.line and (is_plain or _is_verbatim(node, lines)):
        return Position(start.line + 1, start.column + column + (0 if is_plain else 1))
    return whole


def _indent(lines: Sequence[str]) -> int:
    """Of a literal block; an explicit indicator is not looked at."""
    return next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), 0)


def _is_verbatim(node: ScalarNode, lines: Sequence[str]) -> bool:
    text = lines[node.start_mark.line] if node.start_mark.line < len(lines) else ""
    return bool(text[node.start_mark.column + 1 : node.end_mark.column - 1] == node.value)
