"""How setup rules name several things in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.diagnostics import Location
    from poolsmith.rules.setup.view import SetupNode

FEW = 3


def few(words: Sequence[str]) -> str:
    """The first ones, in backticks, and how many more there are."""
    shown = ", ".join(f"`{word}`" for word in words[:FEW])
    rest = len(words) - FEW
    return f"{shown} and {rest:,} more" if rest > 0 else shown


def named(nodes: Sequence[SetupNode]) -> str:
    """`pool a` or `nodes a, b and 5 more`."""
    word = nodes[0].word + ("s" if len(nodes) > 1 else "")
    return f"{word} {few([node.name for node in nodes])}"


def verb(nodes: Sequence[object], one: str, several: str) -> str:
    return one if len(nodes) == 1 else several


def places(nodes: Sequence[SetupNode], pointer: str, note: str) -> tuple[Location, ...]:
    """A line of each of the first ones."""
    return tuple(node.place(pointer, note) for node in nodes[:FEW])
