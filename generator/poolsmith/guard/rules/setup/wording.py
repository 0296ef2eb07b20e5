"""How setup rules name several things in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.listing import listed, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.view import SetupNode

FEW = 3


def named(nodes: Sequence[SetupNode]) -> str:
    """`pool a` or `nodes a, b and 5 more`."""
    return f"{plural(len(nodes), nodes[0].word)} {listed([node.name for node in nodes], FEW)}"


def verb(nodes: Sequence[object], one: str, several: str) -> str:
    return one if len(nodes) == 1 else several


def places(nodes: Sequence[SetupNode], pointer: str, note: str) -> tuple[Location, ...]:
    """A line of each of the first ones."""
    return tuple(node.place(pointer, note) for node in nodes[:FEW])
