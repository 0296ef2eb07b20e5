"""New pools whose nodes may be taken over by leave that nobody gave for them: grants for pools by a pattern.

A grant for `*` was reviewed when it was written. A pool that comes later is admitted without a finding; whoever merges
it has to be told once, and not by each privilege.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import AdmittedPool, PoolChange
from poolsmith.change.diff.told import Point, Weight
from poolsmith.core.diagnostics.listing import counted, listed
from poolsmith.core.diagnostics.printable import shorten
from poolsmith.guard.ledger.reach import Reach
from poolsmith.kubernetes.server.field_change import Standing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.change.diff.change_report import ClusterDiff
    from poolsmith.change.review.change import SeenCluster
    from poolsmith.guard.ledger.grants.matching import GrantBook

_FEW = 3


def admitted_pools(
    after: SeenCluster, pools: Iterable[PoolChange], grants: GrantBook | None
) -> tuple[AdmittedPool, ...]:
    """Of the pools that are new; `grants` are those that judge, None where none are kept."""
    new = {pool.name: pool for pool in pools if pool.standing is Standing.ADDED}
    if grants is None or not new:
        return ()
    repositories = grants.repositories(after.prediction.installation.made, after.plan.cluster.spec.registry.mirrors)
    given = grants.of_cluster(after.plan.name)
    found: dict[str, set[tuple[str, str]]] = {}
    leave: dict[str, dict[str, None]] = {}
    for line in after.prediction.ledger.lines:
        if line.pool not in new or line.reach is not Reach.NODE_ROOT:
            continue
        repository = repositories.get((line.namespace, line.workload, line.container), "")
        allowing = [grants.grants[item.grant] for item in grants.granting(line, repository, given)]
        if allowing and not any(line.pool in grant.spec.pools for grant in allowing):
            found.setdefault(line.pool, set()).add((line.workload, line.container))
            leave.setdefault(line.pool, {}).update(dict.fromkeys(grant.name for grant in allowing[:1]))
    return tuple(
        AdmittedPool(
            pool=name,
            workloads=len({workload for workload, _ in found[name]}),
            containers=len(found[name]),
            grants=tuple(sorted(leave[name])),
            place=new[name].place,
        )
        for name in sorted(found)
    )


def admitted_points(clusters: Iterable[ClusterDiff]) -> Iterator[Point]:
    """Once for the pools of a cluster that are admitted alike."""
    for cluster in clusters:
        alike: dict[tuple[object, ...], list[AdmittedPool]] = {}
        for item in cluster.admitted:
            alike.setdefault((item.workloads, item.grants), []).append(item)
        for items in alike.values():
            who, first = counted(items[0].workloads, "workload"), items[0]
            named = listed((shorten(item.pool) for item in items), _FEW)
            pools = f"pool {named} is" if len(items) == 1 else f"pools {named} are"
            which = "this one" if len(items) == 1 else "these"
            yield Point(
                words=f"{pools} new: {who} may be root there, by {counted(len(first.grants), 'grant')} for pools by a "
                f"pattern and not for {which} ({listed(map(shorten, first.grants), _FEW)})",
                weight=Weight.NOTABLE,
                clusters=(cluster.name,),
                places=tuple(item.place for item in items if item.place is not None),
                stands_for=len(items),
            )
