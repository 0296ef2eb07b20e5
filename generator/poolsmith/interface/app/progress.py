"""How far a run is, for whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[int, int], None]
"""Is told how many clusters are done, of how many."""


def silent(_done: int, _total: int) -> None:
    """Nobody wants to know."""
