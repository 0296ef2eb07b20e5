"""Use case: a fleet as pages. Everything on them is what the other verbs tell of the same files."""

from __future__ import annotations

import datetime as dt
import os
from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.change.diff.touched_clusters import of_clusters
from poolsmith.change.review.seen_cluster import SeenCluster
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record
from poolsmith.core.sources.git import Git
from poolsmith.gpu.catalog.limits import limits
from poolsmith.gpu.catalog.upgrades import steps
from poolsmith.guard.ledger.grants.grant import written_privileges
from poolsmith.guard.ledger.ledger import ANY_NODE
from poolsmith.guard.policies.applied_policies import JudgingOptions
from poolsmith.interface.app.audit import audit
from poolsmith.interface.app.check_project import check_project
from poolsmith.interface.app.explain import pool_lines
from poolsmith.interface.app.fleet_facts import cluster_facts, privilege_words
from poolsmith.interface.app.inventory import pools_of
from poolsmith.interface.app.site_folder import write_site
from poolsmith.interface.report.site.facts import (
    BranchInUse,
    Expiry,
    GrantedFact,
    ReleaseInUse,
    SiteCluster,
    SiteFacts,
    SitePool,
    SiteWorkload,
    Support,
)
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.project import CLUSTERS, open_project
from poolsmith.project.run.run_options import Progress, silent

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.gpu.catalog.limits import Branch
    from poolsmith.guard.ledger.ledger import LedgerLine
    from poolsmith.interface.report.audit import PrivilegeAudit
    from poolsmith.interface.report.fleet_facts import ClusterFacts
    from poolsmith.interface.report.formats import ReportContext
    from poolsmith.project.run.cluster_run import PlannedCluster
    from poolsmith.project.run.project import Project

DAYS = 90
"""What ends within them is told."""


@record
class SiteOptions:
    """`since`: the history is told from this revision or day on; None: of one year."""

    today: dt.date
    since: str | None = None
    jobs: int = 1


def write_fleet_site(
    root: Path, folder: Path, options: SiteOptions, context: ReportContext, progress: Progress = silent
) -> int:
    """How many pages. Raises UsageError, NoInputError, WriteError."""
    from poolsmith.interface.report.site.pages import pages  # on demand

    facts = site_facts(root, options, progress)
    return write_site(root, folder, pages(facts, context))


@with_facts
def site_facts(root: Path, options: SiteOptions, progress: Progress = silent) -> SiteFacts:
    """Raises UsageError, NoInputError."""
    outcome = check_project(root, jobs=options.jobs, judging=JudgingOptions(today=options.today), progress=progress)
    findings = _Findings(outcome.diagnostics)
    with rarely_collecting():
        project = open_project(root)
        told = privilege_words()
        runs = [plan_cluster(project, files) for files in project.fleet.clusters]
        clusters = tuple(_cluster(project, run, cluster_facts(run, told), findings) for run in runs)
    support = _support(project, runs)
    history, since = _history(root, options)
    return SiteFacts(
        today=options.today,
        commit=_commit(root),
        clusters=clusters,
        findings=outcome.diagnostics,
        expiring=tuple(
            sorted(_expiring(project, runs, support, options.today), key=lambda item: (item.day, item.what))
        ),
        support=support,
        audit=history,
        since=since,
    )


class _Findings:
    """By cluster and by pool, as far as the place of a finding or one beside it says whose it is."""

    def __init__(self, found: Iterable[Diagnostic]) -> None:
        self.of_cluster: dict[str, list[Diagnostic]] = defaultdict(list)
        self.of_profile: dict[str, list[Diagnostic]] = defaultdict(list)
        for item in found:
            paths = dict.fromkeys(place.span.path for place in (item.primary, *item.related))
            for name in dict.fromkeys(filter(None, map(_cluster_of, paths))):
                self.of_cluster[name].append(item)
            for path in paths:
                self.of_profile[path].append(item)


