"""What a change disturbs in a cluster: drivers, pods, objects and what workloads ask for, the worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.causes import Causes
from poolsmith.change.diff.change_report import Disruption, DisruptionKind
from poolsmith.change.diff.driver_disruption import driver_disruptions
from poolsmith.change.diff.driver_pods import is_driver
from poolsmith.change.diff.lost_offers import lost_offers
from poolsmith.change.diff.mig_changes import mig_changes
from poolsmith.change.diff.restarts import changed_templates, restart_of, started_and_stopped
from poolsmith.change.diff.rolled_workload import rolled_workloads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.change.review.change import SeenCluster
    from poolsmith.gpu.catalog import Catalog

_ORDER = tuple(DisruptionKind)


def disruptions(
    before: SeenCluster | None,
    after: SeenCluster | None,
    catalog: Catalog,
    renamed: Mapping[str, str] | None = None,
) -> tuple[Disruption, ...]:
    """By kind, then by namespace and name. None where the cluster is not; `renamed` are new names of pools by old."""
    names = dict(renamed or {})
    causes = Causes(before=before, after=after, renamed=names)
    old, new = rolled_workloads(before, names), rolled_workloads(after, {})
    kubernetes = after.plan.cluster.spec.kubernetes.version if after is not None else ""
    changed = {item.new.key: item for item in changed_templates(old, new, kubernetes)}
    found: list[Disruption] = []
    if before is not None and after is not None:
        found.extend(driver_disruptions(before, after, changed, {**old, **new}, causes, catalog))
        found.extend(lost_offers(before, after, causes))
        found.extend(mig_changes(before, after, causes))
    told = {(item.namespace, item.what) for item in found}
    found.extend(
        restart_of(item, after, causes)
        for item in changed.values()
        if (item.new.namespace, item.new.made.workload) not in told
    )
    replaced = {pool for item in found if item.kind is DisruptionKind.DRIVER for pool in item.pools}
    drivers = {(item.namespace, item.made.workload) for item in (*old.values(), *new.values()) if is_driver(item.made)}
    found.extend(
        item
        for item in started_and_stopped(old, new, causes)
        if (item.namespace, item.what) not in drivers or not item.pools or not replaced.issuperset(item.pools)
    )
    return worst_first(found)


def worst_first(found: Iterable[Disruption]) -> tuple[Disruption, ...]:
    """By kind, then by namespace and name."""
    return tuple(sorted(found, key=_order))


def _order(item: Disruption) -> tuple[object, ...]:
    return _ORDER.index(item.kind), item.namespace, item.what, item.pools
