"""What of a run could not be evaluated: each thing on its own, so that somebody may answer for it, or nobody does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose, whole_file
from poolsmith.core.diagnostics.codes import outside as codes
from poolsmith.core.diagnostics.listing import joined
from poolsmith.core.diagnostics.outcome import Unevaluated
from poolsmith.core.diagnostics.printable import one_line, printable
from poolsmith.core.record import record
from poolsmith.fleet.operands.install import brought_by
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.guard.policies.files import PRIVILEGES, SUPPLY
from poolsmith.guard.policies.supply.acceptances import unknown_key

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.guard.ledger.grant_check import GrantVerdict
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.ledger.view import PrivilegeView
    from poolsmith.guard.policies.supply.acceptances import Key
    from poolsmith.guard.policies.supply.policy import SupplyPolicy
    from poolsmith.guard.rules.pod_security import PodSecurityResult
    from poolsmith.guard.rules.setup.needs import SetupResult

_LONGEST = 2_000


def of_cluster(
    prediction: Prediction, view: PrivilegeView, pods: PodSecurityResult, setup: SetupResult
) -> Iterator[Unevaluated]:
    """What the prediction leaves unknown, and what could not be judged of the rest."""
    plan = prediction.plan
    sources = {brought_by(unit): unit for unit in plan.units if unit.source is not None}
    for text in dict.fromkeys(prediction.unknown):
        unit = sources.get(text)
        source = unit.source if unit is not None else None
        yield Unevaluated(
            cluster=plan.name,
            what=worded(text),
            place=view.locate(plan.stack_line),
            unit=unit.name if unit is not None else None,
            source=source.repository if source is not None else None,
            revision=source.revision if source is not None else None,
        )
    for skip in pods.skipped:
        yield _about(view, f"{skip.what}: {skip.reason}")
    for needs in setup.lacking:
        yield _about(view, f"a rule on setups that needs the {joined(needs, len(needs))}")


def of_policies(view: PrivilegeView, undecided: Iterable[tuple[str, int]]) -> Iterator[Unevaluated]:
    """Admission policies without a verdict, with the number of objects."""
    for text, count in undecided:
        yield _about(view, text, count)


def _about(view: PrivilegeView, what: str, count: int = 1) -> Unevaluated:
    line = FromProfile(view.plan.cluster.path, "/metadata/name")
    return Unevaluated(cluster=view.cluster, what=worded(what), place=view.locate(line), count=count)


def of_grants(verdict: GrantVerdict) -> Iterator[Unevaluated]:
    """Ledgers that nobody reviews, and grants that may be for what is unknown."""
    if verdict.unreviewed:
        what = f"{verdict.unreviewed:,} lines of the ledgers: there are no grants in {PRIVILEGES}/"
        yield Unevaluated(cluster="", what=what, place=whole_file(PRIVILEGES), count=verdict.unreviewed)
    for skip, place in verdict.undecided:
        what = worded(f"{skip.what}: {skip.reason}")
        yield Unevaluated(cluster="", what=what, place=place, follows_from_unknown=True)


def worded(text: str) -> str:
    """As it is shown, and as an acceptance has to repeat it."""
    return one_line(printable(text), _LONGEST)


@record(kw_only=False)
class Sorted:
    """How many things nobody answers for, how many somebody does, and what is to be said of them."""

    open: int
    accepted: int
    diagnostics: tuple[Diagnostic, ...]


def sorted_out(
    found: Iterable[Unevaluated], supply: SupplyPolicy, today: dt.date, *, complete: bool, needs_answer: bool
) -> Sorted:
    """Held against what a supply policy accepts. Where each `needs_answer`, one without is an error.

    Only a `complete` run, over all clusters, can tell that an acceptance is unused.
    """
    items = tuple(found)
    used: set[Key] = set()
    unanswered: list[Unevaluated] = []
    following: list[Unevaluated] = []
    for item in items:
        if item.follows_from_unknown:
            following.append(item)
        elif supply.accepts_unknown(
            item.cluster, item.what, today, unit=item.unit, source=item.source, revision=item.revision
        ):
            used.add(unknown_key(item.cluster, item.unit, item.source, item.revision, item.what))
        else:
            unanswered.append(item)
    if unanswered or not used:  # a grant for what somebody answers for needs no answer of its own
        unanswered += following
    open_ones = sum(item.count for item in unanswered)
    diagnostics = [*supply.expired(today), *(supply.unused(used, today) if complete else ())]
    if needs_answer:
        diagnostics += map(_unanswered, unanswered)
    return Sorted(open_ones, sum(item.count for item in items) - open_ones, tuple(diagnostics))


def _unanswered(item: Unevaluated) -> Diagnostic:
    where = f" of cluster {item.cluster}" if item.cluster else ""
    message = f"not evaluated{where}, and nobody answers for it: {item.what}"
    parts = (("cluster", item.cluster), ("unit", item.unit), ("source", item.source), ("revision", item.revision))
    told = ", ".join(f"{name}: {value}" for name, value in parts if value)
    advice = (
        f"do without it; or have the owners of {SUPPLY} answer for it, in an entry of `acceptUnknown` with {told} and "
        f"the words after the colon as `unknown`"
        if item.cluster
        else f"review them, and grant them in {PRIVILEGES}/: `poolsmith grants --write` proposes the grants"
        if item.place.span.path == PRIVILEGES
        else "correct what keeps it from being evaluated"
    )
    return diagnose(codes.UNANSWERED, message, item.place, help=advice, subject=item.cluster)
