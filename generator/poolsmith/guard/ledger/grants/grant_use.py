"""What the lines of ledgers need of the grants, found per cluster and merged, and what rules on grants see of it.

Any process can do the part of a cluster.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.record import record, replace
from poolsmith.guard.ledger.grants.grant_proposal import proposals
from poolsmith.guard.ledger.grants.matching import GrantBook, pool_matches
from poolsmith.guard.ledger.ledger import LedgerLine, line_order

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from poolsmith.fleet.plan.origin import FromProfile
    from poolsmith.guard.ledger.grants.grant import PrivilegeGrant
    from poolsmith.guard.ledger.grants.grant_files import LoadedGrant
    from poolsmith.guard.ledger.grants.grant_proposal import ClusterNeeds, Proposal
    from poolsmith.guard.ledger.ledger import Ledger, LineOrigins
    from poolsmith.guard.ledger.ledger_view import PrivilegeView
    from poolsmith.guard.ledger.privilege import Privilege


Place = tuple[int, int]
"""A token: the place of its grant among the grants, and its own in the grant."""


@record(kw_only=False)
class LedgerUse:
    """Grants are told by their places. A line uses the token that is nearest to it, the first of equal ones.

    `wider` are the lines of each token that says more than they do; `met` are grants for a workload that there is.
    """

    lines: int = 0
    ungranted: int = 0
    exact: frozenset[Place] = frozenset()
    wider: Mapping[Place, frozenset[Privilege]] = field(default_factory=dict)
    containers: frozenset[tuple[int, str]] = frozenset()
    repositories: frozenset[tuple[int, str]] = frozenset()
    pools: frozenset[tuple[int, str]] = frozenset()
    met: frozenset[int] = frozenset()

    @property
    def grants(self) -> frozenset[int]:
        """Those that some line uses."""
        return frozenset(grant for grant, _ in self.pools)

    def beside(self, running: LedgerUse) -> LedgerUse:
        """With the grants that a release needs which is about to go; its lines are not counted."""
        places = self.wider.keys() | running.wider.keys()
        nothing: frozenset[Privilege] = frozenset()
        return replace(
            self,
            exact=self.exact | running.exact,
            wider={place: self.wider.get(place, nothing) | running.wider.get(place, nothing) for place in places},
            containers=self.containers | running.containers,
            repositories=self.repositories | running.repositories,
            pools=self.pools | running.pools,
            met=self.met | running.met,
        )


@record
class GrantUse:
    """One cluster's. `is_known` says whether all of its ledger could be told, `is_blind` that nearly nothing could."""

    cluster: str
    use: LedgerUse
    is_known: bool = True
    is_blind: bool = False


@record
class FleetUse:
    """Of all clusters that were looked at; `clusters` are the patterns of grants that some cluster needs."""

    use: LedgerUse
    clusters: frozenset[tuple[int, str]] = frozenset()
    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    blind: tuple[str, ...] = ()


def ungranted_use(ledger: Ledger) -> LedgerUse:
    """As `ledger_use` says it where no grant is given, without asking for each line."""
    return LedgerUse(lines=ledger.count, ungranted=ledger.count)


def ledger_use(
    ledger: Ledger, repositories: Mapping[tuple[str, str, str], str], book: GrantBook, given: frozenset[int]
) -> tuple[LedgerUse, tuple[LedgerLine, ...]]:
    """What a ledger needs of the grants at the places `given`, and the lines that none of them allows."""
    ungranted: list[LedgerLine] = []
    exact: set[Place] = set()
    wider: defaultdict[Place, set[Privilege]] = defaultdict(set)
    containers: set[tuple[int, str]] = set()
    images: set[tuple[int, str]] = set()
    pools: set[tuple[int, str]] = set()
    for holder, (container, privilege, reach) in ((item, row) for item in ledger.holders for row in item.rows):
        repository = repositories.get((holder.namespace, holder.workload, container), "")
        found = book.nearest(holder.workload, container, repository, privilege, given)
        for pool in holder.pools:
            needed = next((item for item in found if book.in_pool(item.grant, pool)), None)
            if needed is None:
                line = LedgerLine(pool, holder.workload, container, privilege, reach, (), holder.namespace)
                ungranted.append(line)
                continue
            grant, token, is_exact = needed
            if is_exact:
                exact.add((grant, token))
            else:
                wider[grant, token].add(privilege)
            pools.add((grant, pool))
            if container:
                containers.add((grant, container))
                images.add((grant, repository))
    workloads = {holder.workload for holder in ledger.holders} | {key.partition("/")[2] for key in ledger.landing}
    use = LedgerUse(
        lines=ledger.count,
        ungranted=len(ungranted),
        exact=frozenset(exact),
        wider={place: frozenset(found) for place, found in wider.items()},
        containers=frozenset(containers),
        repositories=frozenset(images),
        pools=frozenset(_patterns(book, pools)),
        met=given & {grant for name in workloads for grant in book.of_workload(name)},
    )
    return use, tuple(sorted(ungranted, key=line_order))


