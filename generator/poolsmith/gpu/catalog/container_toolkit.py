"""What is known of the container toolkit beside the chart's keys: variables, old images, vulnerabilities.

Container runtimes, as the toolkit knows them, wherever they run.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import at_least, covers, is_older, version_key
from poolsmith.core.record import record


@record
class Unfit:
    """Why a toolkit image does not fit a release; `instead` is the oldest one that does."""

    why: str
    instead: str
    severity: str


@record
class ToolkitVariable:
    """`since` is the first operator that hands it on, where not each one does.

    `overwritten` is set where the operator sets it whatever the values say: what to write instead, or nothing.
    """

    since: str | None = None
    overwritten: str | None = None


@record
class Vulnerability:
    """`toolkit` and `operator` are the first versions that have the fix."""

    ids: tuple[str, ...]
    toolkit: str
    operator: str


@cache
def _facts() -> dict[str, Any]:
    return store.read_yaml("values/toolkit.yaml")


@cache
def known_variables() -> dict[str, ToolkitVariable]:
    """What is read of toolkit.env, by name."""
    return {
        name: ToolkitVariable(since=entry.get("since"), overwritten=entry.get("overwritten"))
        for name, entry in _facts()["variables"].items()
    }


def is_meant_for_toolkit(name: str) -> bool:
    return name.startswith(tuple(_facts()["prefixes"]))


def breaks_without_source(distribution: str) -> str | None:
    """Why a distribution needs its configuration to be read from a file; None where nobody says that it must be."""
    reason: str | None = _facts()["breaksWithoutSource"].get(distribution)
    return reason


def unfit_toolkit(version: str, release: str, *, nri: bool) -> Unfit | None:
    """The worst that is known of a toolkit image in a release; None for one that fits, or is no number."""
    number = numbers(version)
    if number is None:
        return None
    found = [
        Unfit(why=entry["why"], instead=f"v{entry['below']}", severity=entry["severity"])
        for entry in _facts()["tooOld"]
        if number < version_key(entry["below"]) and covers(entry, release) and (nri or not entry.get("nri"))
    ]
    broken = broken_toolkit(version)
    if broken is not None:
        found.append(broken)
    if not found:
        return None
    worst = min(found, key=lambda item: item.severity != "error")
    newest = max((item.instead for item in found), key=version_key)
    return Unfit(why=worst.why, instead=newest, severity=worst.severity)


def broken_toolkit(version: str) -> Unfit | None:
    """What is known of a toolkit image by itself, whatever the release."""
    number = numbers(version)
    found = (
        Unfit(why=entry["why"], instead=entry["instead"], severity=entry["severity"])
        for entry in _facts()["broken"]
        if number == version_key(entry["version"])
    )
    return next(found, None)


def vulnerabilities(version: str) -> tuple[Vulnerability, ...]:
    """What a toolkit image is open to, oldest first; nothing for one that is no number."""
    number = numbers(version)
    if number is None:
        return ()
    return tuple(
        Vulnerability(ids=tuple(entry["ids"]), toolkit=f"v{entry['toolkit']}", operator=entry["operator"])
        for entry in _facts()["vulnerabilities"]
        if not at_least(".".join(map(str, number)), entry["toolkit"])
    )


def numbers(version: str) -> tuple[int, ...] | None:
    """The three numbers of a tag such as `v1.17.8-ubuntu20.04`; None for a digest or another name."""
    head = version.removeprefix("v").split("-")[0].split("+")[0]
    parts = head.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 6 for part in parts):  # noqa: PLR2004
        return None
    return tuple(map(int, parts))


@record
class RuntimeEntry:
    """A container runtime by the name that profiles use.

    `variables` are the toolkit's, by the field of a profile (config, socket, drop_in) that they take. `own_toolkit` is
    what a toolkit of the pool's own needs beside, `documented` the first and the last version in the matrix of a
    release line. `restart` is what makes the runtime read its configuration again.
    """

    name: str
    variables: dict[str, str]
    restart: str
    cdi_minimum: str
    nri: tuple[tuple[str, str | None], ...]
    config_versions: tuple[tuple[str, int], ...]
    own_toolkit: tuple[tuple[str, str], ...]
    documented: dict[str, tuple[str, str]]

    def has_nri(self, version: str) -> bool:
        """Whether a version may have the NRI that the operator needs."""
        return any(
            not is_older(version, first) and (below is None or is_older(version, below)) for first, below in self.nri
        )

    @property
    def nri_ranges(self) -> str:
        """The versions that have it, in words; empty where none has."""
        return " or ".join(f"{first} and later" + (f" below {below}" if below else "") for first, below in self.nri)

    def config_version(self, version: str | None) -> int | None:
        """The newest version of its configuration that a version of the runtime knows; None where nobody can tell."""
        if version is None:
            return None
        return next((known for first, known in reversed(self.config_versions) if at_least(f"{version}.0", first)), None)


@record
class Runtimes:
    """All of them, and what the toolkit's versions can read."""

    by_name: dict[str, RuntimeEntry]
    toolkit_of_config_version: dict[int, str]
    toolkit_asks_runtime: str

    def toolkit_needed(self, config_version: int) -> str | None:
        """The first toolkit that reads a configuration of this version; None where any does, or nobody can tell."""
        reached = [first for version, first in self.toolkit_of_config_version.items() if config_version >= version]
        return reached[-1] if reached else None


def runtimes_from(data: dict[str, Any]) -> Runtimes:
    return Runtimes(
        by_name={name: _entry(name, entry) for name, entry in data["runtimes"].items()},
        toolkit_of_config_version={int(key): value for key, value in data["toolkitOfConfigVersion"].items()},
        toolkit_asks_runtime=data["toolkitAsksRuntime"],
    )


def _entry(name: str, entry: dict[str, Any]) -> RuntimeEntry:
    return RuntimeEntry(
        name=name,
        variables=dict(entry["variables"]),
        restart=entry["restart"],
        cdi_minimum=entry["cdiMinimum"],
        nri=tuple((item["from"], item.get("below")) for item in entry["nri"]),
        config_versions=tuple((item["from"], item["version"]) for item in entry.get("configVersions", ())),
        own_toolkit=tuple(entry.get("ownToolkit", {}).items()),
        documented={line: (bounds[0], bounds[1]) for line, bounds in entry.get("documented", {}).items()},
    )
