"""Use case: hold a cluster that runs against what is committed for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.app.admission import admission_of
from poolsmith.app.cluster_run import plan_cluster
from poolsmith.app.facts import with_facts
from poolsmith.app.live.source import snapshot_of
from poolsmith.app.project import open_project
from poolsmith.diagnostics import Severity, UsageError, sorted_unique
from poolsmith.diagnostics.listing import listed
from poolsmith.diagnostics.outcome import Outcome, Skipped
from poolsmith.verify.judge import judge_live
from poolsmith.verify.view import ClusterView, LiveView

if TYPE_CHECKING:
    from pathlib import Path

    from poolsmith.app.live.source import Source
    from poolsmith.diagnostics import Diagnostic
    from poolsmith.policies.apply import JudgingOptions


@with_facts
def verify(root: Path, cluster: str | None, source: Source, judging: JudgingOptions | None = None) -> Outcome:
    """One cluster; its name may be left out where the project has only one. Raises UsageError, NoInputError."""
    view, problems = view_of(root, cluster)
    if view is None:
        skipped = (Skipped("the cluster", "its profiles have errors"),)
        return Outcome(diagnostics=problems, skipped=skipped)
    outcome = judge_live(LiveView(view, snapshot_of(source, view.resources, view.namespaces)))
    outcome = replace(outcome, facts=(*outcome.facts, *_about_output(root, view.name)))
    if judging is not None and judging.strict:
        from poolsmith.policies.apply import strictly  # on demand

        return strictly(outcome)
    return outcome


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


def _about_output(root: Path, name: str) -> tuple[str, ...]:
    """What is compared follows from the profiles: said where the committed output does not."""
    from poolsmith.app.compare import compare  # on demand

    result = compare(root, clusters=(name,))
    if result.is_current:
        return ()
    return (
        f"output/clusters/{name} is not what the profiles generate: run `poolsmith generate`; the profiles count here",
    )
