"""Use case: another release or driver for clusters, told before it is written, and then written.

The edited profiles are generated in a folder of their own, and compared with what is there: the same comparison as
that of two revisions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import ChangeReport, ReleaseChangeKind
from poolsmith.change.upgrade_edits import Edit, Edits, done_edits, driver_edits, release_edits
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.record import record
from poolsmith.interface.app.edited_profiles import compared, copy_of, put_in_place, write_all
from poolsmith.interface.app.generate import generate
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.project import open_project
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.project.run.project import Project


@record
class UpgradeOptions:
    """What is asked for: one of a `release`, a `driver`, and `done`, the end of an upgrade."""

    today: dt.date
    release: str | None = None
    driver: str | None = None
    done: bool = False
    edits_bases: bool = False
    dry_run: bool = False
    jobs: int = 1


@record
class Upgrade:
    """`report` is None where there is nothing to do, or where `refused` says why the edited profiles are not sound."""

    edits: tuple[Edit, ...]
    clusters: tuple[str, ...]
    report: ChangeReport | None = None
    refused: Outcome | None = None
    written: bool = False
    steps: tuple[str, ...] = ()


@with_facts
def upgrade(root: Path, targets: Sequence[str], options: UpgradeOptions, progress: Progress = silent) -> Upgrade:
    """Raises UsageError, NoInputError, WriteError; what is raised before profiles are written leaves all as it was."""
    project = open_project(root)
    with rarely_collecting(), copy_of(root) as copy:
        edits = _edits(project, copy, targets, options)
        if not edits.lines:
            return Upgrade(edits=(), clusters=edits.clusters)
        write_all(copy, edits.after)
        made = generate(copy, clusters=edits.clusters, jobs=options.jobs, progress=progress)
        if not made.written:
            return Upgrade(edits=edits.lines, clusters=edits.clusters, refused=made.outcome)
        report = compared(
            project, open_project(copy), {name: name for name in edits.clusters}, options.today, what="the upgrade"
        )
    if not options.dry_run:
        put_in_place(project, edits)
        written = generate(root, jobs=options.jobs, progress=progress)
        if not written.written:
            return Upgrade(
                edits=edits.lines, clusters=edits.clusters, report=report, refused=written.outcome, written=True
            )
    return Upgrade(
        edits=edits.lines,
        clusters=edits.clusters,
        report=report,
        written=not options.dry_run,
        steps=_steps(edits, report, options),
    )


def _edits(project: Project, copy: Path, targets: Sequence[str], options: UpgradeOptions) -> Edits:
    """Raises UsageError, NoInputError."""
    if options.driver is not None:
        return driver_edits(project, targets, options.driver, edits_bases=options.edits_bases)
    if names := [target for target in targets if "/" in target]:
        raise UsageError(f"a release is one for a cluster: write `{names[0].partition('/')[0]}`, without the pool")
    if options.done:
        return done_edits(project, targets)
    assert options.release is not None, "one of the three is asked for"
    alone = release_edits(project, targets, options.release, accepting=frozenset())
    both = release_edits(project, targets, options.release, accepting=frozenset(alone.clusters))
    then, now = (_admission(copy, edits) for edits in (alone, both))
    accepting = frozenset(name for name in both.clusters if then[name] != now[name] or now[name] is None)
    return release_edits(project, targets, options.release, accepting=accepting)


def _admission(copy: Path, edits: Edits) -> dict[str, str | None]:
    """The admission policies of the edited clusters; None where the profiles have errors then."""
    write_all(copy, edits.after)
    project = open_project(copy)
    found = {}
    for files in project.select(edits.clusters) if edits.clusters else ():
        run = run_cluster(project, files)
        found[files.name] = None if run.failed else repr(run.admission)
    write_all(copy, edits.before)
    return found


def _steps(edits: Edits, report: ChangeReport, options: UpgradeOptions) -> tuple[str, ...]:
    """What is left to do, in order."""
    names = " ".join(edits.clusters)
    found = []
    if any(item.severity == "error" and not item.is_waived for item in report.new_findings):
        found.append("settle the new errors: privileges that you want have to be granted (`poolsmith grants --write`)")
    kinds = {item.kind for cluster in report.clusters for item in cluster.release}
    found.append("commit, have it reviewed, and merge: one ring after the other")
    if ReleaseChangeKind.BY_HAND in kinds:
        found.append("apply the definitions of the release in each cluster that the merge has reached")
    found.append("wait until the new pods are ready on all nodes: the README of the cluster has what to look at")
    if ReleaseChangeKind.ACCEPTED in kinds:
        found.append(f"then accept pods of the new release only: `poolsmith upgrade {names} --done`")
    return () if options.done else tuple(found)
