"""The time that policies may take in a whole run, however many clusters, versions and cases ask for it.

Limits of one evaluation, of one policy and of one use of the engine stand in `policy_child`. Each cluster and each
group of cases is such a use, so a pull request could have as many as it likes.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.policies.run.process import LIMITS, Limits

if TYPE_CHECKING:
    from collections.abc import Iterator


class Budget:
    """Seconds to begin with, and those that each use adds: honest policies need less than that."""

    def __init__(self, seconds: float = LIMITS.whole, each: float = 1.0) -> None:
        self._left = seconds
        self._each = each
        self._start = 0.0

    @contextlib.contextmanager
    def limits(self) -> Iterator[Limits]:
        """The limits of one use. What it takes is gone for the next."""
        try:
            yield self.begin()
        finally:
            self.end()

    def begin(self) -> Limits:
        """The same for a use that goes on meanwhile; it has to come to its end."""
        self._left += self._each
        self._start = time.monotonic()
        return replace(LIMITS, left=max(0.0, min(LIMITS.whole, self._left)))

    def end(self) -> None:
        self._left -= time.monotonic() - self._start
