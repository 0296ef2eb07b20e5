"""Limits on a YAML text, counted before anything of it is kept, and texts that define an anchor again.

A small file must not cost minutes. An anchor that is defined again is legal YAML, where an alias means the last
definition above it. PyYAML's composers refuse it; go-yaml, which kustomize, Helm, Flux and Argo CD read with, does not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.yaml_library import (
    AliasEvent,
    Composer,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from poolsmith.core.sources.yaml_problem import most_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from yaml.nodes import Node


_PRECHECK_FROM = 2_000  # openers of nested collections; libyaml composes some 20,000 levels safely
_DEEP_BLOCK = pattern(r"^[ ?:\-]{1000}", re.MULTILINE)
_STARTS = frozenset((MappingStartEvent, SequenceStartEvent))
_ENDS = frozenset((MappingEndEvent, SequenceEndEvent))
_NODES = _STARTS | {ScalarEvent, AliasEvent}


class Excess(NamedTuple):
    """Where a text exceeds a limit: that of depth, or that of nodes."""

    mark: Any
    is_depth: bool


def deserves_counting(text: str) -> bool:
    """Whether a text could exceed a limit, by counting its signs.

    In blocks only indents nest, and the signs `-`, `?` and `:` that stand before anything else of a line.
    """
    opened = text.count("[") + text.count("{")
    if opened > _PRECHECK_FROM or _DEEP_BLOCK.search(text) is not None:
        return True
    return opened + sum(map(text.count, "-?:,\n")) > most_nodes(text)


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


_FORWARDED = ("check_event", "peek_event", "get_event", "resolve", "descend_resolver", "ascend_resolver")


class _Composer(Composer):
    """Composes the events of another parser."""

    check_event: Callable[..., bool]
    peek_event: Callable[[], Any]

    def __init__(self, parser: Any) -> None:
        super().__init__()
        for name in _FORWARDED:
            setattr(self, name, getattr(parser, name))

    def compose_node(self, parent: Node | None, index: Any) -> Node | None:
        if not self.check_event(AliasEvent):
            self.anchors.pop(self.peek_event().anchor, None)
        return super().compose_node(parent, index)


def compose_with_redefined_anchors(parser: Any, skipped: int) -> Iterator[Node]:
    """The root node of each document, without the first `skipped`. Raises yaml.MarkedYAMLError."""
    composer = _Composer(parser)
    position = 0
    while composer.check_node():
        node = composer.get_node()
        if position >= skipped and node is not None:
            yield node
        position += 1
