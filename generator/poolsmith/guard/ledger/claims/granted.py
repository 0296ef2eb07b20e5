"""The claims that grants allow what is predicted for a cluster, found once for all that are alike."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.guard.ledger.claims.table import claim_table
from poolsmith.guard.ledger.grants.grant import repository_of
from poolsmith.guard.ledger.ledger import NO_KNOWN_NODE, LedgerLine
from poolsmith.guard.ledger.reach import Reach

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.guard.ledger.claims.table import ClaimTable
    from poolsmith.guard.ledger.grants.matching import GrantBook
    from poolsmith.guard.ledger.prediction import Prediction, Shared
    from poolsmith.guard.ledger.privilege import Privilege

_REMEMBERED = 32


@record(kw_only=False, eq=False)
class _Asked:
    """What a table follows from; installation and grants are the same when they are the same objects."""

    shared: Shared
    book: GrantBook
    given: frozenset[int]
    scripts: tuple[str, ...]
    mirrors: tuple[tuple[str, str], ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and (
            self.shared is other.shared
            and self.book is other.book
            and (self.given, self.scripts, self.mirrors) == (other.given, other.scripts, other.mirrors)
        )

    def __hash__(self) -> int:
        return hash((id(self.shared), id(self.book), self.given, self.scripts, self.mirrors))


def granted_claims(prediction: Prediction, book: GrantBook, scripts: Iterable[str] = ()) -> ClaimTable:
    """What the grants allow the predicted workloads of a cluster, on any of the pools that each lands on."""
    mirrors = tuple(sorted(prediction.plan.cluster.spec.registry.mirrors.items()))
    return _table(_Asked(prediction.shared, book, book.of_cluster(prediction.plan.name), tuple(scripts), mirrors))


@lru_cache(maxsize=_REMEMBERED)
def _table(asked: _Asked) -> ClaimTable:
    landing, mirrors = asked.shared.ledger.landing, dict(asked.mirrors)

    def granted(key: str, container: str, image: str, privilege: Privilege) -> bool:
        namespace, _, workload = key.partition("/")
        return any(
            asked.book.allows(
                LedgerLine(pool, workload, container, privilege, Reach.NONE, (), namespace),
                asked.book.name_of(repository_of(image), mirrors),
                asked.given,
            )
            for pool in landing.get(key) or (NO_KNOWN_NODE,)
        )

    return claim_table(asked.shared.installation.objects, granted, asked.scripts)
