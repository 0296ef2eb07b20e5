"""How much a YAML text may hold, counted before anything of it is kept: a small file must not cost minutes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_NODES = 2_000_000
NODES_OF_ANY_FILE = 100_000
BYTES_OF_A_NODE = 8
_PRECHECK_FROM = 2_000  # openers of nested collections; libyaml composes some 20,000 levels safely
_STARTS = frozenset((yaml.MappingStartEvent, yaml.SequenceStartEvent))
_ENDS = frozenset((yaml.MappingEndEvent, yaml.SequenceEndEvent))
_NODES = _STARTS | {yaml.ScalarEvent, yaml.AliasEvent}


class Excess(NamedTuple):
    """Where a text exceeds a limit: that of depth, or that of nodes."""

    mark: Any
    is_depth: bool


def most_nodes(text: str) -> int:
    """How many keys and values a text may hold: so many, and more in a large one, as long as they are not tiny."""
    return min(max(NODES_OF_ANY_FILE, len(text) // BYTES_OF_A_NODE), MAX_NODES)


def deserves_counting(text: str) -> bool:
    """Whether a text could exceed a limit, as far as its signs tell."""
    nested = sum(map(text.count, "[{-?"))
    return nested > _PRECHECK_FROM or nested + sum(map(text.count, ":,\n")) > most_nodes(text)


def first_excess(events: Iterable[object], *, nodes: int, depth: int) -> Excess | None:
    """The first event that is one too many, or one too deep."""
    seen = level = 0
    for event in events:
        kind = event.__class__
        if kind in _NODES:
            seen += 1
            level += kind in _STARTS
            if seen > nodes or level > depth:
                return Excess(event.start_mark, level > depth)  # type: ignore[attr-defined]  # all of these have one
        elif kind in _ENDS:
            level -= 1
    return None
