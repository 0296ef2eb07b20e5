"""What is fuzzed: a text or a file that somebody else wrote, and what must hold whatever stands in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """`run` takes one input and returns what came of it, as text; equal inputs have equal results.

    `declared` are the errors with which a reader may refuse; any other exception is a crash. Assertions in `run` are
    what else must hold. `seeds` are inputs to start from. `seconds` of CPU time are enough for any input of at most
    `most_bytes`.
    """

    name: str
    seeds: Callable[[], Iterable[bytes]]
    run: Callable[[bytes], str]
    declared: tuple[type[Exception], ...] = ()
    seconds: float = 2.0
    most_bytes: int = 64 << 10
    structures: str = "yaml"
    """How mutators take an input apart: `yaml`, `cel`, or `text`."""
