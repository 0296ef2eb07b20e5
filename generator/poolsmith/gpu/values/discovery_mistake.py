"""A mistake in what Node Feature Discovery reads."""

from __future__ import annotations

from poolsmith.core.record import record


@record(kw_only=False)
class DiscoveryMistake:
    """`steps` lead to its place in the configuration."""

    steps: tuple[str | int, ...]
    message: str
    help: str
    stops: bool = False
