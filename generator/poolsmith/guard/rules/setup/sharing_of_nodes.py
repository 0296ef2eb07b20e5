"""Sharing of nodes that excludes itself, or that their GPUs don't have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.gpu.pools import shared_gpus
from poolsmith.guard.rules.setup.pool_records import judged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = shared_gpus.RULE
NEEDS = ("nodes", "values", "release")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    return judged(shared_gpus, view)
