"""Use case: the next step of a move, told before it is written, and then written."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.moves.clusters import merge_clusters, split_cluster
from poolsmith.change.moves.handovers import (
    NewOwner,
    change_delivery_namespace,
    change_engine,
    change_stack_kind,
    remove_cluster,
)
from poolsmith.change.moves.places import (
    change_driver_mode,
    change_source,
    change_stack_namespace,
)
from poolsmith.change.moves.renames import rename_cluster, rename_pool
from poolsmith.change.moves.step import Done, Step
from poolsmith.change.upgrade_edits import Editor
from poolsmith.core.diagnostics import UsageError, WriteError
from poolsmith.core.record import record
from poolsmith.interface.app.edited_profiles import compared, copy_of, put_in_place, write_all
from poolsmith.interface.app.generate import generate
from poolsmith.interface.app.new_files import write_new_files
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.project import open_project
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.project.run.project import Project


@record
class Asked:
    """A move by its name, with its words and flags."""

    move: str
    words: tuple[str, ...]
    flags: Mapping[str, str]


@record
class MoveOptions:
    """`accepted_by` is who takes an outage, where the move can't be done without one; empty for nobody."""

    today: dt.date
    accepted_by: str = ""
    dry_run: bool = False
    jobs: int = 1


@record
class Moved:
    """`step` is None where there is nothing to edit. `refused` says why the edited profiles are not sound."""

    step: Step | None
    done: Done | None = None
    report: ChangeReport | None = None
    refused: Outcome | None = None
    written: bool = False


MOVES: Mapping[str, Callable[[Project, Asked], Step | Done]] = {
    "rename-cluster": lambda project, asked: rename_cluster(project, *asked.words),
    "rename-pool": lambda project, asked: rename_pool(project, *asked.words),
    "engine": lambda project, asked: change_engine(project, asked.words[0], asked.words[1], NewOwner(**asked.flags)),
    "delivery-namespace": lambda project, asked: change_delivery_namespace(project, *asked.words),
    "namespace": lambda project, asked: change_stack_namespace(project, *asked.words),
    "source": lambda project, asked: change_source(project, asked.words[0], asked.flags),
    "driver-mode": lambda project, asked: change_driver_mode(project, *asked.words),
    "remove-cluster": lambda project, asked: remove_cluster(project, *asked.words, keeps="keeps" in asked.flags),
    "stack-kind": lambda project, asked: change_stack_kind(
        project, asked.words[0], asked.words[1], asked.flags.get("release")
    ),
    "split-cluster": lambda project, asked: split_cluster(
        project, asked.words[0], asked.words[1], asked.words[2:], NewOwner(**asked.flags)
    ),
    "merge-clusters": lambda project, asked: merge_clusters(project, *asked.words),
}


@with_facts
def move(root: Path, asked: Asked, options: MoveOptions, progress: Progress = silent) -> Moved:
    """Raises UsageError, NoInputError, WriteError; what is raised before profiles are written leaves all as it was."""
    project = open_project(root)
    found = MOVES[asked.move](project, asked)
    if isinstance(found, Done):
        return Moved(step=None, done=found)
    if found.is_outage and not options.accepted_by:
        raise UsageError(
            f"that can't be done without an outage: {found.title}, and every driver pod goes. Say who takes it, with "
            "`--accept-outage-by WHO`, and the profile says so too; nothing was changed"
        )
    with rarely_collecting(), copy_of(root) as copy:
        tried = _tried(project, copy, found, options, progress)
        if isinstance(tried, Moved):
            return tried
        step, report = tried
    if options.dry_run:
        return Moved(step=step, report=report)
    _put(project, step)
    written = generate(root, jobs=options.jobs, progress=progress)
    refused = None if written.written else written.outcome
    return Moved(step=step, report=report, refused=refused, written=True)


def _tried(
    project: Project, copy: Path, step: Step, options: MoveOptions, progress: Progress
) -> tuple[Step, ChangeReport] | Moved:
    """The step with the outage acknowledged that somebody takes, and what it comes to."""
    _carry_out(copy, step)
    made = generate(copy, jobs=options.jobs, progress=progress)
    if not made.written:
        return Moved(step=step, refused=made.outcome)
    report = compared(project, open_project(copy), step.names, options.today, what="the move")
    leaving = {item.fact for one in report.clusters for item in one.departures if item.fact}
    facts = sorted(leaving | set(step.facts))
    if not (step.is_outage and facts):
        return step, report
    accepted = _accepted(project, step, facts, options)
    write_all(copy, {_renamed(path, step): text for path, text in accepted.edits.after.items()})
    generate(copy, jobs=options.jobs)
    return accepted, compared(project, open_project(copy), step.names, options.today, what="the move")


def _renamed(path: str, step: Step) -> str:
    """Where a file is after the step."""
    for old, new in step.renamed:
        if path == old or path.startswith(f"{old}/"):
            return new + path.removeprefix(old)
    return path


def _accepted(project: Project, step: Step, facts: list[str], options: MoveOptions) -> Step:
    from poolsmith.core.sources.source_file import SourceFile  # on demand

    editor, edits = Editor(), step.edits
    (path,) = edits.after
    file = project.tree.read_profile(path)
    assert isinstance(file, SourceFile), "it was read before"
    text = edits.after[path]
    edited = SourceFile(path, text, file.data)
    for fact in facts:
        editor.add_item(
            edited,
            "/spec/acknowledge",
            {"fact": fact, "by": options.accepted_by, "date": options.today.isoformat()},
        )
    more = editor.edits(edits.clusters)
    return replace(step, edits=replace(edits, after=more.after, lines=(*edits.lines, *more.lines)))


def _carry_out(root: Path, step: Step) -> None:
    """Edits first, at the old paths; then what is new, and names. Raises WriteError."""
    write_all(root, step.edits.after)
    write_new_files(root, step.made)
    done: list[tuple[str, str]] = []
    try:
        for old, new in step.renamed:
            (root / old).rename(root / new)
            done.append((old, new))
        for path in step.removed:
            shutil.rmtree(root / path) if (root / path).is_dir() else (root / path).unlink()
    except OSError as error:
        for old, new in reversed(done):
            (root / new).rename(root / old)
        for path in step.made:
            (root / path).unlink(missing_ok=True)
        raise WriteError(f"can't move {error.filename}: {error.strerror or error}") from error


def _put(project: Project, step: Step) -> None:
    """Raises UsageError, WriteError."""
    folders = (path.rpartition("/")[0] for path in step.made)
    for path in (*(old for old, _ in step.renamed), *step.removed, *folders):
        if (project.root / path).is_symlink():
            raise WriteError(f"{path} is a symbolic link; nothing was changed")
    put_in_place(project, step.edits)
    try:
        _carry_out(project.root, replace(step, edits=replace(step.edits, after={})))
    except WriteError:
        write_all(project.root, step.edits.before)
        raise
