"""A fleet as a report shows it: pools, and who may do what to them. Texts are without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.guard.ledger.reach import Reach


@record(kw_only=False)
class Cause:
    """Why something is there, in words; with the line of a profile, where it is one."""

    text: str
    path: str = ""
    line: int | None = None


@record
class HeldFact:
    """A privilege: the sentence `may ...` without its first word, its token, and what causes this one alone."""

    container: str
    words: str
    token: str
    reach: Reach
    causes: tuple[Cause, ...] = ()


@record
class WorkloadFacts:
    """A workload (`Kind/name`). `pools` are names of pools, ANY_NODE or NO_KNOWN_NODE."""

    namespace: str
    workload: str
    maker: str
    reach: Reach
    pools: tuple[str, ...]
    held: tuple[HeldFact, ...]
    causes: tuple[Cause, ...] = ()


@record
class PoolFacts:
    """A pool in the words of its profile; `reach` is the worst of what runs there. `nodes` is None where untold."""

    name: str
    system: str
    kernel: str
    runtime: str
    gpu: str
    driver: str
    sharing: str
    workload: str
    reach: Reach
    nodes: int | None = None
    path: str = ""


@record
class ClusterFacts:
    """A cluster; without pools where its profiles have errors."""

    name: str
    release: str = ""
    kubernetes: str = ""
    engine: str = ""
    ring: str = ""
    pools: tuple[PoolFacts, ...] = ()
    workloads: tuple[WorkloadFacts, ...] = ()
    unknown: tuple[str, ...] = ()


@record(kw_only=False)
class FleetFacts:
    """All clusters that were looked at, by name."""

    clusters: tuple[ClusterFacts, ...] = ()

    @property
    def pools(self) -> int:
        return sum(len(cluster.pools) for cluster in self.clusters)
