"""What the pages of a fleet show. Texts are without secrets; nothing is known here that another verb does not tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    import datetime as dt

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.ledger.reach import Reach
    from poolsmith.interface.report.audit import PrivilegeAudit
    from poolsmith.interface.report.fleet_facts import ClusterFacts, PoolFacts
    from poolsmith.interface.report.inventory import InventoryPool


@record
class GrantedFact:
    """Privileges of a container by the same grant: their tokens, the worst reach, and until when they are granted.

    `grant` is empty where none allows them, `path` the file of the grant.
    """

    container: str
    tokens: tuple[str, ...]
    reach: Reach
    grant: str
    owner: str = ""
    expires: str = ""
    path: str = ""


@record
class SiteWorkload:
    """A workload (`Kind/name`) on a pool, and what it holds there."""

    namespace: str
    workload: str
    reach: Reach
    held: tuple[GrantedFact, ...]


@record
class SitePool:
    """`plan` are the lines of `explain`, `images` those that its nodes pull, `facts` and `stock` what others show."""

    facts: PoolFacts
    stock: InventoryPool
    plan: tuple[str, ...]
    images: tuple[str, ...]
    workloads: tuple[SiteWorkload, ...]
    findings: tuple[Diagnostic, ...] = ()


@record
class SiteCluster:
    """`findings` are all of the cluster, those of its pools among them."""

    facts: ClusterFacts
    pools: tuple[SitePool, ...]
    findings: tuple[Diagnostic, ...] = ()


@record
class Expiry:
    """What ends on a day: a grant, a waiver, what a supply policy accepts, or the support of a branch of drivers."""

    day: str
    kind: str
    what: str
    owner: str = ""
    path: str = ""
    line: int | None = None
    clusters: tuple[str, ...] = ()


@record
class ReleaseInUse:
    """`way`: the releases to go through to the newest that is supported; None where it is not known."""

    release: str
    clusters: tuple[str, ...]
    is_supported: bool
    way: tuple[str, ...] | None
    open_to: tuple[str, ...] = ()


@record
class BranchInUse:
    """A branch of drivers; `ends` is its last month, or None where no source names it."""

    branch: int
    designation: str
    ends: str | None
    ended: bool
    pools: tuple[str, ...] = ()


@record
class Support:
    """As of the days on which the sources were read."""

    releases: tuple[ReleaseInUse, ...]
    branches: tuple[BranchInUse, ...]
    releases_as_of: str
    branches_as_of: str


@record
class SiteFacts:
    """A fleet on a day. `commit` is what is shown, empty outside of git; `audit` is None without a history."""

    today: dt.date
    commit: str
    clusters: tuple[SiteCluster, ...]
    findings: tuple[Diagnostic, ...]
    expiring: tuple[Expiry, ...]
    support: Support
    audit: PrivilegeAudit | None
    since: str = ""
    """From when on the history is told."""
