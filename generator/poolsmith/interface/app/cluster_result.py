"""What a run makes of each cluster: written, compared or judged."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.guard.rules.prediction.driver_images import driver_pools
from poolsmith.interface.app.folder import GeneratedFolder, compare_folder, write_folder
from poolsmith.project.output.collector import rarely_collecting
from poolsmith.project.output.fleet import FleetEntry, fleet_entry, namespaces_of
from poolsmith.project.run.cluster_run import ClusterRun, run_cluster
from poolsmith.project.run.project import CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.fleet import ClusterFiles
    from poolsmith.interface.app.cluster_judgement import Judgement
    from poolsmith.interface.app.folder import FolderResult
    from poolsmith.project.run.project import Project


@record
class ClusterResult:
    """What became of one cluster. `folder` is None when its profiles have errors.

    `judgement` is what was found in what the profiles produce, where that was judged. `unlisted_drivers` counts pools
    that pull a driver image, where no list of known images can say anything about it. `admission` are namespaces of
    what the API server is to enforce, None where that is nothing. `fleet_entry` and `beside`, the paths of files that
    were judged beside the stack, follow from the profiles alone: whoever hears of a result looks there himself.
    """

    name: str
    diagnostics: tuple[Diagnostic, ...] = ()
    pools: int = 0
    used_bases: frozenset[str] = frozenset()
    folder: FolderResult | None = None
    fleet_entry: FleetEntry | None = field(default=None, compare=False)
    judgement: Judgement | None = None
    unlisted_drivers: int = 0
    admission: tuple[str, ...] | None = None
    beside: tuple[str, ...] = field(default=(), compare=False)


def write_clusters(project: Project, batch: tuple[ClusterFiles, ...]) -> Iterator[ClusterResult]:
    """Each cluster, staged where it changed. Raises WriteError."""
    return _each(project, batch, lambda run, folder: _result(project, run, write_folder(folder)))


def compare_clusters(project: Project, batch: tuple[ClusterFiles, ...]) -> Iterator[ClusterResult]:
    """Each cluster, and how its folder differs from what is generated."""
    return _each(project, batch, lambda run, folder: _result(project, run, compare_folder(folder)))


def judge_clusters(project: Project, batch: tuple[ClusterFiles, ...]) -> Iterator[ClusterResult]:
    """Each cluster compared, and all rules over what is generated, predicted and committed."""
    from poolsmith.guard.rules.schema.object_schemas import against_cluster
    from poolsmith.interface.app.cluster_judgement import judge_cluster  # rules are for those who judge
    from poolsmith.interface.app.folder_judgement import judge_folder

    def judged(run: ClusterRun, folder: GeneratedFolder) -> ClusterResult:
        assert run.loaded.cluster is not None, "it is generated"
        judgement = judge_cluster(project, run)
        if run.loaded.cluster.spec.beside:
            from poolsmith.interface.app.neighbours import judge_neighbours  # on demand

            beside = judge_neighbours(project, run)
            judgement = replace(
                judgement,
                diagnostics=(*judgement.diagnostics, *beside.diagnostics),
                checked=judgement.checked | {"files beside the stack": beside.files},
                reads_elsewhere=True,
            )
        result = _result(project, run, judge_folder(folder, against_cluster(run.loaded.cluster, project.catalog)))
        return replace(
            result,
            diagnostics=(*result.diagnostics, *judgement.diagnostics),
            judgement=judgement,
            beside=run.loaded.cluster.spec.beside,
        )

    return _each(project, batch, judged)


def _each(
    project: Project, batch: tuple[ClusterFiles, ...], finish: Callable[[ClusterRun, GeneratedFolder], ClusterResult]
) -> Iterator[ClusterResult]:
    with rarely_collecting():
        for files in batch:
            run = run_cluster(project, files)
            if run.files is None or run.tree is None:
                yield _result(project, run, None)
                continue
            name = run.loaded.name
            path = f"{CLUSTERS}/{name}"
            yield finish(
                run, GeneratedFolder(root=project.output_root, path=path, subject=name, tree=run.tree, files=run.files)
            )


def _result(project: Project, run: ClusterRun, folder: FolderResult | None) -> ClusterResult:
    plan = run.plan if folder is not None else None
    admission = namespaces_of(run.admission)
    return ClusterResult(
        name=run.loaded.name,
        diagnostics=run.diagnostics,
        pools=len(run.loaded.pools),
        used_bases=run.loaded.used_bases,
        folder=folder,
        fleet_entry=fleet_entry(plan, admission) if plan is not None else None,
        admission=admission,
        unlisted_drivers=driver_pools(plan) if plan is not None and project.fleet.driver_images is None else 0,
    )
