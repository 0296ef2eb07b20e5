"""YAML text to plain data, read as Kubernetes reads it.

Most texts are read line by line (`yaml_lines`); the others are composed (`yaml_nodes`), by a library that is loaded for
the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources import yaml_nodes
from poolsmith.core.sources.yaml_lines import documents_in

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


def read_documents(text: str, duplicates: list[YamlProblem] | None = None) -> list[YamlValue]:
    """Every document of a stream, in order; an empty document is None.

    Raises YamlProblem for the first thing that Kubernetes would refuse, or silently lose. Where `duplicates` is
    given, keys that stand twice go there instead, at most MAX_DUPLICATES, and the first of their values counts: so
    that the rest of the file can be judged in the same run. Such a file is refused all the same, by the caller.
    """
    documents = documents_in(text, most_nodes(text))
    return yaml_nodes.documents_of(yaml_nodes.compose(text), duplicates) if documents is None else documents


def read_if_yaml(text: str, duplicates: list[YamlProblem] | None = None) -> list[YamlValue]:
    """The same; of a text that is no YAML none."""
    try:
        return read_documents(text, duplicates)
    except YamlProblem:
        return []


def most_nodes(text: str) -> int:
    """How many keys and values a text may hold: so many, and more in a large one, as long as they are not tiny."""
    return min(max(NODES_OF_ANY_FILE, len(text) // BYTES_OF_A_NODE), MAX_NODES)
