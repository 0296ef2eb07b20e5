"""An installation of the operator's chart that leaves out its definitions, or the job that brings them up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import OPERATOR
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.kubernetes.repository.delivered import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.kubernetes.repository.delivered import ChartInstallation

RULE = RuleInfo.of("PSM589")
_SWITCH = ("operator", "upgradeCRD")
_OTHER_CRDS = pattern(r"(?i)(?<!skip[-_])(?<!upgrade)crds?\b")


def check(installations: tuple[ChartInstallation, ...]) -> Iterator[Finding[Location]]:
    for item in installations:
        for part, flag, pointer in item.leaves_out if item.chart in OPERATOR else ():
            if _OTHER_CRDS.search(item.document.text) is None and (part == DEFINITIONS or _is_on(item)):
                yield Finding(
                    message=f"`{flag}` leaves out {_WHAT[part]}",
                    place=item.document.source.locate(pointer),
                    subject=item.document.name,
                )


_WHAT = {
    DEFINITIONS: "the definitions, and the chart brings a ClusterPolicy, which is refused without them",
    "hooks": "the job that brings the definitions of this release before the upgrade, and Helm itself leaves those "
    "that are there",
}


def _is_on(item: ChartInstallation) -> bool:
    said, release = value_at(item.values, _SWITCH), value_paths().release(item.version or "")
    own = release.line_defaults if release is not None else None
    return (value_at(own or {}, _SWITCH) if said is None else said) is True
