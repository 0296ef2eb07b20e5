"""Texts that define an anchor again: legal YAML, where an alias means the last definition above it.

PyYAML's composers refuse them; go-yaml, which kustomize, Helm, Flux and Argo CD read with, does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yaml.composer import Composer
from yaml.events import AliasEvent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yaml.nodes import Node

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
