"""Options of a run: the shard of a fleet that one machine works on, as in a CI matrix, and the report of progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from poolsmith.core.diagnostics import UsageError
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Sequence


Item = TypeVar("Item")
MOST = 999
_FORM = pattern(r"([1-9]\d{0,2})/([1-9]\d{0,2})")


@record(kw_only=False)
class Shard:
    """The part with this number, from 1 on, of so many. Raises ValueError for what is none."""

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of <= MOST:
            raise ValueError(f"no part is {self.number} of {self.of}")

    def part(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Every so-many-th of them: neighbours, which are often alike, go to different shards."""
        return tuple(items[self.number - 1 :: self.of])

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def shard_of(text: str) -> Shard:
    """Raises UsageError."""
    found = _FORM.fullmatch(text)
    try:
        return Shard(*map(int, found.groups() if found else ()))
    except (TypeError, ValueError):
        raise UsageError(f"--shard takes a number and how many there are, such as 3/8, up to {MOST}/{MOST}") from None


Progress = Callable[[int, int], None]
"""Is told how many clusters are done, of how many."""


def silent(_done: int, _total: int) -> None:
    """Nobody wants to know."""
