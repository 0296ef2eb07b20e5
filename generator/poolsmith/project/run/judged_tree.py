"""What is judged: a commit, git's index, or the work tree.

A check-out is not what is committed: filters, encodings, `ident`, line endings, sparse check-outs, files that git was
told to take for unchanged stand between the two, and delivery engines read the commit. So a commit and the index are
read from git's objects, and written as they are into a folder of our own, which is then judged as any other.
"""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, UsageError, diagnose, sorted_unique, whole_file
from poolsmith.core.diagnostics.codes.change import CHECKED_OUT_OTHERWISE
from poolsmith.core.diagnostics.message_text import counted, printable
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git, blob_id, is_blob
from poolsmith.fleet.profiles.fleet import PROFILES, find_fleet
from poolsmith.guard.policies.policy_files import POLICIES
from poolsmith.guard.policies.revision import (
    LINK,
    SUBMODULE,
    GitFile,
    prefix_of,
    refuse_too_much,
    staged_entries,
    tree_at,
)
from poolsmith.project.run.project import OUTPUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics.outcome import Outcome

FLAG = "--judge"
WORK_TREE = "the work tree"
_OWN = (PROFILES, POLICIES, OUTPUT)
_FOLDERS = tuple(f"{name}/" for name in _OWN)
_EXECUTABLE = "100755"
_SHORT = 12
_MOST_REPORTED = 20
_MOST_BYTES = 1 << 26


class JudgedSubject(StrEnum):
    """What is judged: the commit that is checked out (HEAD), what the next commit would have, or the files on disk."""

    COMMIT = "commit"
    INDEX = "index"
    WORK_TREE = "work-tree"


@record
class JudgedTree:
    """`root` is the folder that is read; `repository` the one that git is asked about.

    `files` are all that the commit or the index has, by path from the top of the repository; None for the work tree.
    `name` says in words what is judged.
    """

    root: Path
    repository: Path
    name: str
    files: Mapping[str, GitFile] | None = None
    problems: tuple[Diagnostic, ...] = ()

    def named_in(self, outcome: Outcome) -> Outcome:
        """What was found in it, with what it is and what is checked out otherwise."""
        found = sorted_unique((*outcome.diagnostics, *self.problems)) if self.problems else outcome.diagnostics
        return replace(outcome, judged=self.name, diagnostics=found)


@contextmanager
def judged_tree(root: Path, subject: JudgedSubject) -> Iterator[JudgedTree]:
    """The project as the subject has it. Raises UsageError where there is no repository or no commit."""
    if subject is JudgedSubject.WORK_TREE:
        yield JudgedTree(root=root, repository=root, name=WORK_TREE)
        return
    git = Git(root, FLAG)
    name, prefix, files = _committed(git) if subject is JudgedSubject.COMMIT else _staged(git)
    own = {path.removeprefix(prefix): file for path, file in files.items() if path.startswith(prefix)}
    if not any(path.startswith(f"{PROFILES}/") for path in own):
        raise UsageError(f"{FLAG} {subject}: {name} has no folder `{PROFILES}` here")
    with tempfile.TemporaryDirectory(prefix="poolsmith-") as place:
        folder = Path(place).resolve()
        check_out(git, folder, {path: file for path, file in own.items() if path.startswith(_FOLDERS)})
        for named in _beside(folder):
            check_out(git, folder, _below(own, named))
        problems = () if subject is JudgedSubject.INDEX else tuple(_differing(git, own))
        untracked = _untracked(git)
        if untracked:
            name += f"; {counted(untracked, 'file')} of the work tree that git does not track are not judged"
        yield JudgedTree(root=folder, repository=root, name=name, files=files, problems=problems)


def is_committed(root: Path) -> bool:
    """Whether the commit that is checked out has the project's profiles."""
    try:
        git = Git(root, FLAG)
        listing = git.run("ls-tree", "--name-only", "HEAD", "--", f"{PROFILES}/", may_fail=True)
    except UsageError:
        return False
    return listing.returncode == 0 and bool(listing.stdout)


def _committed(git: Git) -> tuple[str, str, Mapping[str, GitFile]]:
    commit = git.commit("HEAD")
    tree = tree_at(git, commit)
    return f"the commit {commit[:_SHORT]} (HEAD)", tree.prefix, tree.files


