"""Operating systems, Kubernetes distributions with their paths, container runtimes, and the support matrices.

From the paths of a values file follows the distribution that they belong to.
"""

from __future__ import annotations

from dataclasses import field, replace
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import at_least, line_of, minor_between, version_key
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD

if TYPE_CHECKING:
    from collections.abc import Mapping


_NUMBER = pattern(r"\d+(\.\d+)*")


def _parts(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


@record
class Kernels:
    """The form of a system's kernel releases, as a regular expression, and one of them."""

    form: str
    like: str


@record
class OperatingSystemEntry:
    """An operating system by its ID of /etc/os-release.

    `driver` is container, unknown, variant or os; `toolkit` and `device_plugin` are operator or os,
    `toolkit` also variant: of images that have a driver. `driver_folder` is
    a path, `declared` or `unknown`, None for the root file system; `repository` holds drivers that others publish.
    `unsupported` says by version what the operator's documentation excludes; `cdi`: containers get their GPUs there by
    the Container Device Interface only. `operator` is the first release of the operator that the system's guide
    installs, `none` where it installs none, None where nobody says. `codenames` are what people call versions;
    `kernels` what `uname -r` prints there. All of it is that of the oldest versions; `later` are the same entries from
    a version on, newest first.
    """

    id: str
    versions: tuple[str, ...]
    majors: tuple[int, ...]
    prefix: str
    any_version: bool
    driver: str
    toolkit: str
    device_plugin: str = "operator"
    driver_folder: str | None = None
    toolkit_folder: str | None = None
    repository: str | None = None
    unsupported: dict[str, str] = field(default_factory=dict)
    cdi: bool = False
    operator: str | None = None
    later: tuple[tuple[str, OperatingSystemEntry], ...] = ()
    codenames: dict[str, str] = field(default_factory=dict)
    kernels: Kernels | None = None

    def at(self, version: str) -> OperatingSystemEntry:
        """What is true of one version."""
        return next((entry for first, entry in self.later if at_least(version, first)), self)

    def knows(self, version: str) -> bool:
        if self.any_version or version in self.versions:
            return True
        major = version.removeprefix(self.prefix).split(".")[0]
        return major.isdecimal() and version_key(major)[0] in self.majors

    def meant(self, version: str) -> str | None:
        """The known version that a text in another form means: a point release, a code name, as tags have it."""
        text = version.lower()
        for name, known in self.codenames.items():
            if name in text:
                return known
        number = _NUMBER.search(text)
        parts = [int(part) for part in number[0].split(".")] if number else []
        alike = [known for known in self.versions if parts and _parts(known)[: len(parts)] == parts[:2]]
        return alike[-1] if len(alike) == 1 else None

    def known_versions(self) -> tuple[str, ...]:
        return self.versions or tuple(f"{self.prefix}{major}.x" for major in self.majors)


@record
class RuntimePaths:
    """Where one distribution configures one runtime, in some release lines. `unknown`: no source says.

    `runtime_class` is what pods with GPUs have to ask for. `documented` are the lines that the distribution's own page
    names, empty where it names all of the rule's.
    """

    unknown: bool
    config: str | None
    socket: str | None
    drop_in: str | None
    minimum: str | None
    env: tuple[dict[str, str], ...]
    device_plugin_env: tuple[dict[str, str], ...]
    runtime_class: str | None = None
    documented: tuple[str, ...] = ()

    def is_documented(self, line: str) -> bool:
        return not self.documented or line in self.documented

    @property
    def by_field(self) -> dict[str, str | None]:
        """The paths by the fields of a profile: config, socket, drop_in."""
        return {"config": self.config, "socket": self.socket, "drop_in": self.drop_in}

    @property
    def pairs(self) -> bool:
        """Whether configuration and drop-in file belong together here, and the toolkit is told both."""
        told = "".join(entry["value"] for entry in self.env)
        return "{config}" in told and "{dropIn}" in told


def fill_paths(template: str, by_field: Mapping[str, str | None]) -> str:
    """A variable's value as a distribution's entry writes it, with paths in place of their names."""
    for placeholder, name in (("{config}", "config"), ("{socket}", "socket"), ("{dropIn}", "drop_in")):
        template = template.replace(placeholder, by_field[name] or "")
    return template


@record
class Distribution:
    """A Kubernetes distribution. `node_labels` (key, value, reason) keep its own parts off GPU nodes.

    `host_folders` are where the platform's own installer puts a driver (`driver`) and lets a toolkit be (`toolkit`).
    `kubelet_root` is None for /var/lib/kubelet. `mig_reboot` is always or maybe where virtual machines can't reset
    their GPUs. `accelerators` are the names by which nodes with a GPU are asked for.
    `driver_brings_toolkit`: its images with a driver have a toolkit too; `toolkit_runtime_class` is the one of that.
    `runtime_class` is what pods ask for where a toolkit on the hosts makes no runtime the default;
    `makes_runtime_class`: its object comes with it.
    """

    name: str
    refused: str | None
    column: str
    provisioners: tuple[str, ...]
    rules: dict[str, tuple[tuple[tuple[str, ...], RuntimePaths], ...]]
    source: str
    node_labels: tuple[tuple[str, str, str], ...] = ()
    restart: str | None = None
    host_folders: dict[str, str] = field(default_factory=dict)
    kubelet_root: str | None = None
    mig_reboot: str | None = None
    accelerators: dict[str, str] = field(default_factory=dict)
    driver_brings_toolkit: bool = False
    toolkit_runtime_class: str | None = None
    runtime_class: str | None = None
    makes_runtime_class: bool = False

    def paths(self, runtime: str, line: str) -> RuntimePaths | None:
        """Paths of a runtime in a release line; None when the distribution does not have the runtime."""
        for lines, paths in self.rules.get(runtime, ()):
            if line in lines:
                return paths
        return None


@record(kw_only=False)
class SupportRow:
    """`own`: distributions by versions of their own."""

    os: str
    versions: tuple[str, ...]
    columns: dict[str, tuple[str, str]]
    own: dict[str, tuple[str, ...]] = field(default_factory=dict)


@record(kw_only=False)
class SupportMatrix:
    """The documentation's table for one release line."""

    line: str
    source: str
    rows: tuple[SupportRow, ...]

    def covers(self, *, os_id: str, os_version: str, column: str, kubernetes: str) -> bool:
        return any(
            row.os == os_id
            and any(known == os_version or known.split(" ")[0] == os_version for known in row.versions)
            and column in row.columns
            and minor_between(kubernetes, *row.columns[column])
            for row in self.rows
        )

    @property
    def ends(self) -> tuple[str, ...]:
        """The newest Kubernetes of each cell."""
        return tuple(last for row in self.rows for _, last in row.columns.values() if last)

    def own_versions(self, *, os_id: str, os_version: str, column: str) -> tuple[str, ...]:
        """Of a distribution that the table names by versions of its own."""
        rows = (row for row in self.rows if row.os == os_id and os_version in row.versions)
        return next((row.own[column] for row in rows if column in row.own), ())


def operating_systems_from(data: dict[str, Any]) -> dict[str, OperatingSystemEntry]:
    return {entry["id"]: _operating_system(entry) for entry in data["operating_systems"]}


def _operating_system(entry: dict[str, Any]) -> OperatingSystemEntry:
    later: list[tuple[str, OperatingSystemEntry]] = []
    known = {key: value for key, value in entry.items() if key != "later"}
    for change in entry.get("later", ()):
        known |= {key: value for key, value in change.items() if key != "from"}
        later.insert(0, (change["from"], _operating_system(known)))
    oldest = OperatingSystemEntry(
        id=entry["id"],
        versions=tuple(entry.get("versions", ())),
        majors=tuple(entry.get("majors", ())),
        prefix=entry.get("prefix", ""),
        any_version=entry.get("anyVersion", False),
        driver=entry["driver"],
        toolkit=entry["toolkit"],
        device_plugin=entry.get("devicePlugin", "operator"),
        driver_folder=entry.get("driverFolder"),
        toolkit_folder=entry.get("toolkitFolder"),
        repository=entry.get("repository"),
        unsupported=dict(entry.get("unsupported", {})),
        cdi=entry.get("cdi", False),
        operator=entry.get("operator"),
        codenames=dict(entry.get("codenames", {})),
        kernels=Kernels(**entry["kernels"]) if "kernels" in entry else None,
    )
    return replace(oldest, later=tuple(later))


def distributions_from(data: dict[str, Any]) -> dict[str, Distribution]:
    return {
        entry["name"]: Distribution(
            name=entry["name"],
            refused=entry.get("refused"),
            column=entry.get("kubernetes", ""),
            provisioners=tuple(entry["provisioners"]),
            rules={
                runtime: tuple((tuple(rule["lines"]), _runtime_paths(rule)) for rule in rules)
                for runtime, rules in entry["runtimes"].items()
            },
            source=entry["source"],
            restart=entry.get("restart"),
            host_folders=dict(entry.get("hostFolders", {})),
            kubelet_root=entry.get("kubeletRoot"),
            mig_reboot=entry.get("migReboot"),
            accelerators=dict(entry.get("accelerators", {})),
            driver_brings_toolkit=entry.get("withDriver", {}).get("toolkit") == "os",
            toolkit_runtime_class=entry.get("withDriver", {}).get("runtimeClass"),
            runtime_class=entry.get("hostRuntimeClass", {}).get("name"),
            makes_runtime_class=entry.get("hostRuntimeClass", {}).get("made", False),
            node_labels=tuple((item["key"], item["value"], item["because"]) for item in entry.get("nodeLabels", ())),
        )
        for entry in data["distributions"]
    }


def _runtime_paths(rule: dict[str, Any]) -> RuntimePaths:
    return RuntimePaths(
        unknown=rule.get("unknown", False),
        config=rule.get("config"),
        socket=rule.get("socket"),
        drop_in=rule.get("dropIn"),
        minimum=rule.get("minimum"),
        env=tuple(rule.get("env", ())),
        device_plugin_env=tuple(rule.get("devicePluginEnv", ())),
        runtime_class=rule.get("runtimeClass"),
        documented=tuple(rule.get("documented", ())),
    )


_NO_COLUMNS = ("os", "versions", "own")


def support_matrices_from(data: dict[str, Any]) -> dict[str, SupportMatrix]:
    return {
        line: SupportMatrix(
            line,
            entry["source"],
            tuple(
                SupportRow(
                    row["os"],
                    tuple(row["versions"]),
                    {name: (bounds[0], bounds[1]) for name, bounds in row.items() if name not in _NO_COLUMNS},
                    {name: tuple(versions) for name, versions in row.get("own", {}).items()},
                )
                for row in entry["rows"]
            ),
        )
        for line, entry in data["lines"].items()
    }


@remembered
def distributions() -> dict[str, Distribution]:
    return distributions_from(store.table("distributions.yaml"))


@remembered
def _folders() -> tuple[tuple[str, str], ...]:
    """Folders of containerd's files and sockets, each with the distribution that has them there."""
    found = {
        (dirname(_host(path)), name)
        for name, distribution in distributions().items()
        for _, paths in distribution.rules.get(CONTAINERD, ())
        for path in (paths.config, paths.socket, paths.drop_in)
        if path is not None
    }
    return tuple(sorted(found))


def owners(path: str) -> frozenset[str]:
    """The distributions that keep containerd's files or socket there; none for a path that nobody is known for."""
    folder = dirname(_host(path))
    return frozenset(name for known, name in _folders() if folder == known or folder.startswith(f"{known}/"))


def standard() -> frozenset[str]:
    """The distributions that keep containerd where it comes by itself."""
    return owners("/etc/containerd/config.toml")


def rule_of(distribution: str, release: str) -> RuntimePaths | None:
    """Where a distribution keeps containerd in a release's line; None where that is not known."""
    paths = distributions()[distribution].paths(CONTAINERD, line_of(release))
    return None if paths is None or paths.unknown else paths


def sockets_of(distribution: str) -> frozenset[str]:
    """Where it has containerd's socket, in any release's line."""
    rules = distributions()[distribution].rules.get(CONTAINERD, ())
    return frozenset(paths.socket for _, paths in rules if paths.socket is not None)


def _host(path: str) -> str:
    """As the host resolves it: /var/run is a link to /run."""
    clean = normpath(path)
    return clean.removeprefix("/var") if clean.startswith("/var/run/") else clean
