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

    @contextlib.contextmanager
    def limits(self) -> Iterator[Limits]:
        """The limits of one use. What it takes is gone for the next."""
        self._left += self._each
        start = time.monotonic()
        try:
            yield replace(LIMITS, left=max(0.0, min(LIMITS.whole, self._left)))
        finally:
            self._left -= time.monotonic() - start