def _cluster_of(path: str) -> str:
    return path.removeprefix(f"{CLUSTERS}/").partition("/")[0] if path.startswith(f"{CLUSTERS}/") else of_clusters(path)


def _cluster(project: Project, run: PlannedCluster, facts: ClusterFacts, findings: _Findings) -> SiteCluster:
    found = tuple(findings.of_cluster[run.loaded.name])
    if run.plan is None or run.prediction is None:
        return SiteCluster(facts=facts, pools=(), findings=found)
    stock = {item.pool: item for item in pools_of(SeenCluster(run.loaded, run.plan, run.prediction))}
    grants = _Grants(project, run)
    uses = run.prediction.images()
    by_name = {item.name: item for item in facts.pools}
    pools = tuple(
        SitePool(
            facts=by_name[pool.name],
            stock=stock[pool.name],
            plan=tuple(pool_lines(run.plan, pool, run)[1:]),
            images=tuple(sorted({use.image for use in uses if {pool.name, ANY_NODE}.intersection(use.pools)})),
            workloads=tuple(grants.of_pool(pool.name)),
            findings=tuple(findings.of_profile[pool.profile.path]),
        )
        for pool in run.plan.pools
    )
    return SiteCluster(facts=facts, pools=pools, findings=found)


class _Grants:
    """What the workloads of a cluster hold, and by which grants."""

    def __init__(self, project: Project, run: PlannedCluster) -> None:
        assert run.prediction is not None, "asked only of clusters that are sound"
        self._book = project.policies.book
        self._files = {item.grant.name: item.file.path for item in project.policies.grants[0]}
        self._given = self._book.of_cluster(run.loaded.name)
        mirrors = run.prediction.plan.cluster.spec.registry.mirrors
        self._repositories = self._book.repositories(run.prediction.installation.made, mirrors)
        self._lines: dict[str, dict[tuple[str, str], list[LedgerLine]]] = defaultdict(lambda: defaultdict(list))
        for line in run.prediction.ledger.lines:
            self._lines[line.pool][line.namespace, line.workload].append(line)

    def of_pool(self, pool: str) -> Iterator[SiteWorkload]:
        """The worst reach first; what may run on any node runs on these too."""
        found = [*self._lines[pool].items(), *self._lines[ANY_NODE].items()]
        for (namespace, workload), lines in sorted(
            found, key=lambda item: (min(one.reach for one in item[1]), item[0])
        ):
            yield SiteWorkload(
                namespace=namespace,
                workload=workload,
                reach=min(line.reach for line in lines),
                held=tuple(self._held(lines)),
            )

    def _held(self, lines: Iterable[LedgerLine]) -> Iterator[GrantedFact]:
        alike: dict[tuple[str, int], list[LedgerLine]] = defaultdict(list)
        for line in lines:
            repository = self._repositories.get((line.namespace, line.workload, line.container), "")
            needed = self._book.needed(line, repository, self._given)
            alike[line.container, -1 if needed is None else needed.grant].append(line)
        for (container, index), held in sorted(alike.items()):
            grant = self._book.grants[index] if index >= 0 else None
            yield GrantedFact(
                container=container,
                tokens=tuple(map(masked, written_privileges(sorted(line.privilege for line in held)))),
                reach=min(line.reach for line in held),
                grant=grant.name if grant is not None else "",
                owner=masked(grant.spec.owner or "") if grant is not None else "",
                expires=(grant.spec.expires or "") if grant is not None else "",
                path=self._files.get(grant.name, "") if grant is not None else "",
            )


