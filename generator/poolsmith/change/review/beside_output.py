"""Files that a change brings into delivered folders and that poolsmith did not generate, and their effect by name.

Sources: argo-cd:util/app/discovery and reposerver/repository (build tools, `.argocd-source*.yaml`),
kustomize:api/konfig (names of kustomizations), fluxcd/source-controller (`.sourceignore`),
fluxcd/kustomize-controller (a folder without a kustomization gets one of all its manifests).

The entries come from git's index; files that are not in it yet, and may still be added, are looked at too.
"""

from __future__ import annotations

import os
import posixpath
import unicodedata
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose, whole_file
from poolsmith.core.diagnostics.codes.change import BESIDE_OUTPUT
from poolsmith.core.diagnostics.message_text import counted, cut, printable
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.guard.policies.revision import LINK, SUBMODULE, GitFile, staged_entries
from poolsmith.project.output.lock_file import LOCK, BadLockError, read_lock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.fleet.profiles.cluster import Cluster
    from poolsmith.guard.policies.revision import BaseRevision


_KUSTOMIZATIONS = frozenset(("kustomization", "kustomization.yaml", "kustomization.yml"))
_OF_CHARTS = frozenset(("chart.yaml", "chart.yml", "chart.lock", "requirements.yaml", ".helmignore", "helmfile.yaml"))
_OF_CHARTS_ENDINGS = (".tpl", ".gotmpl", ".tgz")
_JSONNET_ENDINGS = (".jsonnet", ".libsonnet")
_JSONNET = frozenset(("jsonnetfile.json", "jsonnetfile.lock.json"))
_PLUGINS = frozenset(
    ("plugin.yaml", "plugin.yml", "kcl.mod", "tanka.json", "cue.mod", "devspace.yaml", "skaffold.yaml")
)
_PLUGIN_ENDINGS = (".cue", ".star", ".k", ".lua", ".sh", ".py", ".js", ".ts")
_MANIFESTS = (".yaml", ".yml", ".json")
_OF_GIT = (".gitattributes", ".gitmodules", ".gitignore", ".lfsconfig", ".git")
_IGNORE = (".sourceignore", ".krmignore")


def what_it_does(path: str) -> str:
    """Of a file in a delivered folder that nothing generated, in words that follow its name."""
    parts = path.casefold().split("/")
    name = parts[-1].strip(". ") if parts[-1].strip(". ") in _KUSTOMIZATIONS else parts[-1]
    if name in _KUSTOMIZATIONS:
        return "is a kustomization of its own: what it names would be applied, and could change what is generated"
    if name.startswith(".argocd"):
        return "would override the source of an Argo CD Application: its images, patches, parameters or build tool"
    if name in _OF_CHARTS or name.endswith(_OF_CHARTS_ENDINGS) or "templates" in parts[:-1] or "charts" in parts[:-1]:
        return "would be rendered by Helm, as a chart or as a part of one"
    if name.startswith("values") and name.endswith(_MANIFESTS):
        return "looks like Helm values that no profile gives"
    if name in _JSONNET or name.endswith(_JSONNET_ENDINGS):
        return "would be evaluated as Jsonnet, and applied"
    if name in _PLUGINS or name.endswith(_PLUGIN_ENDINGS):
        return "would make Argo CD choose a plugin, or be run by one"
    if name in _IGNORE:
        return "would hide generated files from Flux, which then builds the folder without them"
    if name in _OF_GIT:
        return "would change what git, reviewers and delivery see of the generated files"
    if name.endswith(_MANIFESTS):
        return "is a manifest that no profile explains: where the folder is applied as it stands, so is this"
    return "is not generated from a profile"


FLAG = "--policies-from"
_UNSEEN = frozenset(("Cf", "Cc"))


@record(kw_only=False)
class HeadTree:
    """Paths from the top of the repository. `files` are those of the index, whether or not they are checked out;
    `untracked` those of the folders asked for that git does not ignore. Of a revision nothing is checked out."""

    files: Mapping[str, GitFile]
    untracked: frozenset[str]
    is_checked_out: bool = True

    def added(self, base: BaseRevision) -> list[str]:
        """Tracked files that are new, or are not as they are in the base: content, kind or mode."""
        return sorted(path for path, file in self.files.items() if base.files.get(path) != file)

    def gone(self, base: BaseRevision) -> list[str]:
        return sorted(base.files.keys() - self.files.keys())


