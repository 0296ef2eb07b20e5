"""All that `check` would say of one cluster of one side of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.review.change import SeenCluster
from poolsmith.core.record import record
from poolsmith.guard.rules.schema.object_schemas import against_cluster
from poolsmith.interface.app.cluster_judgement import judge_cluster
from poolsmith.interface.app.diff_side import as_judged, present_in_git
from poolsmith.interface.app.folder import GeneratedFolder, against_disk, compared
from poolsmith.interface.app.folder_judgement import judge_compared
from poolsmith.interface.app.unevaluated import sorted_out
from poolsmith.project.run.cluster_run import ClusterRun, run_cluster
from poolsmith.project.run.project import CLUSTERS

if TYPE_CHECKING:
    import datetime as dt

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.interface.app.diff_side import Side


@record
class JudgedCluster:
    """A cluster of one side, and all findings on it as the policies that judge want them."""

    run: ClusterRun
    findings: tuple[Diagnostic, ...]

    @property
    def seen(self) -> SeenCluster | None:
        """None where the profiles have errors."""
        run = self.run
        if run.plan is None or run.prediction is None:
            return None
        return SeenCluster(loaded=run.loaded, plan=run.plan, prediction=run.prediction)


def judged_cluster(side: Side, files: ClusterFiles, today: dt.date) -> JudgedCluster:
    """All that `check` would say of one cluster and of its output."""
    project = side.project
    run = run_cluster(project, files)
    found = list(run.diagnostics)
    if run.files is not None and run.tree is not None and run.loaded.cluster is not None:
        judgement = judge_cluster(project, run)
        path = f"{CLUSTERS}/{files.name}"
        folder = GeneratedFolder(root=project.root, path=path, subject=files.name, tree=run.tree, files=run.files)
        comparison = (
            against_disk(project.root, path, run.files, files.name)
            if side.repository is None
            else compared(path, run.files, present_in_git(side, path, run.files), files.name)
        )
        result = judge_compared(folder, comparison, against_cluster(run.loaded.cluster, project.catalog), together=True)
        unevaluated = sorted_out(
            judgement.unevaluated,
            project.judging_supply,
            today,
            complete=False,
            needs_answer=project.judging_supply.is_kept,
        )
        found += [*result.diagnostics, *(result.findings.diagnostics if result.findings is not None else ())]
        found += [*judgement.diagnostics, *unevaluated.diagnostics]
    return JudgedCluster(run=run, findings=as_judged(project, found, today))
