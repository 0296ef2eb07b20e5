"""All rules over a project: what is generated, what it will run, and what is committed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.record import record
from poolsmith.guard.ledger.privilege_check import PRIVILEGE_RULES, not_expanded
from poolsmith.guard.policies.applied_policies import with_policies
from poolsmith.guard.rules.registry import RULES
from poolsmith.guard.rules.schema.object_schemas import Against, with_schema_results
from poolsmith.guard.rules.setup.registry import SETUP_RULES
from poolsmith.interface.app.cluster_judgement import counted, sorted_out
from poolsmith.interface.app.generate import add_fleet, add_leftovers, unwritten
from poolsmith.interface.app.output_judgement import judge_fleet, judge_folder
from poolsmith.interface.app.run import NOTHING_KNOWN, judge_clusters

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.core.diagnostics.outcome import Outcome
    from poolsmith.guard.policies.applied_policies import JudgingOptions
    from poolsmith.interface.app.cluster_judgement import Sorted
    from poolsmith.interface.app.output_judgement import FleetJudgement
    from poolsmith.interface.app.results import GenerateResult
    from poolsmith.interface.app.run import ClusterResult, KnownResults, Run, Totals
    from poolsmith.project.run.project import Project

_NO_OBJECTS = "Helm values and label lists hold no Kubernetes objects"
_FEW_CLUSTERS = 16
"""With more of them, what processes learn each for itself costs less than what they share of the work."""


@record
class Judged:
    """`fresh` are results of clusters that were not known, and `reviews` what their changes would gain.

    `is_lasting`: another run over the same files says the same. What depended on the clock, because evaluation was
    stopped, or on files beside the stack, is not.
    """

    result: GenerateResult
    fresh: tuple[ClusterResult, ...]
    reviews: Mapping[str, tuple[Diagnostic, ...]]
    is_lasting: bool


def judge(run: Run, judging: JudgingOptions, known: KnownResults = NOTHING_KNOWN) -> Judged:
    """Compare every generated folder, run every rule, and take the findings as the policies want them."""
    project = run.project
    totals = run.collect(judge_clusters, few=_FEW_CLUSTERS, known=known.results)
    add_fleet(run, totals, lambda folder: judge_folder(folder, Against()))
    add_leftovers(run, totals)
    complete = run.is_whole and not totals.unplanned
    fleet = judge_fleet(project, totals.judgements, judging, complete=complete) if totals.judgements else None
    if fleet is not None:
        totals.diagnostics.extend(fleet.diagnostics)
    reviews: dict[str, tuple[Diagnostic, ...]] = {}
    if judging.base is not None:
        from poolsmith.interface.app.review import Review  # on demand

        review = Review(run, judging, judging.base)
        reviews = dict(review.of_clusters(known.reviews.keys()))
        totals.diagnostics.extend(review.of_repository())
        for told in (*known.reviews.values(), *reviews.values()):
            totals.diagnostics.extend(told)
    unevaluated = _sorted_out(totals, fleet, project, judging, complete=complete)
    totals.diagnostics.extend(unevaluated.diagnostics)
    outcome = _with_judgements(totals.outcome(), totals, fleet, unevaluated)
    complete = run.is_whole and not outcome.skipped_for_errors
    outcome = with_policies(outcome, project.judging_policies, today=judging.today, complete=complete)
    judgements = (*totals.judgements.values(), *((fleet,) if fleet is not None else ()))
    elsewhere = any(item.reads_elsewhere for item in totals.judgements.values())
    return Judged(
        result=unwritten(run, totals, outcome),
        fresh=tuple(totals.fresh),
        reviews=reviews,
        is_lasting=not elsewhere and not any(item.was_stopped for item in judgements),
    )


def _sorted_out(
    totals: Totals, fleet: FleetJudgement | None, project: Project, judging: JudgingOptions, *, complete: bool
) -> Sorted:
    """What could not be evaluated, and whether somebody answers for it; against a base somebody has to."""
    found = [item for name in sorted(totals.judgements) for item in totals.judgements[name].unevaluated]
    found += fleet.unevaluated if fleet is not None else ()
    return sorted_out(
        found,
        project.judging_supply,
        judging.today,
        complete=complete,
        needs_answer=judging.base is not None and project.judging_supply.is_kept,
    )


def _with_judgements(outcome: Outcome, totals: Totals, fleet: FleetJudgement | None, unevaluated: Sorted) -> Outcome:
    """What was looked at, what was left out, and what could not be evaluated."""
    checked, skipped, not_evaluated = dict(outcome.checked), list(outcome.skipped), unevaluated.open
    if totals.findings:
        checked["manifest files"] = sum(item.files for item in totals.findings)
        checked["objects"] = sum(item.objects for item in totals.findings)
        checked["rules"] = len(RULES) + len(PRIVILEGE_RULES) + len(SETUP_RULES)
        if others := sum(item.others for item in totals.findings):
            skipped.append(Skipped(f"{others} documents", _NO_OBJECTS, by_design=True))
        skipped.extend(totals.without_list())
        judgements = totals.judgements
        checked |= counted(judgements.values())
        skipped.extend(not_expanded({name: item.unknown for name, item in judgements.items()}))
        skipped.extend(skip for name in sorted(judgements) for skip in judgements[name].skipped)
    facts, details = outcome.facts, outcome.details
    if fleet is not None:
        facts, details = (*facts, *fleet.facts), (*details, *fleet.details)
        checked |= fleet.checked
        skipped.extend(fleet.skipped)
        not_evaluated += fleet.not_evaluated
    outcome = replace(
        outcome,
        checked=checked,
        skipped=tuple(skipped),
        not_evaluated=not_evaluated,
        accepted_unknown=unevaluated.accepted,
        facts=facts,
        details=details,
    )
    if not totals.findings:
        return outcome
    return with_schema_results(outcome, (item.schemas for item in totals.findings), as_details=True)