def head_tree(root: Path, folders: Iterable[str]) -> HeadTree:
    """Of the repository that holds `root`; `folders` are pathspecs. Raises UsageError."""
    git = Git(root, FLAG)
    files = {path: file for path, file, _stage in staged_entries(git)}
    listing = git.run("ls-files", "-o", "--exclude-standard", "-z", "--full-name", "--", *folders).stdout
    untracked = (os.fsdecode(path) for path in filter(None, listing.split(b"\0")))
    return HeadTree(files, frozenset(untracked))


def alike(path: str) -> str:
    """The same for names that some file system takes for one: letters of either case, compositions of letters, dots
    and blanks at the end, and what is not seen."""
    if path.isascii() and path.isprintable():
        folded = path.casefold()
        return folded if not ("./" in folded or " /" in folded or folded.endswith((".", " "))) else _trimmed(folded)
    seen = "".join(letter for letter in path if unicodedata.category(letter) not in _UNSEEN)
    return _trimmed(unicodedata.normalize("NFKC", seen).casefold())


def _trimmed(path: str) -> str:
    return "/".join(part.rstrip(". ") for part in path.split("/"))


OUTPUT = "output"
_OWN = (OUTPUT, "profiles", "policies")
_CLUSTERS = f"{OUTPUT}/clusters"
_FLEET = f"{OUTPUT}/fleet"
_EXECUTABLE = "100755"
_MOST_REPORTED = 40
_MOST_OF_LOCK = 8 << 20
_LONGEST = 200
_ODD = "has a name that not every file system can keep: letters that aren't seen, or a dot or a blank at an end"
_NEVER_DELIVERED = frozenset((".ds_store", "thumbs.db", "desktop.ini", ".directory"))
_OF_EDITORS = (".swp", ".swo", "~", ".orig", ".rej")


@record(kw_only=False)
class DeliveredPath:
    """Where the delivery of a cluster says that the output is, and in which file it does."""

    cluster: str
    path: str
    said_in: str


@record
class Delivered:
    """What is delivered from the repository. `clusters` are those with profiles, `paths` where each is delivered from,
    `known_paths` the values of `delivery.path` that the base has."""

    root: Path
    clusters: frozenset[str]
    known_clusters: frozenset[str]
    paths: tuple[DeliveredPath, ...] = ()
    known_paths: frozenset[str] = frozenset()


def delivered_path(cluster: Cluster) -> DeliveredPath:
    """What its profile says."""
    return DeliveredPath(cluster.metadata.name, posixpath.normpath(cluster.spec.delivery.path), cluster.path)


def beside_output(head: HeadTree, base: BaseRevision, delivered: Delivered) -> Iterator[Diagnostic]:
    """All of it, file by file. What stands there in the base as well is no news, and left to a warning."""
    owned = _owned(delivered, base.prefix)
    yield from _wrong_paths(base, delivered)
    found: dict[str, str] = {}
    for path, problem in _problems(head, base, delivered, owned):
        if problem:
            found.setdefault(path, problem)
    for number, (path, problem) in enumerate(sorted(found.items())):
        if number == _MOST_REPORTED:
            message = f"{counted(len(found) - number, 'more file')} like these stand beside what is generated"
            yield diagnose(BESIDE_OUTPUT, message, whole_file(OUTPUT))
            return
        where = printable(path.removeprefix(base.prefix))
        yield diagnose(BESIDE_OUTPUT, f"`{_shown(where)}` {problem}", whole_file(where), subject=where)


