"""Layouts of vGPUs that nodes ask for, and that the release does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.gpu.pools import vgpu_layouts
from poolsmith.guard.rules.setup.pool_records import judged

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = vgpu_layouts.RULE
NEEDS = ("nodes", "values", "release")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    return judged(vgpu_layouts, view)
