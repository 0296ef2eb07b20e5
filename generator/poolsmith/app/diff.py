"""Use case: what a change does, held against the revision that it is to be merged into.

Git is read without touching the work tree. Clusters that the change can't do anything to are not even loaded.
"""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from poolsmith.app.diff_pairs import Pair, PairContext, diff_pairs
from poolsmith.app.diff_shared import ChangedRepository, shared_findings
from poolsmith.app.diff_side import Side
from poolsmith.app.progress import Progress, silent
from poolsmith.app.project import OUTPUT, Project, open_project
from poolsmith.app.review import base_project
from poolsmith.changes.change_report import ChangeReport, Revision, Standing
from poolsmith.changes.default_base import default_base
from poolsmith.changes.finding_changes import finding_changes
from poolsmith.changes.folder_ids import below, on_disk
from poolsmith.changes.likeness import renamed_clusters
from poolsmith.changes.self_grants import self_grants
from poolsmith.changes.touched_clusters import Touched, may_extend, touched, touched_bases
from poolsmith.diagnostics import UsageError, sorted_unique
from poolsmith.diagnostics.suggest import did_you_mean
from poolsmith.output.batches import in_batches
from poolsmith.output.collector import rarely_collecting
from poolsmith.output.lock_file import LOCK
from poolsmith.policies.apply import POLICY_WIDENING, JudgingOptions
from poolsmith.policies.files import POLICIES
from poolsmith.policies.policies import Policies
from poolsmith.policies.revision import base_at
from poolsmith.profiles.fleet import PROFILES
from poolsmith.profiles.load_cluster import load_cluster
from poolsmith.record import record
from poolsmith.sources.git import Git

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from poolsmith.app.diff_pairs import PairResult
    from poolsmith.policies.base_revision import BaseRevision

BASE, HEAD = "--base", "--head"
_OWN = (PROFILES, POLICIES, OUTPUT)
_FEW_PAIRS = 3
"""So many clusters are compared sooner than another process is started."""


@record
class DiffOptions:
    """What is compared and how. Without a `base` it is the merge base with the remote's default branch; without a
    `head`, what is checked out. `accepted` are those of ACCEPTABLE that somebody who may do so has accepted."""

    today: dt.date
    base: str | None = None
    head: str | None = None
    clusters: tuple[str, ...] = ()
    jobs: int = 1
    accepted: frozenset[str] = frozenset()


@record
class _Compared:
    """Both sides, and what of the base is there to judge by."""

    before: Side
    after: Side
    had_profiles: bool
    base: BaseRevision
    revisions: tuple[Revision, Revision]
    head: BaseRevision | None = None


def diff(root: Path, options: DiffOptions, progress: Progress = silent) -> ChangeReport:
    """Raises UsageError, NoInputError."""
    with rarely_collecting(), _opened(root, options) as compared:
        return _report(root, compared, options, progress)


@contextmanager
def _opened(root: Path, options: DiffOptions) -> Iterator[_Compared]:
    if options.head is None:
        open_project(root)  # says what is wrong with the root before git is asked
    git = Git(root, BASE)
    with ExitStack() as stack:
        newer, head = Revision(name="the work tree"), None
        if options.head is not None:
            newer = Revision(name=options.head, commit=Git(root, HEAD).commit(options.head))
            head = stack.enter_context(base_at(root, newer.commit, HEAD, named=LOCK))
        if options.base is not None:
            older = Revision(name=options.base, commit=git.commit(options.base))
        else:
            older = default_base(git, newer.commit or "HEAD")
        base = stack.enter_context(base_at(root, older.commit, BASE))
        before_files = below(base.files, base.prefix, _OWN)
        project = base_project(base)
        before = Side(project=project or Project(base.folder), files=before_files, repository=root, flag=BASE)
        takes_own = POLICY_WIDENING in options.accepted
        if head is None:
            after = Side(
                project=open_project(root, base.folder, first_supply=takes_own),
                files=on_disk(root, _OWN, before_files),
            )
        else:
            after = Side(
                project=open_project(head.folder, base.folder, first_supply=takes_own),
                files=below(head.files, head.prefix, _OWN),
                repository=root,
                flag=HEAD,
            )
        after.project.beside(before.project)
        yield _Compared(
            before=before,
            after=after,
            had_profiles=project is not None,
            base=base,
            revisions=(older, newer),
            head=head,
        )


