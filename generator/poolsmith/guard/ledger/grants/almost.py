"""A grant that allows what is missing but for one name, which is nearly right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.record import record
from poolsmith.guard.ledger.grants.matching import glob_matches, pool_matches, workload_matches
from poolsmith.guard.ledger.privilege import covers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.guard.ledger.grants.grant import PrivilegeGrant
    from poolsmith.guard.ledger.grants.grant_proposal import ClusterNeeds
    from poolsmith.guard.ledger.ledger import LedgerLine

_MOST_LINES = 20
_SHORTEST = 4


@record(kw_only=False)
class NearMiss:
    """The field of a grant with a name that is nearly right, and the name that is meant."""

    grant: PrivilegeGrant
    field: str
    written: str
    meant: str

    def __str__(self) -> str:
        return f"in {self.grant.path}, `{self.field}` of grant `{self.grant.name}`: write `{self.meant}`"


def near_miss(grants: Sequence[PrivilegeGrant], needs: ClusterNeeds) -> NearMiss | None:
    """The first of the grants that would allow any of these lines, were it not for one name."""
    for grant in grants:
        for line in needs.lines[:_MOST_LINES]:
            if any(covers(token.privilege, line.privilege) for token in grant.tokens):
                misses = list(_misses(grant, needs, line))
                if len(misses) == 1 and misses[0] is not None:
                    return misses[0]
    return None


def _misses(grant: PrivilegeGrant, needs: ClusterNeeds, line: LedgerLine) -> Iterator[NearMiss | None]:
    """One for each field that keeps the grant from the line; None where its names are others altogether."""
    spec, repository = grant.spec, needs.repository_of(line)
    if not any(glob_matches(item, needs.cluster) for item in spec.clusters):
        yield _near(grant, "clusters", spec.clusters, needs.cluster)
    if not any(pool_matches(item, line.pool) for item in spec.pools):
        yield _near(grant, "pools", spec.pools, line.pool)
    if not workload_matches(spec.workload, line.workload):
        yield _near(grant, "workload", (spec.workload,), needs.family_of(line))
    if line.container and spec.containers and line.container not in spec.containers:
        yield _near(grant, "containers", spec.containers, line.container)
    if line.container and spec.images and repository not in spec.images:
        yield _near(grant, "images", spec.images, repository)


def _near(grant: PrivilegeGrant, field: str, written: Iterable[str], meant: str) -> NearMiss | None:
    return next((NearMiss(grant, field, item, meant) for item in written if _are_alike(item, meant)), None)


def _are_alike(written: str, meant: str) -> bool:
    """Nearly the same, or one of them a part of the other."""
    left, right = flatten(written.rpartition("/")[2]), flatten(meant.rpartition("/")[2])
    is_part = min(len(left), len(right)) >= _SHORTEST and (left in right or right in left)
    return is_part or nearest(written, [meant]) is not None
