"""One side of a change: a project, and what stands in its output, on disk or in a revision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.folder_ids import blob_id
from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.guard.policies.apply import with_policies
from poolsmith.guard.policies.base_revision import LINK, SUBMODULE

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.guard.policies.base_revision import GitFile
    from poolsmith.project.run.project import Project

_NO_FILE = (LINK, SUBMODULE)


@record
class Side:
    """`files` are the ids of the project's own files, by path from its root.

    Of a revision the output is read from the `repository`; None where it stands on disk.
    """

    project: Project
    files: Mapping[str, GitFile]
    repository: Path | None = None
    flag: str = "--base"


@record
class Pair:
    """A cluster before and after the change; None where it is not there. Files may have two names."""

    before: ClusterFiles | None
    after: ClusterFiles | None
    is_touched: bool = True

    @property
    def name(self) -> str:
        files = self.after or self.before
        return files.name if files is not None else ""

    @property
    def names(self) -> set[str]:
        return {files.name for files in (self.before, self.after) if files is not None}


def as_judged(project: Project, found: Iterable[Diagnostic], today: dt.date) -> tuple[Diagnostic, ...]:
    """Findings with rule settings and waivers applied. What nobody needs any more, a part of a fleet can't tell."""
    outcome = Outcome(diagnostics=tuple(found))
    return with_policies(outcome, project.judging_policies, today=today, complete=False).diagnostics


def present_in_git(side: Side, folder: str, generated: Mapping[str, bytes]) -> dict[str, bytes | None]:
    """What a revision has in a folder. Only what is not as generated is read."""
    start = f"{folder}/"
    there = {path.removeprefix(start): file for path, file in side.files.items() if path.startswith(start)}
    present: dict[str, bytes | None] = {}
    unread: dict[str, str] = {}
    for path, file in there.items():
        content = generated.get(path)
        if file.mode in _NO_FILE:
            present[path] = None
        elif content is not None and blob_id(content, len(file.blob)) == file.blob:
            present[path] = content
        else:
            unread[path] = file.blob
    if unread and side.repository is not None:
        contents = Git(side.repository, side.flag).contents(list(unread.values()))
        present |= dict(zip(unread, contents, strict=True))
    return present
