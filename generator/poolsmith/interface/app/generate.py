"""Use case: generate the output, or say what that would change where no earlier result is remembered.

Nothing is written unless every profile is sound: clusters are staged one by one, and put in place together. A project
has one writer at a time.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import WriteError, diagnose, whole_file
from poolsmith.core.diagnostics.codes import hygiene
from poolsmith.core.diagnostics.codes.shape import ASSUMED_VALUE
from poolsmith.core.diagnostics.message_text import counted, joined
from poolsmith.core.record import record
from poolsmith.core.sources.output_tree import is_interrupted, recover
from poolsmith.guard.policies.applied_policies import with_policies
from poolsmith.interface.app.memory import COMPARING, recall
from poolsmith.interface.app.results import GenerateResult
from poolsmith.interface.app.run import EMPTY, Run, Totals, compare_clusters, open_run, write_clusters
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.fleet_folder import fleet_folder, orphan_finding, orphans, removal, stray_findings, strays
from poolsmith.project.run.generated_folder import compare_folder, link_in_the_way, write_folder
from poolsmith.project.run.project import CLUSTERS, FLEET, OUTPUT
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.interface.app.memory import Memory
    from poolsmith.interface.app.run import ClusterResult, Work
    from poolsmith.project.output.crew import Workers
    from poolsmith.project.output.result_store import ResultStore
    from poolsmith.project.run.generated_folder import FolderResult, GeneratedFolder
    from poolsmith.project.run.project import Project


@contextmanager
def only_writer(project: Project) -> Iterator[None]:
    """One writer per project; a second one is refused, not queued. Raises WriteError.

    Only who may write removes folders: with the folder goes the lock, and a third would be let in beside the first.
    """
    folder = project.output_root / OUTPUT
    is_new = not folder.exists()
    try:
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise WriteError(f"can't write to {folder}: {error.strerror or error}; nothing was changed") from error
    try:
        if not _is_ours(descriptor, folder):
            raise WriteError(f"another poolsmith is writing to {folder}; nothing was changed")
        try:
            yield
        finally:
            if is_new:
                _remove_empty(project.clusters_folder, folder)
    finally:
        os.close(descriptor)


def _is_ours(descriptor: int, folder: Path) -> bool:
    """Whether nobody else may write there now. A folder that somebody replaced since it was opened is theirs."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks: writing stays atomic per cluster
    try:
        return os.path.samestat(os.fstat(descriptor), folder.stat())
    except OSError:
        return False


def _remove_empty(*folders: Path) -> None:
    """A run that wrote nothing leaves nothing, not even the folders that it made."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


_FEW = 8
_BLOCKED = "nothing was written: there are errors"
_FEW_CLUSTERS = 12
"""So many are generated sooner than another process is started."""


@with_facts
def generate(
    root: Path,
    *,
    clusters: Sequence[str] = (),
    jobs: int | Workers = 1,
    progress: Progress = silent,
    store: ResultStore | None = None,
    rehash: bool = False,
    output_at: Path | None = None,
) -> GenerateResult:
    """Generate the clusters named, or all. Raises UsageError, NoInputError, WriteError.

    What `compare` has found to be as generated is not generated again. `output_at` is a folder for `output/` beside the
    project; of one nothing is remembered.
    """
    run = open_run(root, clusters, jobs=jobs, progress=progress, output_at=output_at)
    if output_at is not None:
        store = None

    def unchanged() -> Mapping[str, ClusterResult]:
        memory = recall(store, root, COMPARING, clusters, rehash=rehash)
        found = memory.clusters() if memory is not None else EMPTY
        return {name: item for name, item in found.items() if item.folder is not None and not item.folder.changed}

    return with_settings(run, write(run, unchanged).result)


def compare_anew(
    root: Path,
    *,
    clusters: Sequence[str],
    jobs: int | Workers,
    progress: Progress,
    memory: Memory | None,
    output_at: Path | None = None,
) -> GenerateResult:
    """What `generate` would change. Raises UsageError, NoInputError."""
    run = open_run(root, clusters, jobs=jobs, progress=progress, output_at=output_at)
    totals = compare_all(run, memory.clusters() if memory is not None else EMPTY)
    result = with_settings(run, unwritten(run, totals, totals.outcome()))
    if memory is not None:
        memory.keep(result, totals.fresh)
    return result


def with_settings(run: Run, result: GenerateResult) -> GenerateResult:
    """With the project's rule settings and waivers; that one is unused, only a run of all rules can tell."""
    outcome = with_policies(result.outcome, run.project.judging_policies, today=None, complete=False)
    return replace(result, outcome=outcome)


@record(kw_only=False)
class Written:
    """What a run has written, and the results of the clusters that it worked on."""

    result: GenerateResult
    fresh: tuple[ClusterResult, ...]


