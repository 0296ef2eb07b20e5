"""What the profiles of a cluster tell by themselves, for a merge that has only heard of the rest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.record import record
from poolsmith.fleet.plan.pipeline import resolve_cluster
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.fleet.profiles.load_cluster import load_cluster
from poolsmith.project.output.batches import in_batches
from poolsmith.project.output.collector import rarely_collecting
from poolsmith.project.output.fleet import FleetEntry, fleet_entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.project.run.project import Project

_FEW = 12
"""So many are looked at sooner than another process is started."""


@record(kw_only=False)
class ToldCluster:
    """A cluster, and what somebody has told of it: whether its profiles are sound, and the namespaces of what its API
    server is to enforce (None for nothing), which follow from what it will run."""

    files: ClusterFiles
    is_sound: bool
    admission: tuple[str, ...] | None


@record
class ProfileFacts:
    """Of one cluster. `is_sound`: output can be generated from its profiles; of one that delivers by no Argo CD that is
    believed where it was told. `beside` are the paths that its profile names."""

    name: str
    is_sound: bool = False
    beside: tuple[str, ...] = ()
    fleet_entry: FleetEntry | None = None


def profile_facts(project: Project, clusters: Sequence[ToldCluster], jobs: int) -> Iterator[ProfileFacts]:
    """In any order. More than a few are shared by processes."""
    return in_batches(partial(_facts_of, project), clusters, jobs, few=_FEW, folders=project.folders)


def _facts_of(project: Project, batch: tuple[ToldCluster, ...]) -> Iterator[ProfileFacts]:
    with rarely_collecting():
        for told in batch:
            yield _facts(project, told)


def _facts(project: Project, told: ToldCluster) -> ProfileFacts:
    loaded = load_cluster(project.tree, told.files, project.bases, project.rings)
    is_broken = any(item.severity is Severity.ERROR for item in loaded.problems)
    if is_broken or loaded.cluster is None or not project.unsound_bases.isdisjoint(loaded.used_bases):
        return ProfileFacts(name=told.files.name)
    spec = loaded.cluster.spec
    if told.is_sound and spec.delivery.engine is not Engine.ARGOCD:
        return ProfileFacts(name=told.files.name, is_sound=True, beside=spec.beside)
    plan = resolve_cluster(loaded, project.catalog).plan
    entry = fleet_entry(plan, told.admission) if plan is not None else None
    return ProfileFacts(name=told.files.name, is_sound=plan is not None, beside=spec.beside, fleet_entry=entry)