def _problems(
    head: HeadTree, base: BaseRevision, delivered: Delivered, owned: frozenset[str]
) -> Iterator[tuple[str, str]]:
    others = _elsewhere(base, delivered)
    own = tuple(f"{base.prefix}{name}" for name in _OWN)
    own_alike = tuple(map(alike, own))
    for path in sorted((*head.added(base), *_late(head, base, delivered))):
        mode = head.files[path].mode
        before = base.files.get(path)
        if _is_in(path, own):
            if path.startswith(f"{own[0]}/") or path == own[0]:
                yield path, _in_output(path, mode, owned, was=before.mode if before is not None else "")
        elif _is_in(alike(path), own_alike):
            yield path, "has a name that some file systems take for one of this project's own folders"
        elif _is_in(path, others):
            yield path, f"lies where clusters are delivered from, and poolsmith writes nothing; it {what_it_does(path)}"
    for path in head.untracked:
        if _is_in(path, (own[0],)) and path not in owned and not _is_junk(path):
            yield path, f"is not tracked yet, and no lock owns it; it {what_it_does(path)}"
    yield from _collisions(head, base, own[0])


def _late(head: HeadTree, base: BaseRevision, delivered: Delivered) -> Iterator[str]:
    """Files that the base has already, in the folder of a cluster that only this change delivers."""
    for name in delivered.clusters - delivered.known_clusters:
        folder = f"{base.prefix}{_CLUSTERS}/{name}/"
        there = (path for path in head.files if path.startswith(folder))
        yield from (path for path in there if base.files.get(path) == head.files[path])


def _in_output(path: str, mode: str, owned: frozenset[str], *, was: str) -> str:
    if mode == LINK:
        return "is a symbolic link: what it leads to would be delivered, and no lock can say what that is"
    if mode == SUBMODULE:
        return "is a submodule: another repository decides what would be delivered from there"
    if path not in owned:
        return f"is in a delivered folder, and no lock owns it; it {what_it_does(path)}"
    if mode == _EXECUTABLE and was != mode:
        return "is executable; generated files are data"
    return ""


def _collisions(head: HeadTree, base: BaseRevision, folder: str) -> Iterator[tuple[str, str]]:
    """New names in the output that some file systems take for another one there."""
    first: dict[str, str] = {}
    for path in sorted(head.files):
        if not _is_in(path, (folder,)):
            continue
        other = first.setdefault(alike(path), path)
        if other != path and not (path in base.files and other in base.files):
            new, old = (other, path) if path in base.files else (path, other)
            yield new, f"is one file with `{_shown(old)}` on file systems that treat such names as one"
        elif path not in base.files and _is_odd(path):
            yield path, _ODD


def _wrong_paths(base: BaseRevision, delivered: Delivered) -> Iterator[Diagnostic]:
    right = f"{base.prefix}{OUTPUT}"
    for item in delivered.paths:
        if item.path != right and item.path not in delivered.known_paths:
            there = f"`{_shown(item.path)}`, where poolsmith writes nothing"
            message = f"cluster `{item.cluster}` would be delivered from {there}; what it generates is in `{right}`"
            yield diagnose(
                BESIDE_OUTPUT, message, whole_file(item.said_in), help=f"write `path: {right}`", subject=item.cluster
            )


def _elsewhere(base: BaseRevision, delivered: Delivered) -> tuple[str, ...]:
    """Folders that clusters are delivered from, beside the output."""
    right = f"{base.prefix}{OUTPUT}"
    return tuple(sorted({item.path for item in delivered.paths} - {right}))


def _owned(delivered: Delivered, prefix: str) -> frozenset[str]:
    """All files of the locks, and these; whether each is generated is judged folder by folder."""
    folders = [_FLEET, *(f"{_CLUSTERS}/{name}" for name in delivered.clusters)]
    return frozenset(f"{prefix}{path}" for folder in folders for path in _of_lock(delivered.root, folder))


def _of_lock(root: Path, folder: str) -> Iterable[str]:
    path = root / folder / LOCK
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_OF_LOCK:
            return ()
        files: Mapping[str, str] = read_lock(path.read_bytes()).files
    except (OSError, BadLockError):
        return ()
    return (f"{folder}/{name}" for name in (*files, LOCK))


def _is_in(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _is_junk(path: str) -> bool:
    """What systems and editors leave behind; a commit of it is no junk any more."""
    name = path.rpartition("/")[2].casefold()
    return name in _NEVER_DELIVERED or name.startswith("._") or name.endswith(_OF_EDITORS)


def _is_odd(path: str) -> bool:
    return not path.isprintable() or any(part != part.strip(" ").rstrip(".") for part in path.split("/"))


def _shown(path: str) -> str:
    return cut(printable(path), _LONGEST)
