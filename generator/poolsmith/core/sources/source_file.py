"""One file that a user wrote, with the way from its data back to its lines, and digests of what was read."""

from __future__ import annotations

import hashlib
import marshal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.diagnostic import Location, Span
from poolsmith.core.sources.pointer import reach
from poolsmith.core.sources.secret_scalars import Secrets, secrets_of
from poolsmith.core.sources.yaml_places import Marks

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.sources.yaml_places import StreamPlaces
    from poolsmith.core.sources.yaml_reader import YamlValue


def digest(content: bytes) -> str:
    """As locks have it: the algorithm, and the hash in hexadecimal digits."""
    return "sha256:" + hashlib.sha256(content).hexdigest()


def tree_digest(tree: Any) -> bytes:
    """Of mappings, lists and scalars. NOTE: marshal is by far the fastest way to bytes; its version 2 writes equal
    trees alike.
    """
    return hashlib.blake2b(marshal.dumps(tree, 2), digest_size=16).digest()


class SourceFile:
    """A file's path (relative to the root, forward slashes), its text and the data of one document.

    `problems` are those that did not keep the file from being read. `stream` has the places of all documents of a file
    that has many: each is then composed once, and not for every document anew.
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
    ) -> None:
        self.path = path
        self.text = text
        self.data = data
        self.problems = problems
        self._document = document
        self._stream = stream
        self._places: dict[str, Location] = {}

    @cached_property
    def digest(self) -> str:
        return digest(self.text.encode())

    @cached_property
    def _marks(self) -> Marks:
        return Marks(self.text, self._document) if self._stream is None else self._stream.marks(self._document)

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines() if self._stream is None else self._stream.lines

    @cached_property
    def _secrets(self) -> Secrets:
        if self._stream is not None:
            return self._stream.secrets
        return secrets_of(self.text, (self._marks.root,), self._lines)

    def locate(self, pointer: str, note: str | None = None) -> Location:
        """Where `pointer` stands: its key, or the nearest ancestor that the file has."""
        if note is None:
            known = self._places.get(pointer)
            if known is None:
                known = self._places[pointer] = self._located(pointer, None)
            return known
        return self._located(pointer, note)

    def _located(self, pointer: str, note: str | None) -> Location:
        extent = self._marks.key(pointer)
        if extent is None:
            return Location(span=Span(path=self.path), pointer=pointer, note=note, secrets=self._secrets.known)
        start, end = extent
        return Location(
            span=Span(path=self.path, start=start, end=end),
            pointer=pointer,
            note=note,
            source_line=self.line(start.line),
            secrets=self._secrets.known,
            value=self._marks.value(pointer, start.line),
        )

    def line(self, number: int) -> str | None:
        """A line of the file without its secrets."""
        return self._secrets.shown(number, self._lines[number - 1]) if 0 < number <= len(self._lines) else None

    def line_at(self, pointer: str, number: int) -> str | None:  # noqa: ARG002 - here is one file
        """A line of the file in which `pointer` stands, where there are several."""
        return self.line(number)

    def has(self, pointer: str) -> bool:
        """Whether the file itself says something at `pointer`; null counts as saying something."""
        return reach(self.data, pointer)[1]

    def block_of(self, pointer: str) -> tuple[int, int] | None:
        """First line and indentation of the literal block (`|`) at `pointer`; None of any other text."""
        return self._marks.block(pointer, self._lines)

    def written(self, pointer: str) -> str | None:
        """The text of the scalar at `pointer` as the user wrote it, without quotes."""
        node = self._marks.scalar(pointer)
        return None if node is None else str(node.value)