def _report(root: Path, compared: _Compared, options: DiffOptions, progress: Progress) -> ChangeReport:
    found = touched(compared.before.files, compared.after.files)
    pairs = _pairs(compared, found)
    chosen = tuple(_chosen(pairs, options.clusters))
    judging = JudgingOptions(today=options.today, base=compared.base, accepted=options.accepted)
    work = [pair for pair in chosen if pair.is_touched]
    context = PairContext(
        before=compared.before, after=compared.after, had_profiles=compared.had_profiles, judging=judging
    )
    progress(0, len(work))
    results: list[PairResult] = []
    for result in in_batches(partial(diff_pairs, context), work, options.jobs, few=_FEW_PAIRS):
        results.append(result)
        progress(len(results), len(work))
    results.sort(key=lambda item: item.name)
    shared = shared_findings(
        compared.before,
        compared.after,
        judging,
        ChangedRepository(
            root=root,
            base=compared.base,
            head=compared.head,
            touched=tuple(pair.after for pair in pairs if pair.is_touched and pair.after is not None),
            before=compared.before.project if compared.had_profiles else None,
        ),
    )
    new, fixed = finding_changes(shared.before, shared.after, {})
    own = Policies(compared.after.project.root)
    return ChangeReport(
        base=compared.revisions[0],
        head=compared.revisions[1],
        self_grants=self_grants(Policies(compared.base.folder), own, shared.judge_changes),
        clusters=tuple(item.diff for item in results if item.diff is not None),
        unchanged_clusters=len([pair for pair in chosen if pair.is_there])
        - sum(1 for item in results if item.diff is not None and item.diff.standing is not Standing.REMOVED),
        pools=sum(item.pools for item in results if item.diff is not None),
        new_findings=sorted_unique((*new, *(one for item in results for one in item.new))),
        fixed_findings=sorted_unique((*fixed, *(one for item in results for one in item.fixed))),
        unknown=(),
    )


def _pairs(compared: _Compared, found: Touched) -> list[Pair]:
    """The clusters of both sides, by the name that they have now; renamed ones are told by their content."""
    before, after = compared.before.project, compared.after.project
    then = {files.name: files for files in before.fleet.clusters} if compared.had_profiles else {}
    now = {files.name: files for files in after.fleet.clusters}
    gone = {name: load_cluster(before.tree, then[name], before.bases) for name in then.keys() - now.keys()}
    come = {name: load_cluster(after.tree, now[name], after.bases) for name in now.keys() - then.keys()}
    renamed = renamed_clusters(gone, come)
    names = (
        touched_bases(found, (before.bases, after.bases) if compared.had_profiles else (after.bases,))
        if found.bases
        else None
    )
    pairs = []
    for name, files in now.items():
        older = then.get(renamed.get(name, name))
        is_touched = (
            bool(found.why_all)
            or older is None
            or name in renamed
            or name in found.by_folder
            or (names is not None and may_extend(after.tree, files, names))
        )
        pairs.append(Pair(before=older, after=files, is_touched=is_touched))
    pairs += [Pair(before=then[name], after=None) for name in gone if name not in renamed.values()]
    return sorted(pairs, key=lambda pair: pair.name)


def _chosen(pairs: Sequence[Pair], names: Sequence[str]) -> Iterator[Pair]:
    known = {name for pair in pairs for name in pair.names}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no cluster `{name}`; {did_you_mean(name, sorted(known))}")
    yield from (pair for pair in pairs if not names or not pair.names.isdisjoint(names))
