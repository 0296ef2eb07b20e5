"""A cluster's ledger gathered by workload, each privilege with its origins.

What a workload holds is the same on each pool where it runs.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import account_of, pod_template_of
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.guard.ledger.ledger import Ledger, LineOrigin, LineOrigins, Row
    from poolsmith.guard.ledger.origins import Origins
    from poolsmith.guard.ledger.privilege import Privilege


@record(kw_only=False)
class HeldPrivilege:
    """`origins` are those that the workload's and the container's own do not tell."""

    privilege: Privilege
    reach: Reach
    origins: LineOrigins = ()


@record
class ContainerLedger:
    """What one container holds; without a name, what the pod holds as a whole, the rights of its account included."""

    name: str
    held: tuple[HeldPrivilege, ...]
    origins: LineOrigins = ()


@record
class WorkloadLedger:
    """`account` is the service account, in the same namespace.

    `pools` are the names of pools, ANY_NODE or NO_KNOWN_NODE; `pool_origins` tell what gets it to some of them.
    """

    namespace: str
    workload: str
    account: str
    maker: str
    through: str
    origins: LineOrigins
    pools: tuple[str, ...]
    containers: tuple[ContainerLedger, ...]
    pool_origins: tuple[tuple[str, LineOrigins], ...] = ()

    @property
    def reach(self) -> Reach:
        return min((item.reach for container in self.containers for item in container.held), default=Reach.NONE)


@record
class ClusterLedger:
    """`unknown` is what could not be evaluated, `errors` what the chart or the operator would report."""

    cluster: str
    release: str
    workloads: tuple[WorkloadLedger, ...] = ()
    unknown: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def by_workload(ledger: Ledger, origins: Origins) -> tuple[WorkloadLedger, ...]:
    """By namespace, kind and name. What a workload holds is the same on all of its pools, and read on the first."""
    made = origins.made
    first = {key: pools[0] for key, pools in ledger.landing.items()}
    rows = {item.key: item.rows for item in ledger.holders if first[item.key] in item.pools}
    return tuple(
        WorkloadLedger(
            namespace=key.partition("/")[0],
            workload=made[key].workload,
            account=account_of(pod_template_of(made[key].body)),
            maker=made[key].maker.value,
            through=made[key].through,
            origins=origins.of_workload(key),
            pools=pools,
            pool_origins=tuple((pool, found) for pool in pools if (found := origins.of_pool(key, pool))),
            containers=_containers(key, rows.get(key, ()), pools, origins),
        )
        for key, pools in sorted(ledger.landing.items())
    )


def _containers(
    key: str, rows: tuple[Row, ...], pools: tuple[str, ...], origins: Origins
) -> tuple[ContainerLedger, ...]:
    containers = []
    known = origins.of_workload(key)
    for name, group in groupby(rows, itemgetter(0)):
        own = _of_all(origins.of_container(name, pool) for pool in pools)
        told: set[LineOrigin] = {*known, *own}
        held = tuple(
            HeldPrivilege(held, reach, _of_row(key, name, held, pools, origins, told)) for _, held, reach in group
        )
        containers.append(ContainerLedger(name=name, origins=own, held=held))
    return tuple(containers)


def _of_row(
    key: str, container: str, held: Privilege, pools: tuple[str, ...], origins: Origins, known: set[LineOrigin]
) -> LineOrigins:
    """What brings one privilege, and not all that its workload or its container holds."""
    found = (*origins.of_values(key, container, held, pools), *origins.of_privilege(key, held, pools))
    return tuple(origin for origin in dict.fromkeys(found) if origin not in known) if found else ()


def _of_all(found: Iterable[LineOrigins]) -> LineOrigins:
    """Each once; the same lines are told for many pools."""
    unlike = {id(origins): origins for origins in found}
    return tuple(dict.fromkeys(origin for origins in unlike.values() for origin in origins))
