"""All findings on what one cluster's profiles produce, and what of the run could not be evaluated.

Each thing that could not be evaluated is a finding of its own, so that somebody can accept exactly this one.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from poolsmith.change.review.seen_cluster import SeenCluster
from poolsmith.core.diagnostics import diagnose, whole_file
from poolsmith.core.diagnostics.codes import outside as codes
from poolsmith.core.diagnostics.message_text import joined, one_line, printable
from poolsmith.core.diagnostics.outcome import Unevaluated
from poolsmith.core.record import record
from poolsmith.fleet.operands.install import brought_by
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.profiles.acknowledged_facts import is_of_cluster, is_of_pool
from poolsmith.guard.ledger.privilege_check import judge_privileges, privilege_view
from poolsmith.guard.policies.policy_files import PRIVILEGES, SUPPLY
from poolsmith.guard.policies.supply.supply_policy import unknown_key
from poolsmith.guard.rules.committed_secrets import committed_secrets
from poolsmith.guard.rules.pod_security import judge_predicted_pod_security
from poolsmith.project.run.setup_check import judge_setup

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Skipped
    from poolsmith.guard.ledger.grant_check import GrantVerdict
    from poolsmith.guard.ledger.grants.grant_use import GrantUse
    from poolsmith.guard.ledger.ledger_view import PrivilegeView
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.policies.admission_check import AdmissionFindings
    from poolsmith.guard.policies.admission_findings import Sight
    from poolsmith.guard.policies.supply.supply_policy import Key, SupplyPolicy
    from poolsmith.guard.rules.pod_security import PodSecurityResult
    from poolsmith.guard.rules.setup.setup_view import SetupResult
    from poolsmith.project.run.cluster_run import ClusterRun
    from poolsmith.project.run.project import Project


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


@record
class Judgement:
    """Findings of one cluster, what was looked at by kind, what was left out and why, and what the prediction lacks."""

    diagnostics: tuple[Diagnostic, ...] = ()
    checked: dict[str, int] = field(default_factory=dict)
    skipped: tuple[Skipped, ...] = ()
    unevaluated: tuple[Unevaluated, ...] = ()
    unknown: tuple[str, ...] = ()
    sights: dict[str, Sight] = field(default_factory=dict)
    """What each of the users' policies saw."""
    grant_use: GrantUse | None = None
    was_stopped: bool = False
    """Whether evaluation of a policy was stopped: another run may say something else."""
    reads_elsewhere: bool = False
    """Whether files were read that are neither profiles nor policies nor output."""


def judge_cluster(project: Project, run: ClusterRun) -> Judgement:
    """Privileges and their grants, Pod Security and the users' policies on what the cluster will run.

    The policies are evaluated by another process, while the rest is judged here.
    """
    if run.prediction is None or run.tree is None:
        return Judgement()
    with ExitStack() as closing:
        asked = None
        if project.judging_policies.files.admission:
            asked = closing.enter_context(contextlib.closing(project.admission_reviews.ask(run.prediction, run.tree)))
        view = privilege_view(run.prediction, run.loaded)
        judgement = _without_admission(project, run, run.prediction, view)
        return judgement if asked is None else _with_admission(judgement, asked.findings(view), view)


def _without_admission(project: Project, run: ClusterRun, prediction: Prediction, view: PrivilegeView) -> Judgement:
    pods = judge_predicted_pod_security(prediction, view)
    use, ungranted = project.grant_judge.judge(prediction, run.loaded, view)
    setup = judge_setup(project, run)
    files = ((path, file.text) for path, file in run.loaded.files.items())
    secrets = committed_secrets(files, run.diagnostics)
    return Judgement(
        diagnostics=(
            *project.alike_findings.of("privileges", prediction.alike, run.loaded, partial(judge_privileges, view)),
            *setup.diagnostics,
            *ungranted,
            *pods.diagnostics,
            *_outside_of_supply(project, prediction, view),
            *secrets,
            *_stale(SeenCluster(run.loaded, prediction.plan, prediction)),
        ),
        checked={"predicted workloads": pods.judged},
        skipped=pods.skipped,
        unevaluated=tuple(of_cluster(prediction, view, pods, setup)),
        unknown=prediction.unknown,
        grant_use=use,
    )


def _stale(seen: SeenCluster) -> tuple[Diagnostic, ...]:
    """Of what is acknowledged that other pools have changed."""
    said = (item.fact for pool in seen.plan.pools for item in pool.profile.spec.acknowledge)
    cluster = (item.fact for item in seen.plan.cluster.spec.acknowledge)
    if not any(map(is_of_pool, said)) and not any(map(is_of_cluster, cluster)):
        return ()
    from poolsmith.change.diff.pool_offers import stale_acknowledgements  # on demand

    return tuple(stale_acknowledgements(seen))


def _outside_of_supply(project: Project, prediction: Prediction, view: PrivilegeView) -> tuple[Diagnostic, ...]:
    """Without a supply policy nothing is said of sources."""
    supply = project.judging_supply
    if not supply.is_kept:
        return ()
    from poolsmith.guard.policies.supply.supply_check import judge_supply  # on demand

    return judge_supply(supply.spec, prediction, view)


def _with_admission(judgement: Judgement, found: AdmissionFindings, view: PrivilegeView) -> Judgement:
    return replace(
        judgement,
        diagnostics=(*judgement.diagnostics, *found.diagnostics),
        checked=judgement.checked | {"admission requests": found.requests},
        skipped=(*judgement.skipped, *found.skipped),
        unevaluated=(*judgement.unevaluated, *of_policies(view, found.undecided)),
        sights=found.sights,
        was_stopped=found.was_stopped,
    )


def counted(judgements: Iterable[Judgement]) -> dict[str, int]:
    """What was looked at in all clusters."""
    total: Counter[str] = Counter()
    for item in judgements:
        total.update(item.checked)
    return dict(total)