def write(
    run: Run, unchanged: Callable[[], Mapping[str, ClusterResult]] = lambda: EMPTY, work: Work = write_clusters
) -> Written:
    """Put what differs in place, or nothing at all. Raises WriteError.

    `work` is what is done with each cluster. `unchanged` are results of clusters whose folders are as generated; it is
    asked when nobody else may write.
    """
    project = run.project
    if link_in_the_way(project.output_root, CLUSTERS) is not None:
        totals = compare_all(run)
        return Written(unwritten(run, totals, totals.outcome((_BLOCKED,))), tuple(totals.fresh))
    with only_writer(project):
        _recover(project)
        try:
            return _write(run, unchanged(), work)
        finally:  # what a lost worker left behind, too
            _recover(project)


def _recover(project: Project) -> None:
    recover(project.clusters_folder)
    recover(project.output_root / OUTPUT)


def _write(run: Run, unchanged: Mapping[str, ClusterResult], work: Work) -> Written:
    totals = run.collect(work, few=_FEW_CLUSTERS, known=unchanged)
    add_fleet(run, totals, write_folder)
    _add_strays(run, totals)
    removed = orphans(run.project) if run.is_whole else []
    for name in removed:
        totals.add_folder(name, removal(run.project, name))
    if totals.failed:
        for staged in totals.staged:
            staged.discard()
        return Written(GenerateResult(outcome=totals.outcome((_BLOCKED,))), tuple(totals.fresh))
    for staged in totals.staged:
        staged.commit()
    changed = tuple(sorted(totals.changed))
    outcome = totals.outcome((_sentence(changed, removed, totals),))
    result = GenerateResult(outcome=outcome, changed=changed, removed=tuple(removed), written=True)
    return Written(result, tuple(totals.fresh))


def compare_all(run: Run, known: Mapping[str, ClusterResult] = EMPTY) -> Totals:
    """How all generated folders differ from what is there."""
    totals = run.collect(compare_clusters, few=_FEW_CLUSTERS, known=known)
    add_fleet(run, totals, compare_folder)
    add_leftovers(run, totals)
    return totals


def add_fleet(run: Run, totals: Totals, work: Callable[[GeneratedFolder], FolderResult]) -> None:
    """output/fleet/ is known only when each cluster is."""
    if run.is_whole and not totals.unplanned and link_in_the_way(run.project.output_root, CLUSTERS) is None:
        totals.add_folder(FLEET, work(fleet_folder(run.project, totals.fleet)))


def add_leftovers(run: Run, totals: Totals) -> None:
    """What stands in output/clusters/ and should not: links, clusters without profiles, halves of a killed run."""
    project = run.project
    in_the_way = link_in_the_way(project.output_root, CLUSTERS)
    if in_the_way is not None:
        totals.diagnostics.append(in_the_way)
        return
    for name in _orphans(run):
        totals.diagnostics.append(orphan_finding(name))
    if is_interrupted(project.clusters_folder):
        message = "an interrupted run left something behind"
        totals.diagnostics.append(diagnose(hygiene.OUT_OF_DATE, message, whole_file(CLUSTERS)))
    _add_strays(run, totals)


def _add_strays(run: Run, totals: Totals) -> None:
    """What is in the output, and in no generated folder."""
    if not run.is_whole:
        return
    totals.diagnostics.extend(stray_findings(strays(run.project)))


def unwritten(run: Run, totals: Totals, outcome: Outcome) -> GenerateResult:
    """The result of a run that writes nothing."""
    return GenerateResult(outcome=outcome, changed=tuple(sorted(totals.changed)), removed=tuple(_orphans(run)))


def _orphans(run: Run) -> list[str]:
    if not run.is_whole or link_in_the_way(run.project.output_root, CLUSTERS) is not None:
        return []
    return orphans(run.project)


def _sentence(changed: tuple[str, ...], removed: list[str], totals: Totals) -> str:
    written = tuple(name for name in changed if name != FLEET)
    parts = []
    if written:
        parts.append(f"wrote {len(written)} of {totals.clusters} clusters: {joined(written, _FEW)}")
    if FLEET in changed:
        parts.append(f"wrote {FLEET}")
    if removed:
        parts.append(f"removed {len(removed)} without a profile: {joined(removed, _FEW)}")
    assumed = sum(item.code == ASSUMED_VALUE.code for item in totals.diagnostics)
    lines = (f"{counted(assumed, 'line')} still assumed ({ASSUMED_VALUE.code})",) if assumed else ()
    nothing = f"nothing to write: {totals.files:,} files are as the profiles generate them"
    return "; ".join((*(parts or (nothing,)), *lines))
