"""Use case: hold a cluster that runs against what is committed for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.app.admission import admission_of
from poolsmith.app.cluster_run import plan_cluster
from poolsmith.app.compare import compare
from poolsmith.app.facts import with_facts
from poolsmith.app.live.source import snapshot_of
from poolsmith.app.project import CLUSTERS, open_project
from poolsmith.diagnostics import Severity, UsageError, sorted_unique
from poolsmith.diagnostics.listing import listed
from poolsmith.diagnostics.outcome import Outcome, Skipped
from poolsmith.policies.apply import JudgingOptions, strictly, with_policies
from poolsmith.verify.judge import judge_live
from poolsmith.verify.view import ClusterView, LiveView

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.app.live.source import Source
    from poolsmith.diagnostics import Diagnostic


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
