"""Use case: what the delivery engines of a project will always show as out of sync."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from poolsmith.change.drift.delivered import compared_by
from poolsmith.change.drift.forecast import Forecast, forecast
from poolsmith.core.diagnostics import Diagnostic, Severity, sorted_unique
from poolsmith.core.record import record
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import admission_of, plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from poolsmith.change.drift.delivered import DiffMode
    from poolsmith.fleet.plan.origin import FromProfile
    from poolsmith.fleet.profiles.cluster import Engine
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster


@record
class DriftResult:
    """Forecasts by cluster, and what is wrong with the profiles of others."""

    clusters: tuple[Forecast, ...] = ()
    lines: Mapping[FromProfile, int] = field(default_factory=dict)
    """On which lines of their files the places of drifts stand."""
    diagnostics: tuple[Diagnostic, ...] = ()


def drift(
    root: Path, clusters: Sequence[str] = (), *, engine: Engine | None = None, diff: DiffMode | None = None
) -> DriftResult:
    """As each cluster is delivered, or as it would be by another engine or diff. Raises UsageError, NoInputError."""
    project = open_project(root)
    found: list[Forecast] = []
    lines: dict[FromProfile, int] = {}
    problems: list[Diagnostic] = []
    with rarely_collecting():
        for files in project.select(clusters):
            planned = plan_cluster(project, files)
            problems.extend(item for item in planned.diagnostics if item.severity is Severity.ERROR)
            if planned.plan is not None and planned.prediction is not None and planned.loaded.file is not None:
                compared = compared_by(planned.plan, engine, diff)
                admission = admission_of(project.policies, planned.prediction, planned.loaded.file).manifests
                found.append(forecast(planned.plan, planned.prediction, admission, compared))
                lines |= _lines(found[-1], planned.loaded)
    return DriftResult(clusters=tuple(found), lines=lines, diagnostics=sorted_unique(problems))


def _lines(found: Forecast, loaded: LoadedCluster) -> dict[FromProfile, int]:
    files = loaded.files
    places = {item.place for item in found.drifts if item.place is not None and item.place.path in files}
    starts = {place: files[place.path].locate(place.pointer).span.start for place in places}
    return {place: start.line for place, start in starts.items() if start is not None}
