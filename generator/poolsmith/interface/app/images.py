"""Use case: every image that the nodes of a project's clusters will pull."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Severity, sorted_unique
from poolsmith.core.record import record
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.project.output.collector import rarely_collecting
from poolsmith.project.output.prediction import image_entry
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.fleet.operands.images import ImageUse
    from poolsmith.project.run.cluster_run import PlannedCluster


@record(kw_only=False)
class ImagesResult:
    """Images by cluster, and per cluster what is unknown; or what is wrong with the profiles."""

    clusters: tuple[tuple[str, tuple[ImageUse, ...]], ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def planned_clusters(root: Path, clusters: Sequence[str]) -> tuple[list[PlannedCluster], tuple[Diagnostic, ...]]:
    """The clusters named, or all, and the errors of their profiles. Raises UsageError, NoInputError."""
    project = open_project(root)
    with rarely_collecting():
        runs = [plan_cluster(project, files) for files in project.select(clusters)]
    return runs, sorted_unique(item for run in runs for item in run.diagnostics if item.severity is Severity.ERROR)


def images(root: Path, clusters: Sequence[str]) -> ImagesResult:
    """Raises UsageError, NoInputError."""
    runs, errors = planned_clusters(root, clusters)
    predicted = [(run.loaded.name, run.prediction) for run in runs if run.prediction is not None]
    return ImagesResult(
        clusters=tuple((name, prediction.images()) for name, prediction in predicted),
        unknown=tuple((name, text) for name, prediction in predicted for text in prediction.unknown),
        diagnostics=errors,
    )


def images_text(result: ImagesResult) -> str:
    """Each image once, one a line."""
    return "".join(f"{image}\n" for image in sorted({use.image for _, uses in result.clusters for use in uses}))


def images_json(result: ImagesResult) -> str:
    """The machine-readable list, version 1."""
    return json.dumps(_body(result), indent=2, ensure_ascii=False) + "\n"


def images_yaml(result: ImagesResult) -> str:
    return emit(_body(result))


def _body(result: ImagesResult) -> dict[str, Any]:
    return {
        "version": 1,
        "clusters": [{"cluster": name, "images": [image_entry(use) for use in uses]} for name, uses in result.clusters],
        "unknown": [{"cluster": name, "what": text} for name, text in result.unknown],
    }