def merged_use(uses: Iterable[GrantUse], book: GrantBook) -> FleetUse:
    """Of all clusters together; what alike clusters share is looked at once."""
    by_cluster = sorted(uses, key=lambda item: item.cluster)
    distinct = list({id(item.use): item.use for item in by_cluster}.values())
    wider: defaultdict[Place, set[Privilege]] = defaultdict(set)
    for use in distinct:
        for place, found in use.wider.items():
            wider[place] |= found
    used = {id(use): use.grants for use in distinct}
    return FleetUse(
        use=LedgerUse(
            lines=sum(item.use.lines for item in by_cluster),
            ungranted=sum(item.use.ungranted for item in by_cluster),
            exact=frozenset().union(*(use.exact for use in distinct)),
            wider={place: frozenset(found) for place, found in wider.items()},
            containers=frozenset().union(*(use.containers for use in distinct)),
            repositories=frozenset().union(*(use.repositories for use in distinct)),
            pools=frozenset().union(*(use.pools for use in distinct)),
            met=frozenset().union(*(use.met for use in distinct)),
        ),
        clusters=frozenset(
            (grant, pattern)
            for item in by_cluster
            for grant in used[id(item.use)]
            for pattern in book.cluster_patterns(grant, item.cluster)
        ),
        names=tuple(item.cluster for item in by_cluster),
        unknown=tuple(item.cluster for item in by_cluster if not item.is_known),
        blind=tuple(item.cluster for item in by_cluster if item.is_blind),
    )


def _patterns(book: GrantBook, pools: Iterable[tuple[int, str]]) -> Iterable[tuple[int, str]]:
    for grant, pool in pools:
        for pattern in book.grants[grant].spec.pools:
            if pool_matches(pattern, pool):
                yield grant, pattern


_LOOKED_AT = 24
"""Lines of one workload whose origins are asked for; those of the others stand at the same places."""


@record
class UngrantedView:
    """One cluster; `needs` are its lines that no grant allows. `origins_of` tells what brings a line about.

    `known` are the grants that would allow what is missing, by family; alike clusters share them. `grants` are all that
    there are.
    """

    privileges: PrivilegeView
    needs: ClusterNeeds
    origins_of: Callable[[LedgerLine], LineOrigins]
    known: dict[str, tuple[Proposal, ...]] = field(default_factory=dict)
    grants: tuple[PrivilegeGrant, ...] = ()

    @property
    def cluster(self) -> str:
        return self.needs.cluster

    def proposed(self, family: str, needs: ClusterNeeds) -> tuple[Proposal, ...]:
        """The smallest grants for what a family of workloads holds here without one."""
        if family not in self.known:
            self.known[family] = proposals([needs])
        return tuple(replace(item, clusters=(self.cluster,)) for item in self.known[family])

    def profile_lines(self, lines: Iterable[LedgerLine]) -> tuple[tuple[FromProfile, LedgerLine], ...]:
        """The lines of profiles that bring these about, the one behind most of them first, each with one of them."""
        first: dict[FromProfile, LedgerLine] = {}
        times: Counter[FromProfile] = Counter()
        for line in _some(lines):
            found = self.privileges.profile_lines(self.origins_of(line))
            origin = found[0] if found else self.privileges.plan.stack_line
            times[origin] += 1
            first.setdefault(origin, line)
        return tuple((origin, first[origin]) for origin, _ in times.most_common())


@record
class GrantReview:
    """All grants. Only a `complete` run, over all clusters, can tell what nobody needs.

    `are_kept` says whether there is a folder for grants at all; `use` is what was looked at.
    """

    grants: tuple[LoadedGrant, ...]
    use: FleetUse
    today: dt.date
    complete: bool
    expiring_days: int
    are_kept: bool = True

    def numbered(self) -> Iterator[tuple[int, LoadedGrant]]:
        return iter(enumerate(self.grants))


def _some(lines: Iterable[LedgerLine]) -> Iterator[LedgerLine]:
    """Not more than a few, from all over."""
    known = list(lines)
    step = len(known) // _LOOKED_AT + 1
    return iter(known[::step])
