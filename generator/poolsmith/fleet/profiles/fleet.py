"""Which profile files there are: cluster folders and bases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes import reading
from poolsmith.core.diagnostics.codes import shape as codes
from poolsmith.core.record import record
from poolsmith.core.shape.field import DNS_LABEL, matches

if TYPE_CHECKING:
    from poolsmith.core.sources.input_tree import InputTree

PROFILES = "profiles"
BASES = "_bases"
SCHEMAS = "_schemas"
CATALOG = "_catalog"
CLUSTER_FILE = "cluster.yaml"
DRIVER_IMAGES_FILE = f"{PROFILES}/_driver-images.yaml"
RINGS_FILE = f"{PROFILES}/_rings.yaml"
TEAMS_FILE = f"{PROFILES}/_teams.yaml"
_YAML = (".yaml", ".yml")
_OTHER_NAMES = ("cluster.yml", "cluster.yaml", "clusters.yaml", "clusters.yml")


@record
class ClusterFiles:
    """The profile files of one cluster; paths relative to the root."""

    name: str
    cluster: str | None
    pools: tuple[str, ...]
    problems: tuple[Diagnostic, ...] = ()

    @property
    def folder(self) -> str:
        return f"{PROFILES}/{self.name}"


@record
class FleetFiles:
    """All profile files of a project."""

    clusters: tuple[ClusterFiles, ...]
    bases: tuple[str, ...]
    problems: tuple[Diagnostic, ...]
    driver_images: str | None = None
    rings: str | None = None


def find_fleet(tree: InputTree) -> FleetFiles:
    """Look at `profiles/`; the order of the result does not depend on the file system."""
    listing = tree.listing(PROFILES)
    problems = list(listing.problems)
    files = [f"{PROFILES}/{name}" for name in listing.files if name.endswith(_YAML)]
    known = (DRIVER_IMAGES_FILE, TEAMS_FILE, RINGS_FILE)
    problems.extend(_misplaced(tree, path) for path in files if path not in known)
    bases: tuple[str, ...] = ()
    clusters = []
    for name in listing.folders:
        if name == BASES:
            bases = _base_files(tree, problems)
        elif name in (SCHEMAS, CATALOG):
            continue
        elif name.startswith("_"):
            problems.append(_misplaced(tree, f"{PROFILES}/{name}"))
        else:
            clusters.append(_cluster_files(tree, name))
    return FleetFiles(
        clusters=tuple(clusters),
        bases=bases,
        problems=tuple(problems),
        driver_images=DRIVER_IMAGES_FILE if DRIVER_IMAGES_FILE in files else None,
        rings=RINGS_FILE if RINGS_FILE in files else None,
    )


def _base_files(tree: InputTree, problems: list[Diagnostic]) -> tuple[str, ...]:
    folder = f"{PROFILES}/{BASES}"
    listing = tree.listing(folder)
    problems.extend(listing.problems)
    problems.extend(_misplaced(tree, f"{folder}/{name}") for name in listing.folders)
    return tuple(f"{folder}/{name}" for name in listing.files if name.endswith(_YAML))


def _cluster_files(tree: InputTree, name: str) -> ClusterFiles:
    folder = f"{PROFILES}/{name}"
    listing = tree.listing(folder)
    problems = list(listing.problems)
    problems.extend(_misplaced(tree, f"{folder}/{entry}") for entry in listing.folders)
    files = [entry for entry in listing.files if entry.endswith(_YAML)]
    other = next((entry for entry in files if entry.lower() in _OTHER_NAMES), None)
    if other is not None and CLUSTER_FILE not in files:
        problems.append(
            diagnose(
                codes.CLUSTER_FILE_MISSING,
                f"this cluster folder has a {other} in the place of {CLUSTER_FILE}",
                whole_file(f"{folder}/{other}"),
                help=f"rename it: `git mv {folder}/{other} {folder}/{CLUSTER_FILE}`",
            )
        )
        files.remove(other)
    if not matches(DNS_LABEL, name):
        problems.append(
            diagnose(
                codes.INVALID_NAME,
                "the folder's name is not a DNS label, so no cluster can have it",
                whole_file(folder),
                help="rename the folder: lower-case letters, digits and `-`, at most 63",
            )
        )
    cluster = f"{folder}/{CLUSTER_FILE}" if CLUSTER_FILE in files else None
    if cluster is None and not problems:
        problems.append(
            diagnose(codes.CLUSTER_FILE_MISSING, "this cluster folder has no cluster.yaml", whole_file(folder))
        )
    pools = tuple(f"{folder}/{entry}" for entry in files if entry != CLUSTER_FILE)
    return ClusterFiles(name=name, cluster=cluster, pools=pools, problems=tuple(problems))


_KNOWN = (*(path.rpartition("/")[2] for path in (DRIVER_IMAGES_FILE, TEAMS_FILE, RINGS_FILE)), BASES, SCHEMAS, CATALOG)


def _misplaced(tree: InputTree, path: str) -> Diagnostic:
    from poolsmith.core.shape.kind_places import misplaced  # on demand: only mistakes need it

    return misplaced(tree, path, _KNOWN if path.count("/") == 1 else (), reading.MISPLACED_FILE.fix)