def _expiring(project: Project, runs: Iterable[PlannedCluster], support: Support, today: dt.date) -> Iterator[Expiry]:
    """What has ended, and what ends within DAYS."""
    last = (today + dt.timedelta(days=DAYS)).isoformat()
    names = [run.loaded.name for run in runs]
    policies = project.policies
    for loaded in policies.grants[0]:
        grant = loaded.grant
        if grant.last_day is not None and grant.last_day.isoformat() <= last:
            place = loaded.file.locate("/spec/expires")
            where = tuple(
                name for name in names if policies.book.cluster_patterns(policies.book.grants.index(grant), name)
            )
            yield _expiry("grant", grant.last_day, grant.name, place, owner=grant.spec.owner or "", clusters=where)
    for waiver in policies.waivers[0]:
        if waiver.last_day.isoformat() <= last:
            what = f"{waiver.rule.name} of {waiver.waiver.subject}"
            yield _expiry("waiver", waiver.last_day, what, waiver.place, owner=waiver.waiver.owner)
    for accepted in (*policies.supply.unknown, *policies.supply.settings):
        if accepted.last_day.isoformat() <= last:
            yield _expiry(
                "accepted by the supply policy", accepted.last_day, accepted.said.replace("`", ""), accepted.place
            )
    for branch in support.branches:
        if branch.ends is not None and branch.ends <= last[: len(branch.ends)]:
            what = f"R{branch.branch}, {branch.designation or 'a branch of drivers'}"
            clusters = tuple(dict.fromkeys(name.partition("/")[0] for name in branch.pools))
            yield Expiry(day=branch.ends, kind="support of a driver", what=what, clusters=clusters)


def _expiry(
    kind: str, day: dt.date, what: str, place: Location, *, owner: str = "", clusters: tuple[str, ...] = ()
) -> Expiry:
    span = place.span
    line = span.start.line if span.start is not None else None
    return Expiry(
        day=day.isoformat(),
        kind=kind,
        what=masked(what),
        owner=masked(owner),
        path=span.path,
        line=line,
        clusters=clusters,
    )


def _support(project: Project, runs: Iterable[PlannedCluster]) -> Support:
    releases: dict[str, list[str]] = defaultdict(list)
    branches: dict[int, list[str]] = defaultdict(list)
    for run in runs:
        if run.plan is None or run.prediction is None:
            continue
        releases[run.prediction.installation.release].append(run.plan.name)
        for pool in run.plan.pools:
            head = (pool.driver.version or "").partition(".")[0] if pool.driver is not None else ""
            if head.isdecimal():
                branches[int(head)].append(f"{run.plan.name}/{pool.name}")
    known, catalog = limits(), project.catalog.releases
    newest = max((tag for tag in catalog.by_tag if catalog.is_supported(tag)), key=version_key, default=None)
    return Support(
        releases=tuple(
            ReleaseInUse(
                release=tag,
                clusters=tuple(names),
                is_supported=catalog.is_supported(tag),
                way=steps(catalog, tag, newest) if newest is not None and newest != tag else (),
                open_to=tuple(item.shown for item in known.of_operator(tag)),
            )
            for tag, names in sorted(releases.items(), key=lambda item: version_key(item[0]))
        ),
        branches=tuple(_branch(number, known.branches, tuple(pools)) for number, pools in sorted(branches.items())),
        releases_as_of=catalog.supported_as_of,
        branches_as_of=known.as_of,
    )


def _branch(number: int, known: Mapping[int, Branch], pools: tuple[str, ...]) -> BranchInUse:
    found = known.get(number)
    return BranchInUse(
        branch=number,
        designation=(found.designation or "") if found is not None else "",
        ends=found.ends if found is not None else None,
        ended=found is not None and found.ended,
        pools=pools,
    )


def _history(root: Path, options: SiteOptions) -> tuple[PrivilegeAudit | None, str]:
    """None outside of git, or before the first commit, unless somebody asked for a part of it."""
    since = options.since or (options.today - dt.timedelta(days=365)).isoformat()
    try:
        return audit(root, since), since
    except UsageError:
        if options.since is not None:
            raise
        return None, since


def _commit(root: Path) -> str:
    if not any(os.path.lexists(folder / ".git") for folder in (root.resolve(), *root.resolve().parents)):
        return ""
    found = Git(root, "--root").run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", may_fail=True)
    return found.stdout.decode().strip() if found.returncode == 0 else ""
