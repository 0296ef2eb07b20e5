"""Profiles that a verb edits: tried in a folder of their own, compared with what is there, and then put in place."""

from __future__ import annotations

import shutil
import stat
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import ChangeReport, Revision
from poolsmith.change.diff.sides import Side, SidePair
from poolsmith.change.upgrade_edits import changed_since
from poolsmith.core.diagnostics import UsageError, WriteError, sorted_unique
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.guard.policies.policy_files import POLICIES
from poolsmith.interface.app.new_files import replace_file

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Mapping

    from poolsmith.change.upgrade_edits import Edits
    from poolsmith.interface.app.diff_pairs import PairResult
    from poolsmith.project.run.project import Project


def compared(
    before: Project, after: Project, names: Mapping[str, str | None], today: dt.date, *, what: str
) -> ChangeReport:
    """What there is with what was edited. `names` are clusters with their names afterwards (None: it is gone); one that
    is not there is new."""
    from poolsmith.interface.app.diff_pairs import PairContext, diff_pairs  # on demand: all rules

    then, now = ({files.name: files for files in side.fleet.clusters} for side in (before, after))
    pairs = tuple(
        SidePair(before=then.get(old), after=now[new] if new is not None else None)
        for old, new in sorted(names.items())
    )
    after.beside(before)
    context = PairContext(
        before=Side(project=before, files={}),
        after=Side(project=after, files={}),
        had_profiles=True,
        judging=JudgingOptions(today=today),
    )
    results: list[PairResult] = sorted(diff_pairs(context, pairs), key=lambda item: item.name)
    told = [item for item in results if item.diff is not None]
    return ChangeReport(
        base=Revision(name="what is there"),
        head=Revision(name=what),
        clusters=tuple(item.diff for item in told if item.diff is not None),
        unchanged_clusters=len({*then, *names}) - len(told),
        pools=sum(item.pools for item in told),
        new_findings=sorted_unique([one for item in results for one in item.new]),
        fixed_findings=sorted_unique([one for item in results for one in item.fixed]),
    )


@contextmanager
def copy_of(root: Path) -> Iterator[Path]:
    """Profiles and policies in a folder of our own; links stay links, and what is no file is left out."""

    def odd(folder: str, names: list[str]) -> list[str]:
        modes = {name: (Path(folder) / name).lstat().st_mode for name in names}
        return [
            name for name, mode in modes.items() if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
        ]

    with tempfile.TemporaryDirectory(prefix="poolsmith-") as name:
        folder = Path(name)
        try:
            for part in (PROFILES, POLICIES):
                if (root / part).is_dir():
                    shutil.copytree(root / part, folder / part, symlinks=True, ignore=odd)
        except (OSError, shutil.Error) as error:
            raise UsageError(f"the profiles can't be copied: {error}") from None
        yield folder


def write_all(folder: Path, texts: Mapping[str, str]) -> None:
    for path, text in texts.items():
        replace_file(folder / path, text)


def put_in_place(project: Project, edits: Edits) -> None:
    """All files or none. Raises UsageError, WriteError."""
    if path := changed_since(project, edits):
        raise UsageError(f"{path} was changed meanwhile; nothing was changed: run it again")
    written: list[str] = []
    try:
        for path, text in edits.after.items():
            replace_file(project.root / path, text)
            written.append(path)
    except WriteError:
        write_all(project.root, {path: edits.before[path] for path in written})
        raise
