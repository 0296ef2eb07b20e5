"""Use case: the grants of one cluster in the words of another policy engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, UsageError, sorted_unique
from poolsmith.core.record import record
from poolsmith.guard.policies.kyverno_exceptions import KyvernoExport, kyverno_exceptions
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence
    from pathlib import Path


@record
class ExportedGrants:
    """Without an export diagnostics say why."""

    export: KyvernoExport | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    unknown: tuple[str, ...] = ()


def exported_grants(root: Path, clusters: Sequence[str], *, today: dt.date, namespace: str) -> ExportedGrants:
    """As exceptions of Kyverno. While an upgrade runs, those of the release that comes. Raises UsageError,
    NoInputError."""
    project = open_project(root)
    chosen = project.select(clusters)
    if len(chosen) != 1:
        raise UsageError("exceptions are for one cluster: name it with --cluster")
    run = plan_cluster(project, chosen[0])
    found = (*project.policies.grants[1], *run.diagnostics)
    diagnostics = sorted_unique(item for item in found if item.severity is Severity.ERROR)
    if diagnostics or run.prediction is None:
        return ExportedGrants(diagnostics=tuple(diagnostics))
    export = kyverno_exceptions(run.prediction, project.policies.book, today, namespace)
    return ExportedGrants(export=export, unknown=tuple(run.prediction.unknown))
