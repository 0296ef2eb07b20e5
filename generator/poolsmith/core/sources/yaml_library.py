"""PyYAML's parser in C with its nodes, events and errors, and without the parser in Python that no run uses.

What that compiles when it is imported, expressions over all of Unicode, takes longer than to read most files. So a
package stands in its place in which there is what the C parser asks for. Whoever asks it for more, such as another
library for `yaml.safe_load`, gets the whole: its own code runs then.
"""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from poolsmith.core.late import load_late

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.late import LateModule


def _load_c_code(package: LateModule) -> None:
    """What the C code looks up while it is loaded stands in the package so long."""
    import_module("yaml.tokens")
    for part, base in _BASES.items():
        setattr(package, part, SimpleNamespace(**{f"{part.title()}Error": type(f"{part.title()}Error", (base,), {})}))
    import_module("yaml._yaml")
    for part in _BASES:
        delattr(package, part)


_package = load_late("yaml")

# The package stands there now.
from yaml.composer import Composer, ComposerError  # noqa: E402
from yaml.error import MarkedYAMLError, YAMLError  # noqa: E402
from yaml.events import (  # noqa: E402
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode  # noqa: E402


class _CharacterError(YAMLError):
    """A character that no YAML may hold."""

    def __init__(self, name: str, position: int, character: int | bytes, encoding: str, reason: str) -> None:
        super().__init__(name, position, character, encoding, reason)
        self.name, self.position, self.character = name, position, character
        self.encoding, self.reason = encoding, reason


_BASES: dict[str, type[YAMLError]] = {
    "reader": _CharacterError,
    "scanner": MarkedYAMLError,
    "parser": MarkedYAMLError,
    "constructor": MarkedYAMLError,
    "emitter": YAMLError,
    "serializer": YAMLError,
    "representer": YAMLError,
}
"""By the parts in Python: what the error of each is."""

if _package is not None:
    _load_c_code(_package)

if TYPE_CHECKING:
    from yaml.reader import ReaderError

    CParser = Any
else:
    from yaml._yaml import CParser, ReaderError

__all__ = (
    "AliasEvent",
    "CParser",
    "Composer",
    "ComposerError",
    "DocumentEndEvent",
    "DocumentStartEvent",
    "MappingEndEvent",
    "MappingNode",
    "MappingStartEvent",
    "MarkedYAMLError",
    "Node",
    "ReaderError",
    "ScalarEvent",
    "ScalarNode",
    "SequenceEndEvent",
    "SequenceNode",
    "SequenceStartEvent",
    "YAMLError",
    "events_of",
)


def events_of(parser: Any) -> Iterator[Event]:
    """What the parser reads, piece by piece. Raises YAMLError, UnicodeError."""
    while parser.check_event():
        yield parser.get_event()
