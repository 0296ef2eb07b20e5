"""What can be judged only once all clusters have been looked at: grants, and policies that met nothing."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.guard.ledger.grant_check import judge_grants
from poolsmith.guard.ledger.rules import expiring_grant
from poolsmith.guard.policies.policies import MAX_ADMISSION_BYTES
from poolsmith.guard.rules.committed_secrets import committed_secrets
from poolsmith.interface.app.unevaluated import of_grants

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Skipped, Unevaluated
    from poolsmith.guard.policies.apply import JudgingOptions
    from poolsmith.guard.policies.policies import Policies
    from poolsmith.interface.app.cluster_judgement import Judgement
    from poolsmith.project.run.project import Project


@record
class FleetJudgement:
    """Findings about policy files, and what the run has to say of them."""

    diagnostics: tuple[Diagnostic, ...] = ()
    facts: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    not_evaluated: int = 0
    unevaluated: tuple[Unevaluated, ...] = ()
    checked: dict[str, int] = field(default_factory=dict)
    was_stopped: bool = False


def judge_fleet(
    project: Project, judgements: Mapping[str, Judgement], judging: JudgingOptions, *, complete: bool
) -> FleetJudgement:
    """Of what each cluster came to. Only a `complete` run, over all clusters, can tell what nobody needs."""
    policies = project.judging_policies
    grants = judge_grants(
        policies.grants[0],
        policies.book,
        [item.grant_use for item in judgements.values() if item.grant_use is not None],
        are_kept=policies.files.has_privileges,
        today=judging.today,
        complete=complete,
        expiring_days=policies.settings[0].parameter(expiring_grant.RULE, expiring_grant.DAYS),
    )
    facts: list[str] = []
    details: tuple[str, ...] = ()
    if policies.files.has_privileges:
        facts.append(
            f"{grants.granted:,} of {grants.lines:,} lines of the ledgers are granted, by {grants.grants} grants"
        )
    diagnostics = [*grants.diagnostics, *committed_secrets(policy_texts(project.policies))]
    if policies.files.admission:
        from poolsmith.guard.policies.admission_check import saw_nothing, sight_facts  # on demand

        sights = [item.sights for item in judgements.values()]
        details = sight_facts(sights)
        diagnostics.extend(saw_nothing(policies.admission[0], sights) if complete else ())
    judgement = FleetJudgement(
        diagnostics=tuple(diagnostics),
        facts=tuple(facts),
        details=details,
        skipped=grants.skipped,
        unevaluated=tuple(of_grants(grants)),
        checked={"grants": grants.grants} if grants.grants else {},
    )
    return _with_policy_tests(judgement, policies) if complete and policies.files.admission else judgement


def policy_texts(policies: Policies) -> Iterator[tuple[str, str]]:
    """Of the files that can be read; what can't is told elsewhere."""
    for path in policies.files.paths:
        text = policies.tree.read_text(path, limit=MAX_ADMISSION_BYTES)
        if isinstance(text, str):
            yield path, text


def _with_policy_tests(judgement: FleetJudgement, policies: Policies) -> FleetJudgement:
    from poolsmith.interface.app.policy_test import project_policy_tests  # on demand

    result = project_policy_tests(policies.tree, policies.files)
    tested = result.outcome
    return replace(
        judgement,
        diagnostics=(*judgement.diagnostics, *tested.diagnostics),
        skipped=(*judgement.skipped, *tested.skipped),
        not_evaluated=judgement.not_evaluated + tested.not_evaluated,
        checked=judgement.checked | {name: count for name, count in tested.checked.items() if count},
        was_stopped=result.was_stopped,
    )
