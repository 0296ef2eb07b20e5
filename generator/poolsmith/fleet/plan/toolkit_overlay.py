"""A toolkit of a pool's own, and what its objects are called."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.fleet.plan.origin import Origin
    from poolsmith.fleet.profiles.node_pool import Taint

NAME = "poolsmith-toolkit"
"""Of the workload, its account and what that may do; each pool's ends in the pool's suffix."""
ENTRYPOINT = f"{NAME}-entrypoint"
_LONGEST = 45
_HASHED = 8


@record
class ToolkitOverlay:
    """A DaemonSet for a container runtime that the operator does not configure.

    `env` stands in the place of what the operator's toolkit is told about its runtime; it lands where the node carries
    `pool_label` with `label_value`.
    """

    pool: str
    runtime: str
    pool_label: str
    label_value: str
    env: tuple[tuple[str, str], ...]
    taints: tuple[Taint, ...]
    origin: Origin

    @property
    def suffix(self) -> str:
        """Short enough for names that are label values too."""
        if len(self.pool) <= _LONGEST:
            return f"-{self.pool}"
        digest = hashlib.sha256(self.pool.encode()).hexdigest()[:_HASHED]
        return f"-{self.pool[: _LONGEST - _HASHED - 1].rstrip('-')}-{digest}"

    @property
    def name(self) -> str:
        return NAME + self.suffix

    @property
    def entrypoint(self) -> str:
        """The ConfigMap that it starts from."""
        return ENTRYPOINT + self.suffix
