"""What `poolsmith diff` says of a merge, beside what the real engine did with it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from change.diff.projects import changes, take_guards_off
from change.review.repositories import Repository
from engines.observed import DELIVERY
from poolsmith.change.diff.change_sections import Weight
from poolsmith.interface.app.generate import generate
from poolsmith.interface.report.diff_json import diff_report
from poolsmith.interface.report.formats import ReportContext

Files = Mapping[str, str]
Report = dict[str, Any]

_DELIVERED = tuple(f"{kind}/" for _, kind in DELIVERY)
_WELL = re.compile(
    r"suspended .*|Ready True, .*|Synced, Healthy, Succeeded|Synced, Healthy, not synced|ResourcesUpToDate True, .*"
)
_SAYS = {
    "uninstalled": "is uninstalled",
    "contested": "is contested",
    "deleted": "deletes what it applied",
    "left": "leaves all behind",
}


@dataclass(frozen=True)
class Happened:
    """What a step came to, from its record. Objects are those of the stack; `unwell` what the engine itself reports."""

    step: Mapping[str, Any]

    @property
    def stood(self) -> list[str]:
        return [
            name for key in ("kept", "deleted", "replaced", "leaving") for name in self.step[key] if is_of_stack(name)
        ]

    @property
    def lost(self) -> list[str]:
        """Objects of the stack that went, whatever came after them."""
        return [name for key in ("deleted", "replaced", "leaving") for name in self.step[key] if is_of_stack(name)]

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
        if made := [name for name in self.step["made"] if is_of_stack(name)]:
            parts.append(f"{len(made)} made")
        if self.step["jobs"]:
            parts.append(f"jobs started: {', '.join(f'`{name}`' for name in self.step['jobs'])}")
        parts += [f"{_short(name)}: {state}" for name, state in self.unwell.items()]
        parts += [f"release {key}: {', '.join(rows)}" for key, rows in self.step["releases"].items()]
        parts += [f"`{field}` is `{json.dumps(value)}`" for field, value in self._by_hand.items()]
        return "; ".join(parts)

    @property
    def _by_hand(self) -> Mapping[str, Any]:
        """Fields that somebody has changed by hand, as they stand in the end."""
        found: Mapping[str, Any] = self.step["fields"]
        return found


def is_of_stack(name: str) -> bool:
    return not name.startswith(_DELIVERED)


def _short(name: str) -> str:
    return f"`{name}`"


def reported(root: Repository, before: Files, after: Files, *, unguarded: bool = False) -> Report:
    """The JSON report of a merge: of profiles with what is generated from them; `unguarded`: the base's has no guards."""
    for number, files in enumerate((before, after)):
        if (root.root / "profiles").exists():
            root.remove("profiles")
        root.write(files)
        assert generate(root.root).written
        if unguarded and number == 0:
            take_guards_off(root.root)
        root.commit("output")
        if number == 0:
            root.base = root.git("rev-parse", "HEAD")
    found: Report = json.loads(diff_report(changes(root), ReportContext(tool="poolsmith")))
    return found


def _departures(report: Report) -> list[dict[str, Any]]:
    return [item for cluster in report["clusters"] for item in cluster["departures"]]


def said_in_words(report: Report) -> str:
    """One line for people: how it is weighed, what leaves, and what is to be done by hand."""
    parts = [f"`{item['kind']}/{item['name']}` {_SAYS[item['outcome']]}" for item in _departures(report)]
    parts += [
        "syncs nothing before definitions are applied by hand"
        for cluster in report["clusters"]
        for item in cluster["release"]
        if item["kind"] == "by-hand"
    ]
    return f"{report['summary']['weight']}: {'; '.join(parts) or 'nothing leaves the delivery'}"


def says_the_operator_goes(report: Report) -> bool:
    """Or that nobody knows: both are errors until somebody acknowledges them."""
    return any(item["isChart"] and item["outcome"] != "left" for item in _departures(report))


def says_drivers_go(report: Report) -> bool:
    """With what leaves the delivery, or because profiles ask for other driver objects."""
    is_told = any(item["kind"] == "driver" for cluster in report["clusters"] for item in cluster["disruptions"])
    return is_told or any(item["drivers"] for item in _departures(report))


def says_the_folder_goes(report: Report) -> bool:
    """Of a cluster that is removed: what holds its delivery reports an error until it is deleted."""
    return any("its folder is missing" in item["words"] for item in _departures(report))


def says_it_is_refused(report: Report) -> bool:
    """Until somebody lets a new owner take what the old one tracks."""
    found = (item for cluster in report["clusters"] for item in cluster["delivery"])
    return any("until then it is refused" in item["words"] for item in found)


def is_grave(report: Report) -> bool:
    return bool(report["summary"]["weight"] == Weight.GRAVE.value)
