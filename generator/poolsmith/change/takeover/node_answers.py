"""What somebody says of the nodes of a new cluster, or of one to take over."""

from __future__ import annotations

from poolsmith.core.record import record


@record
class TakeoverAnswers:
    """Each is None where nobody said it. `system` is like `ubuntu 24.04`."""

    kubernetes: str | None = None
    distribution: str | None = None
    system: str | None = None
    kernel: str | None = None
    runtime: str | None = None
    gpu: str | None = None
    release: str | None = None
    engine: str | None = None
