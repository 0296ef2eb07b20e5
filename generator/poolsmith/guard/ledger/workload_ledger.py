"""A cluster's ledger, workload by workload: what one holds is the same on each pool where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from poolsmith.guard.ledger.line_origin import LineOrigins
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