def _staged(git: Git) -> tuple[str, str, Mapping[str, GitFile]]:
    files = {}
    for path, file, stage in staged_entries(git):
        if stage != "0":
            raise UsageError(f"{FLAG} {JudgedSubject.INDEX}: `{printable(path)}` is not merged")
        files[path] = file
    return "the index (what the next commit would have)", prefix_of(git), files


def check_out(git: Git, folder: Path, files: Mapping[str, GitFile]) -> None:
    """Files as git's objects have them, links as links, submodules as empty folders. What is there already stays.

    Raises UsageError for names that no check-out can have, and for more than can be judged.
    """
    new = {path: file for path, file in files.items() if not os.path.lexists(folder / path)}
    regular = {path: file for path, file in new.items() if file.mode not in (LINK, SUBMODULE)}
    links = [path for path, file in new.items() if file.mode == LINK]
    refuse_too_much(git, {path: file for path, file in new.items() if file.mode != SUBMODULE})
    for path, content in zip(regular, git.contents([file.blob for file in regular.values()]), strict=True):
        place = _place(folder, path)
        try:
            with place.open("xb") as stream:
                stream.write(content)
        except OSError as error:
            raise _impossible(path) from error
        if regular[path].mode == _EXECUTABLE:
            place.chmod(0o755)
    for path in (path for path, file in new.items() if file.mode == SUBMODULE):
        _place(folder, f"{path}/.")
    # last, so that nothing is written through one of them
    for path, target in zip(links, git.contents([new[path].blob for path in links]), strict=True):
        try:
            _place(folder, path).symlink_to(os.fsdecode(target))
        except (OSError, ValueError) as error:
            raise _impossible(path) from error


def _place(folder: Path, path: str) -> Path:
    place = folder / path
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _impossible(path) from error
    return place


def _impossible(path: str) -> UsageError:
    return UsageError(f"{FLAG}: `{printable(path)}` can't be checked out: another file of it has that place here")


def _beside(folder: Path) -> tuple[str, ...]:
    """Paths that the profiles of clusters name beside the stack's own."""
    from poolsmith.core.sources.input_tree import InputTree
    from poolsmith.fleet.profiles.load_cluster import cluster_alone  # on demand

    tree, named = InputTree(folder), dict[str, None]()
    for files in find_fleet(tree).clusters:
        cluster = cluster_alone(tree, files)
        named |= dict.fromkeys(cluster.spec.beside if cluster is not None else ())
    return tuple(named)


def _below(files: Mapping[str, GitFile], named: str) -> dict[str, GitFile]:
    start = named.strip("/")
    return {path: file for path, file in files.items() if path == start or path.startswith(f"{start}/")}


def _differing(git: Git, files: Mapping[str, GitFile]) -> Iterator[Diagnostic]:
    """Files of the project that are checked out with other bytes than the commit has. Those that git leaves out of the
    check-out are no difference."""
    left_out = _left_out(git)
    found = [path for path in sorted(files) if path.startswith(_FOLDERS) and path not in left_out]
    found = [path for path in found if not _is_as(git.root, path, files[path])]
    for number, path in enumerate(found):
        where = printable(path)
        if number == _MOST_REPORTED:
            rest = counted(len(found) - number, "more file")
            yield diagnose(CHECKED_OUT_OTHERWISE, f"{rest} are checked out otherwise", whole_file("."))
            return
        message = "the work tree has other bytes here than the commit that is judged"
        yield diagnose(CHECKED_OUT_OTHERWISE, message, whole_file(where), subject=where)


def _is_as(root: Path, path: str, file: GitFile) -> bool:
    """Whether a file is checked out as it is committed, but for ends of lines."""
    place = root / path
    try:
        status = place.lstat()
        if file.mode == SUBMODULE:
            return True
        if file.mode == LINK:
            return stat.S_ISLNK(status.st_mode) and blob_id(os.fsencode(place.readlink()), len(file.blob)) == file.blob
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            return False
        content = place.read_bytes()
    except (OSError, ValueError):
        return False
    return is_blob(content, file.blob)


def _left_out(git: Git) -> frozenset[str]:
    """Files that a sparse check-out leaves out, by path from the root."""
    listing = git.run("ls-files", "-t", "-z", "--", *_OWN, may_fail=True).stdout.split(b"\0")
    return frozenset(os.fsdecode(entry[2:]) for entry in listing if entry.startswith(b"S "))


def _untracked(git: Git) -> int:
    listing = git.run("ls-files", "-o", "--exclude-standard", "-z", "--", *_OWN, may_fail=True).stdout
    return listing.count(b"\0")
