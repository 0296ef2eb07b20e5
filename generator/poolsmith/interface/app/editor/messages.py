"""JSON-RPC as language servers speak it: a header with the length, and a body, over two file descriptors.

Who sends what can't be told apart any more (no length, or one that nobody would send) is not read on; a body that is no
message is answered, and the next one is read. Source: Language Server Protocol 3.17, base protocol.
"""

from __future__ import annotations

import json
import os
import re
import select
from typing import Any

from poolsmith.core.pattern import bytes_pattern

MOST_BYTES = 16 << 20
"""Of a body."""
_MOST_HEADER = 4 << 10
_CHUNK = 64 << 10
_END = b"\r\n\r\n"
_LENGTH = bytes_pattern(rb"(?:^|\r\n)content-length:[ \t]*([0-9]{1,12})[ \t]*(?=\r\n|$)", flags=re.IGNORECASE)
UNREADABLE = object()
"""Stands for a body that is no JSON."""
NOTHING = object()
"""Nothing has come within the time."""


class ClosedError(Exception):
    """Nothing more can be read. The message says why, where that is no ordinary end."""


class Messages:
    """Of one client."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._held = bytearray()

    def next(self, seconds: float | None) -> Any:
        """The next message, UNREADABLE, or NOTHING after these seconds; without them it waits. Raises ClosedError."""
        while (found := self._first()) is NOTHING:
            if not select.select([self._source], [], [], seconds)[0]:
                return NOTHING
            chunk = os.read(self._source, _CHUNK)
            if not chunk:
                raise ClosedError("the client left in the middle of a message" if self._held else "")
            self._held += chunk
        return found

    def _first(self) -> Any:
        """The first whole message of what is held."""
        end = self._held.find(_END, 0, _MOST_HEADER)
        if end < 0:
            if len(self._held) >= _MOST_HEADER:
                raise ClosedError("a header without an end")
            return NOTHING
        lengths = {int(match[1]) for match in _LENGTH.finditer(bytes(self._held[:end]))}
        if len(lengths) != 1 or (length := lengths.pop()) > MOST_BYTES:
            raise ClosedError(f"a header without one Content-Length up to {MOST_BYTES:,}")
        start = end + len(_END)
        if len(self._held) < start + length:
            return NOTHING
        body = bytes(self._held[start : start + length])
        del self._held[: start + length]
        try:
            return json.loads(body.decode())
        except (ValueError, RecursionError):
            return UNREADABLE

    def send(self, message: dict[str, Any]) -> None:
        """Raises OSError where the client is gone."""
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        rest = memoryview(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        while rest:
            rest = rest[os.write(self._sink, rest) :]
