"""Use case: hold a cluster that runs against what is committed for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.verify.judge import judge_live
from poolsmith.change.verify.view import ClusterView, LiveView
from poolsmith.core.diagnostics import Severity, UsageError, sorted_unique
from poolsmith.core.diagnostics.listing import listed
from poolsmith.core.diagnostics.outcome import Outcome, Skipped
from poolsmith.guard.policies.apply import JudgingOptions, strictly, with_policies
from poolsmith.interface.app.compare import compare
from poolsmith.interface.app.live.source import snapshot_of
from poolsmith.project.run.admission import admission_of
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.facts import with_facts
from poolsmith.project.run.project import CLUSTERS, open_project

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.interface.app.live.source import Source


@with_facts
def verify(root: Path, cluster: str | None, source: Source, judging: JudgingOptions | None = None) -> Outcome:
    """One cluster; its name may be left out where the project has only one. Raises UsageError, NoInputError."""
    judging = judging or JudgingOptions()
    view, problems = view_of(root, cluster)
    if view is None:
        skipped = (Skipped("the cluster", "its profiles have errors"),)
        return Outcome(diagnostics=problems, skipped=skipped)
    snapshot = snapshot_of(source, view.resources, view.namespaces, view.of_namespaces)
    outcome = judge_live(LiveView(view, snapshot))
    outcome = replace(outcome, diagnostics=(*outcome.diagnostics, *_about_output(root, view.name)))
    outcome = with_policies(outcome, open_project(root).policies, today=judging.today, complete=False)
    return strictly(outcome) if judging.strict else outcome


def view_of(root: Path, cluster: str | None) -> tuple[ClusterView | None, tuple[Diagnostic, ...]]:
    """What should stand on the cluster; without it the errors of its profiles. Raises UsageError, NoInputError."""
    project = open_project(root)
    chosen = project.select((cluster,) if cluster else ())
    if len(chosen) != 1:
        names = listed(sorted(files.name for files in chosen))
        raise UsageError(f"which cluster is it? The project has {names}; name one of them")
    planned = plan_cluster(project, chosen[0])
    errors = tuple(item for item in planned.diagnostics if item.severity is Severity.ERROR)
    if planned.plan is None or planned.prediction is None or planned.loaded.file is None or errors:
        return None, sorted_unique(errors)
    admission = admission_of(project.policies, planned.prediction, planned.loaded.file).manifests
    return ClusterView(planned.plan, planned.prediction, planned.loaded, admission, project.catalog.gpus), ()


def _about_output(root: Path, name: str) -> tuple[Diagnostic, ...]:
    """What is compared follows from the profiles; that the committed output does not is a finding of its own."""
    found = compare(root, clusters=(name,)).outcome.diagnostics
    folder = f"{CLUSTERS}/{name}"
    return tuple(item for item in found if f"{item.primary.span.path}/".startswith(f"{folder}/"))
