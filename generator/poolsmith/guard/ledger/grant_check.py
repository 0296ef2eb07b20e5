"""The grants of a project against the ledgers of its clusters.

Clusters are judged one by one, in any process; what they need of the grants is merged, and the grants judged by it.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.diagnostics.rule_engine import run_rules
from poolsmith.core.latest import Latest
from poolsmith.core.record import record
from poolsmith.fleet.operands.expansion import NO_OPERANDS
from poolsmith.guard.ledger.grants.grant_proposal import ClusterNeeds, cluster_needs
from poolsmith.guard.ledger.grants.grant_use import (
    GrantReview,
    GrantUse,
    LedgerUse,
    UngrantedView,
    ledger_use,
    merged_use,
    ungranted_use,
)
from poolsmith.guard.ledger.privilege_check import CLUSTER_GRANT_RULES, FLEET_GRANT_RULES, privilege_view
from poolsmith.guard.ledger.rules import expiring_grant
from poolsmith.guard.ledger.rules.unused_grant import is_undecided

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.guard.ledger.grants.grant_files import LoadedGrant
    from poolsmith.guard.ledger.grants.grant_proposal import Proposal
    from poolsmith.guard.ledger.grants.matching import GrantBook, Repositories
    from poolsmith.guard.ledger.ledger import LedgerLine
    from poolsmith.guard.ledger.ledger_view import PrivilegeView
    from poolsmith.guard.ledger.prediction import Prediction, Shared

_REMEMBERED = 32
EXPIRING_DAYS: int = dict(expiring_grant.RULE.parameters)[expiring_grant.DAYS]


@record(kw_only=False)
class _Judged:
    """What clusters have in common that share a prediction and are given the same grants."""

    shared: Shared
    repositories: Repositories
    use: LedgerUse
    lacking: tuple[LedgerLine, ...] | None
    """None: all."""
    proposed: dict[str, tuple[Proposal, ...]] = field(default_factory=dict)

    @property
    def ungranted(self) -> tuple[LedgerLine, ...]:
        return self.shared.ledger.lines if self.lacking is None else self.lacking


class GrantJudge:
    """Holds the ledgers of clusters, one after another, against the grants; alike clusters share the work.

    `are_kept` says whether the project has a folder for grants: without one nothing can be ungranted.
    """

    def __init__(self, book: GrantBook, *, are_kept: bool) -> None:
        self._book = book
        self._are_kept = are_kept
        self._known = Latest(_REMEMBERED)

    def judge(
        self, prediction: Prediction, loaded: LoadedCluster, view: PrivilegeView | None = None
    ) -> tuple[GrantUse, tuple[Diagnostic, ...]]:
        """What one cluster needs of the grants, and what it holds without one. `view` spares making it again."""
        judged = self._judged(prediction)
        use = GrantUse(
            cluster=prediction.plan.name,
            use=self._use(prediction, judged),
            is_known=not prediction.unknown,
            is_blind=any(text.startswith(NO_OPERANDS) for text in prediction.unknown),
        )
        if not self._are_kept or not judged.use.ungranted:
            return use, ()
        seen = UngrantedView(
            privileges=view or privilege_view(prediction, loaded),
            needs=self._needs(prediction, judged),
            origins_of=prediction.origins_of,
            known=judged.proposed,
            grants=self._book.grants,
        )
        return use, run_rules(CLUSTER_GRANT_RULES, seen)

    def _use(self, prediction: Prediction, judged: _Judged) -> LedgerUse:
        if prediction.running is None:
            return judged.use
        return judged.use.beside(self._judged(prediction.running).use)

    def needs(self, prediction: Prediction) -> ClusterNeeds:
        """What one cluster holds without a grant."""
        return self._needs(prediction, self._judged(prediction))

    def _needs(self, prediction: Prediction, judged: _Judged) -> ClusterNeeds:
        return cluster_needs(
            prediction.plan.name,
            prediction.ledger,
            prediction.shared.made,
            judged.repositories,
            judged.ungranted,
        )

    def _judged(self, prediction: Prediction) -> _Judged:
        shared = prediction.shared
        given = self._book.of_cluster(prediction.plan.name)
        mirrors = prediction.plan.cluster.spec.registry.mirrors

        def judged() -> _Judged:
            repositories = self._book.repositories(prediction.installation.made, mirrors)
            ledger = prediction.ledger
            use, lacking = ungranted_use(ledger), None
            if given:
                use, lacking = ledger_use(ledger, repositories, self._book, given)
            return _Judged(shared, repositories, use, lacking)

        return self._known.of((id(shared), given, tuple(sorted(mirrors.items()))), judged)


@record
class GrantVerdict:
    """On all grants. `unreviewed` are lines where no grants are kept, `undecided` grants that can't be judged."""

    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    unreviewed: int = 0
    undecided: tuple[tuple[Skipped, Location], ...] = ()
    grants: int = 0
    lines: int = 0
    granted: int = 0

    @property
    def not_evaluated(self) -> int:
        return self.unreviewed + len(self.undecided)


def judge_grants(
    grants: Sequence[LoadedGrant],
    book: GrantBook,
    uses: Iterable[GrantUse],
    *,
    are_kept: bool,
    today: dt.date,
    complete: bool,
    expiring_days: int = EXPIRING_DAYS,
) -> GrantVerdict:
    """`book` is that of the grants, in their order. Only a `complete` run, over all clusters of the project and each
    of them planned, can tell what nobody needs."""
    use = merged_use(uses, book)
    review = GrantReview(
        grants=tuple(grants),
        use=use,
        today=today,
        complete=complete,
        expiring_days=expiring_days,
        are_kept=are_kept,
    )
    undecided = tuple(_undecided(review)) if complete else ()
    skipped = tuple(item for item, _ in undecided) if complete or not grants else (_NOT_COMPLETE,)
    return GrantVerdict(
        diagnostics=run_rules(FLEET_GRANT_RULES, review, by_file=True),
        skipped=skipped,
        unreviewed=0 if are_kept else use.use.lines,
        undecided=undecided if are_kept else (),
        grants=len(grants),
        lines=use.use.lines,
        granted=use.use.lines - use.use.ungranted,
    )


_NOT_COMPLETE = Skipped("whether grants are needed, and how much of them", "not all clusters were looked at")


def _undecided(review: GrantReview) -> Iterator[tuple[Skipped, Location]]:
    used = review.use.use.grants
    for index, loaded in review.numbered():
        if index not in used and is_undecided(review, index, loaded):
            name = loaded.grant.name
            skipped = Skipped(f"whether grant {name} is needed", "it may be for what could not be foretold")
            yield skipped, loaded.file.locate("/metadata/name")
