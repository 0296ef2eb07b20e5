"""What `poolsmith diff` says of a merge, beside what the real engine did with it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from change.diff.projects import changes
from change.review.repositories import Repository
from engines.observed import DELIVERY
from poolsmith.change.diff.change_report import ChangeReport, DepartureOutcome
from poolsmith.interface.app.generate import generate

_DELIVERED = tuple(f"{kind}/" for _, kind in DELIVERY)
_WELL = re.compile(r"Ready True, .*|Synced, Healthy, Succeeded|Synced, Healthy, not synced|ResourcesUpToDate True, .*")
_GOES = (DepartureOutcome.UNINSTALLED, DepartureOutcome.DELETED)
_SAYS = {
    DepartureOutcome.UNINSTALLED: "uninstalled",
    DepartureOutcome.CONTESTED: "contested",
    DepartureOutcome.DELETED: "what it applied deleted",
    DepartureOutcome.LEFT: "left",
}


@dataclass(frozen=True)
class Happened:
    """What a step came to, from its record. Objects are those of the stack; `unwell` what the engine itself reports."""

    step: Mapping[str, Any]

    @property
    def stood(self) -> list[str]:
        return [
            name for key in ("kept", "deleted", "replaced", "leaving") for name in self.step[key] if _is_of_stack(name)
        ]

    @property
    def lost(self) -> list[str]:
        """Objects of the stack that went, whatever came after them."""
        return [name for key in ("deleted", "replaced", "leaving") for name in self.step[key] if _is_of_stack(name)]

    @property
    def operator_is_lost(self) -> bool:
        return any(name.startswith(("ClusterPolicy/", "Deployment/")) for name in self.lost)

    @property
    def drivers_are_lost(self) -> bool:
        return any(name.startswith("NVIDIADriver/") for name in self.lost)

    @property
    def unwell(self) -> dict[str, str]:
        return {name: state for name, state in self.step["states"].items() if not _WELL.fullmatch(state)}

    @property
    def words(self) -> str:
        """One line for people."""
        lost, stood = self.lost, self.stood
        parts = []
        if lost:
            parts.append(f"{len(lost)} of {len(stood)} objects of the stack went: {', '.join(map(_short, lost))}")
        elif stood:
            parts.append(f"all {len(stood)} objects of the stack kept")
        if made := [name for name in self.step["made"] if _is_of_stack(name)]:
            parts.append(f"{len(made)} made")
        if self.step["jobs"]:
            parts.append(f"jobs started: {', '.join(f'`{name}`' for name in self.step['jobs'])}")
        parts += [f"{_short(name)}: {state}" for name, state in self.unwell.items()]
        parts += [f"release {key}: {', '.join(rows)}" for key, rows in self.step["releases"].items()]
        return "; ".join(parts)


def _is_of_stack(name: str) -> bool:
    return not name.startswith(_DELIVERED)


def _short(name: str) -> str:
    return f"`{name}`"


def reported(root: Repository, before: Mapping[str, str], after: Mapping[str, str]) -> ChangeReport:
    """The report of a merge, of profiles with what is generated from them."""
    for number, files in enumerate((before, after)):
        if (root.root / "profiles").exists():
            root.remove("profiles")
        root.write(files)
        assert generate(root.root).written
        root.commit("output")
        if number == 0:
            root.base = root.git("rev-parse", "HEAD")
    return changes(root)


def said(report: ChangeReport) -> dict[str, DepartureOutcome]:
    """What leaves the delivery, by kind and name."""
    return {f"{item.kind}/{item.name}": item.outcome for cluster in report.clusters for item in cluster.departures}


def said_in_words(report: ChangeReport) -> str:
    found = said(report)
    return "; ".join(f"`{name}` {_SAYS[outcome]}" for name, outcome in found.items()) or "nothing leaves the delivery"


def says_the_operator_goes(report: ChangeReport) -> bool:
    """Or that nobody knows: both are errors until somebody acknowledges them."""
    return any(
        item.is_chart and item.outcome in (*_GOES, DepartureOutcome.CONTESTED)
        for cluster in report.clusters
        for item in cluster.departures
    )


def says_drivers_go(report: ChangeReport) -> bool:
    return any(item.drivers for cluster in report.clusters for item in cluster.departures)
