"""Nodes whose GPUs are passed through, with what only containers have; and where Kata can't run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.gpu.pools import sandboxed_gpus
from poolsmith.guard.rules.setup.pool_records import judged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = sandboxed_gpus.RULE
NEEDS = ("nodes", "values", "release")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    return judged(sandboxed_gpus, view)
