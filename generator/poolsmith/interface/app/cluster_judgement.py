"""Everything that is judged of what one cluster's profiles come to."""

from __future__ import annotations

import contextlib
from collections import Counter
from contextlib import ExitStack
from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.change.review.change import SeenCluster
from poolsmith.core.record import record
from poolsmith.fleet.profiles.acknowledged_facts import is_of_cluster, is_of_pool
from poolsmith.guard.ledger.privilege_check import judge_privileges, privilege_view
from poolsmith.guard.rules.committed_secrets import committed_secrets
from poolsmith.guard.rules.pod_security import judge_predicted_pod_security
from poolsmith.interface.app.setup_check import judge_setup
from poolsmith.interface.app.unevaluated import of_cluster, of_policies

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Skipped, Unevaluated
    from poolsmith.guard.ledger.grants.use import GrantUse
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.guard.ledger.view import PrivilegeView
    from poolsmith.guard.policies.admission_check import AdmissionFindings
    from poolsmith.guard.policies.admission_findings import Sight
    from poolsmith.project.run.cluster_run import ClusterRun
    from poolsmith.project.run.project import Project


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
            *judge_privileges(view),
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
    from poolsmith.change.diff.stale_acknowledgements import stale_acknowledgements  # on demand

    return tuple(stale_acknowledgements(seen))


def _outside_of_supply(project: Project, prediction: Prediction, view: PrivilegeView) -> tuple[Diagnostic, ...]:
    """Without a supply policy nothing is said of sources."""
    supply = project.judging_supply
    if not supply.is_kept:
        return ()
    from poolsmith.guard.policies.supply.judge import judge_supply  # on demand

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
