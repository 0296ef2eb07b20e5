"""Use case: the facts of a fleet for a report: its pools, its workloads, and what each may do."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import TYPE_CHECKING

from poolsmith.change.diff.privilege_words import may
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.sources.pointer import dotted_pointer
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.guard.ledger.ledger import ANY_NODE
from poolsmith.guard.ledger.reach import Reach
from poolsmith.guard.policies.revision import folder_at
from poolsmith.interface.report.fleet_facts import Cause, ClusterFacts, FleetFacts, HeldFact, PoolFacts, WorkloadFacts
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.output.helm_values import origin_text
from poolsmith.project.output.readme import driver_words, layout_words
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.guard.ledger.ledger import LineOrigin
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.ledger.privilege import Privilege
    from poolsmith.guard.ledger.workload_ledger import WorkloadLedger
    from poolsmith.project.run.cluster_run import PlannedCluster

_ERRORS = "its profiles have errors: nothing can be said of it"


def fleet_facts(root: Path, clusters: Sequence[str] = (), revision: str | None = None) -> FleetFacts:
    """Of the clusters named, or all, as they stand in the work tree or at a git revision.

    A cluster of that name that is not there is left out. Raises UsageError, NoInputError.
    """
    with (
        rarely_collecting(),
        folder_at(root, revision, PROFILES, "--head") if revision is not None else nullcontext(root) as folder,
    ):
        project = open_project(folder)
        told = privilege_words()
        wanted = [files for files in project.fleet.clusters if not clusters or files.name in clusters]
        return FleetFacts(tuple(cluster_facts(plan_cluster(project, files), told) for files in wanted))


def privilege_words() -> Callable[[Privilege], tuple[str, str]]:
    """A privilege in words and as its token. The same few thousand are asked for again and again."""

    @cache
    def told(privilege: Privilege) -> tuple[str, str]:
        return masked(may(privilege)), masked(str(privilege))

    return told


def cluster_facts(run: PlannedCluster, told: Callable[[Privilege], tuple[str, str]]) -> ClusterFacts:
    prediction = run.prediction
    if prediction is None:
        return ClusterFacts(name=run.loaded.name, unknown=(_ERRORS,))
    spec = prediction.plan.cluster.spec
    cause = _causes(run)
    workloads = tuple(_workload(item, cause, told) for item in prediction.cluster_ledger().workloads)
    paths = {item.pool.name: item.layers.own.path for item in run.loaded.pools}
    return ClusterFacts(
        name=run.loaded.name,
        release=prediction.installation.release,
        kubernetes=f"{spec.kubernetes.version} {spec.kubernetes.distribution}",
        engine=spec.delivery.engine.value,
        ring=spec.ring or "",
        pools=tuple(_pool(pool, prediction, paths.get(pool.name, "")) for pool in prediction.plan.pools),
        workloads=tuple(sorted(workloads, key=lambda item: (item.reach, item.namespace, item.workload))),
        unknown=tuple(map(masked, prediction.unknown)),
    )


def _pool(pool: PoolPlan, prediction: Prediction, path: str) -> PoolFacts:
    spec = pool.profile.spec
    return PoolFacts(
        name=pool.name,
        system=spec.system_words,
        kernel=spec.kernel_words or "any",
        runtime=" ".join(filter(None, (spec.runtime.name, spec.runtime.version))),
        gpu=f"{spec.gpu.count} x {spec.gpu.product}",
        driver=masked(driver_words(pool)),
        sharing=layout_words(pool),
        workload=spec.workload.value,
        reach=min(
            (line.reach for line in prediction.ledger.lines if line.pool in (pool.name, ANY_NODE)), default=Reach.NONE
        ),
        nodes=spec.nodes.count or len(pool.node_names) or None,
        path=path,
    )


def _workload(
    item: WorkloadLedger, cause: Callable[[LineOrigin], Cause], told: Callable[[Privilege], tuple[str, str]]
) -> WorkloadFacts:
    causes = (*item.origins, *(origin for _, origins in item.pool_origins for origin in origins))
    return WorkloadFacts(
        namespace=item.namespace,
        workload=item.workload,
        maker=f"{item.maker}, {masked(item.through)}" if item.through else item.maker,
        reach=item.reach,
        pools=item.pools,
        held=tuple(
            HeldFact(
                container=container.name,
                words=told(held.privilege)[0],
                token=told(held.privilege)[1],
                reach=held.reach,
                causes=tuple(map(cause, dict.fromkeys((*held.origins, *container.origins)))),
            )
            for container in item.containers
            for held in sorted(container.held, key=lambda one: one.reach)
        ),
        causes=tuple(map(cause, dict.fromkeys(causes))),
    )


def _causes(run: PlannedCluster) -> Callable[[LineOrigin], Cause]:
    files = run.loaded.files

    @cache
    def told(origin: LineOrigin) -> Cause:
        if not isinstance(origin, FromProfile) or origin.path not in files:
            return Cause(masked(origin_text(origin)))
        start = files[origin.path].locate(origin.pointer).span.start
        return Cause(dotted_pointer(origin.pointer), origin.path, start.line if start is not None else None)

    return told
