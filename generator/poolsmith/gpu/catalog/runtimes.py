"""Container runtimes, as the toolkit knows them, wherever they run."""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts.versions import at_least, is_older
from poolsmith.core.record import record


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
