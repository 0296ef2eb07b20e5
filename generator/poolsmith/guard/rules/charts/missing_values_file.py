"""A values file, or a folder, that the repository does not have, although an engine takes it from there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.stack_objects import CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = RuleInfo.of("PSM588")


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        for unknown in item.unknown if item.chart in CHARTS else ():
            if unknown.is_missing:
                yield Finding(
                    message=f"{item.document.name or item.chart}: {unknown.what}: nothing is rendered",
                    place=unknown.place,
                    help="correct the path, or add the file",
                    subject=item.document.name,
                )
