"""What both ways of reading YAML share: what comes of a text, how much it may hold, and why it can't be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.core.diagnostics.diagnostic import Position

YamlValue = Any
"""A tree of dict (string keys), list, str, int, float, bool and None: what JSON can say."""

MAX_NODES = 2_000_000
NODES_OF_ANY_FILE = 100_000
BYTES_OF_A_NODE = 8


@record(frozen=False, slots=False, eq=False)
class YamlProblem(Exception):  # noqa: N818 - what is wrong with a text, not a failure of ours
    """Why a text can't be read. `reason` is the kebab name of the entry in the code book."""

    reason: str
    message: str
    position: Position | None = None
    related: Position | None = None
    help: str | None = None

    @property
    def in_text(self) -> str:
        """The message, with the line of a text that stands in another file."""
        return f"{self.message} (line {self.position.line} of the text)" if self.position else self.message


def most_nodes(text: str) -> int:
    """How many keys and values a text may hold: so many, and more in a large one, as long as they are not tiny."""
    return min(max(NODES_OF_ANY_FILE, len(text) // BYTES_OF_A_NODE), MAX_NODES)
