"""What rules on grants see: one cluster's lines that are not granted, or all grants with what they are used for."""

from __future__ import annotations

from collections import Counter
from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.guard.ledger.grants.proposal import proposals

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Iterator

    from poolsmith.fleet.plan.origin import FromProfile
    from poolsmith.guard.ledger.grants.load import LoadedGrant
    from poolsmith.guard.ledger.grants.needs import ClusterNeeds
    from poolsmith.guard.ledger.grants.proposal import Proposal
    from poolsmith.guard.ledger.grants.use import FleetUse
    from poolsmith.guard.ledger.ledger import LedgerLine
    from poolsmith.guard.ledger.line_origin import LineOrigins
    from poolsmith.guard.ledger.view import PrivilegeView

_LOOKED_AT = 24
"""Lines of one workload whose origins are asked for; those of the others stand at the same places."""


@record
class UngrantedView:
    """One cluster; `needs` are its lines that no grant allows. `origins_of` tells what brings a line about.

    `known` are the grants that would allow what is missing, by family; alike clusters share them.
    """

    privileges: PrivilegeView
    needs: ClusterNeeds
    origins_of: Callable[[LedgerLine], LineOrigins]
    known: dict[str, tuple[Proposal, ...]] = field(default_factory=dict)

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
