"""Container runtimes: by which name each place knows them, and what the operator and its toolkit do with each.

Where their files are is a fact of distributions and of a release: `platforms` and `operands` have it, by these names.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import at_least, is_older
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTAINERD: Final = "containerd"
DOCKER: Final = "docker"
CRIO: Final = "cri-o"
"""The names of profiles, for what is true of one of them alone."""
_OF_ANY = ("RUNTIME_", "NRI_")
_FIELDS = ("config", "socket")
_SET_AS_DEFAULT = "SET_AS_DEFAULT"


@record
class Hooks:
    """What the operator does where OCI hooks inject devices: a volume of the toolkit, its folder, and variables."""

    volume: str
    folder: str
    variables: dict[str, str]


@record
class ContainerRuntime:
    """A runtime by the name of profiles; `status` is its name in a node's status, `operator` the word of the operator,
    of its toolkit and of `nvidia-ctk`: None where these don't know it.

    `variables` are the toolkit's, by the field of a profile. `follows_classes`: a pod's runtime class counts.
    """

    name: str
    status: str
    operator: str | None = None
    preferred: bool = False
    class_variable: str | None = None
    follows_classes: bool = True
    hooks: Hooks | None = None
    variables: dict[str, str]

    @property
    def prefix(self) -> str:
        """How the variables begin that tell the toolkit about this runtime alone; empty where there are none."""
        return f"{self.operator.upper()}_" if self.operator else ""


@record(slots=False)
class ContainerRuntimes:
    """All of them, in the order of the data."""

    rows: tuple[ContainerRuntime, ...]

    @cached_property
    def by_name(self) -> dict[str, ContainerRuntime]:
        return {row.name: row for row in self.rows}

    @cached_property
    def by_operator(self) -> dict[str, ContainerRuntime]:
        """Those that the operator knows, by its word."""
        return {row.operator: row for row in self.rows if row.operator}

    @cached_property
    def preferred(self) -> ContainerRuntime:
        """The one that the operator works with as soon as one GPU node has it, and where no node tells its own."""
        return next(row for row in self.rows if row.preferred)

    def of_status(self, text: str) -> tuple[str, str]:
        """Name and version by nodeInfo.containerRuntimeVersion; of a runtime that nobody knows, the name in it."""
        status, _, version = text.partition("://")
        return next((row.name for row in self.rows if row.status == status), status), version

    def to_status(self, name: str, version: str) -> str:
        """What a node says that runs it."""
        row = self.by_name.get(name)
        return f"{row.status if row is not None else name}://{version}"

    def recognised(self, text: str) -> str:
        """The operator's word by nodeInfo.containerRuntimeVersion: it looks how the text begins. Empty for others."""
        return next((row.operator for row in self.rows if row.operator and text.startswith(row.status)), "")

    def operators(self, name: str) -> str:
        """The operator's word for a runtime of a profile; the name where it has none."""
        row = self.by_name.get(name)
        return row.operator if row is not None and row.operator else name

    @property
    def prefixes(self) -> tuple[str, ...]:
        """How the variables begin by which the toolkit learns of any runtime and its files."""
        return (*(row.prefix for row in self.rows if row.prefix), *_OF_ANY)

    @property
    def path_variables(self) -> frozenset[str]:
        """Variables of the runtimes' own files and sockets."""
        return frozenset(row.variables[field] for row in self.rows for field in _FIELDS if field in row.variables)

    @property
    def default_variables(self) -> tuple[str, ...]:
        """Variables that make the NVIDIA runtime the one of every pod."""
        return tuple(f"{row.prefix}{_SET_AS_DEFAULT}" for row in self.rows if row.prefix)


@remembered
def container_runtimes() -> ContainerRuntimes:
    variables = store.table("distributions.yaml")["runtimes"]
    rows = store.read_yaml("runtimes/names.yaml")["runtimes"]
    return ContainerRuntimes(rows=tuple(_row(row, variables.get(row["name"], {})) for row in rows))


def _row(row: Mapping[str, Any], of_toolkit: Mapping[str, Any]) -> ContainerRuntime:
    hooks = row.get("hooks")
    return ContainerRuntime(
        name=row["name"],
        status=row["status"],
        operator=row.get("operator"),
        preferred=row.get("preferred", False),
        class_variable=row.get("classVariable"),
        follows_classes=row.get("followsClasses", True),
        hooks=None
        if hooks is None
        else Hooks(volume=hooks["volume"], folder=hooks["folder"], variables=dict(hooks["variables"])),
        variables=dict(of_toolkit.get("variables", {})),
    )


@record
class RuntimeEntry:
    """What the toolkit knows of a container runtime, by the name that profiles use.

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

    @property
    def with_nri(self) -> str:
        """Those of which some version has the NRI that the operator needs, in words."""
        return " or ".join(name for name, entry in self.by_name.items() if entry.nri)

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
