"""One file that a user wrote, with the way from its data back to its lines, and digests of what was read."""

from __future__ import annotations

import hashlib
import marshal
from _blake2 import blake2b  # what hashlib would give, without loading OpenSSL
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.diagnostic import Location, Span
from poolsmith.core.sources.pointer import reach
from poolsmith.core.sources.secret_scalars import Secrets, secrets_of
from poolsmith.core.sources.yaml_places import Marks, NodeMarks

if TYPE_CHECKING:
    from typing import SupportsIndex

    from yaml.nodes import Node

    from poolsmith.core.diagnostics import Diagnostic, Position
    from poolsmith.core.sources.yaml_places import StreamPlaces
    from poolsmith.core.sources.yaml_reader import YamlValue

    _Placed = tuple[Position | None, Position | None, str | None, tuple[Position, Position] | None]


def digest(content: bytes) -> str:
    """As locks have it: the algorithm, and the hash in hexadecimal digits."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def tree_digest(tree: Any) -> bytes:
    """Of mappings, lists and scalars. NOTE: marshal is by far the fastest way to bytes; its version 2 writes equal
    trees alike.
    """
    return blake2b(marshal.dumps(tree, 2), digest_size=16).digest()


class Content:
    """What follows from a text alone, whatever the files that hold it are called."""

    def __init__(
        self, text: str, data: YamlValue, document: int, stream: StreamPlaces | None, root: Node | None
    ) -> None:
        self.text = text
        self.data = data
        self._document = document
        self._stream = stream
        self._root = root
        self._placed: dict[str, _Placed] = {}
        self.is_shared = False
        """Whether other files have the same."""

    @cached_property
    def digest(self) -> str:
        return digest(self.text.encode())

    @cached_property
    def marks(self) -> Marks:
        if self._stream is not None:
            return self._stream.marks(self._document)
        return Marks(self.text, self._document) if self._root is None else NodeMarks(self._root)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines() if self._stream is None else self._stream.lines

    @cached_property
    def secrets(self) -> Secrets:
        if self._stream is not None:
            return self._stream.secrets
        return secrets_of(self.text, (self.marks.root,), self.lines)

    def line(self, number: int) -> str | None:
        return self.secrets.shown(number, self.lines[number - 1]) if 0 < number <= len(self.lines) else None

    def placed(self, pointer: str) -> _Placed:
        """Start and end of the key at `pointer`, its line, and start and end of its value."""
        known = self._placed.get(pointer)
        if known is None:
            start, end = self.marks.key(pointer) or (None, None)
            known = (
                (None, None, None, None)
                if start is None
                else (start, end, self.line(start.line), self.marks.value(pointer, start.line))
            )
            self._placed[pointer] = known
        return known


_WHERE = ("span", "pointer", "note", "source_line", "secrets", "value")
"""The fields of a location."""


class _Place(Location):
    """A location in a file, looked for when somebody reads more of it than its path and pointer: of most, a finding
    comes to nothing. Until then it holds what the file says.

    It passes for one like any other, since two are equal by their class and what they say.
    """

    __slots__ = ("_content", "path")
    __class__ = Location  # type: ignore[assignment]

    def __init__(self, path: str, pointer: str, note: str | None, content: Content) -> None:
        for name, value in (("path", path), ("pointer", pointer), ("note", note), ("_content", content)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name not in _WHERE:
            raise AttributeError(name)
        found = self._found()
        for one in _WHERE:
            object.__setattr__(self, one, getattr(found, one))
        object.__delattr__(self, "_content")
        return getattr(self, name)

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return Location(**{one: getattr(self, one) for one in _WHERE}).__reduce_ex__(protocol)

    def _found(self) -> Location:
        start, end, line, value = self._content.placed(self.pointer)
        return Location(
            span=Span(path=self.path, start=start, end=end),
            pointer=self.pointer,
            note=self.note,
            source_line=line,
            secrets=self._content.secrets.known,
            value=value,
        )


class SourceFile:
    """A file's path (relative to the root, forward slashes), its text and the data of one document.

    `problems` are those that did not keep the file from being read. `stream` has the places of all documents of a file
    that has many, and `root` the node of one that was read from it: nothing is then composed anew.
    """

    def __init__(
        self,
        path: str,
        text: str,
        data: YamlValue,
        *,
        document: int = 0,
        problems: tuple[Diagnostic, ...] = (),
        stream: StreamPlaces | None = None,
        root: Node | None = None,
    ) -> None:
        self._take(path, Content(text, data, document, stream, root), problems)

    def _take(self, path: str, content: Content, problems: tuple[Diagnostic, ...] = ()) -> None:
        self.path = path
        self.text = content.text
        self.data = content.data
        self.problems = problems
        self.content = content
        self._places: dict[str, Location] = {}

    def under(self, path: str) -> SourceFile:
        """A file with another path and the same text, which is looked into once for both."""
        found = SourceFile.__new__(SourceFile)
        found._take(path, self.content)  # noqa: SLF001 - one of ours
        return found

    @property
    def digest(self) -> str:
        return self.content.digest

    def locate(self, pointer: str, note: str | None = None) -> Location:
        """Where `pointer` stands: its key, or the nearest ancestor that the file has."""
        if note is None:
            known = self._places.get(pointer)
            if known is None:
                known = self._places[pointer] = self._located(pointer, None)
            return known
        return self._located(pointer, note)

    def _located(self, pointer: str, note: str | None) -> Location:
        return _Place(self.path, pointer, note, self.content)

    def line_at(self, pointer: str) -> int | None:
        """The number of the line that `locate` finds."""
        extent = self.content.marks.key(pointer)
        return None if extent is None else extent[0].line

    def line(self, number: int) -> str | None:
        """A line of the file without its secrets."""
        return self.content.line(number)

    def line_of(self, pointer: str, number: int) -> str | None:  # noqa: ARG002 - here is one file
        """A line of the file in which `pointer` stands, where there are several."""
        return self.line(number)

    def has(self, pointer: str) -> bool:
        """Whether the file itself says something at `pointer`; null counts as saying something."""
        return reach(self.data, pointer)[1]

    def block_of(self, pointer: str) -> tuple[int, int] | None:
        """First line and indentation of the literal block (`|`) at `pointer`; None of any other text."""
        return self.content.marks.block(pointer, self.content.lines)

    def written(self, pointer: str) -> str | None:
        """The text of the scalar at `pointer` as the user wrote it, without quotes."""
        node = self.content.marks.scalar(pointer)
        return None if node is None else str(node.value)
