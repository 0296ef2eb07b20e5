"""Use case: what a project's clusters gain and lose since another revision: privileges, and driver pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.driver_pods import changed_drivers
from poolsmith.core.diagnostics import NoInputError, Severity, UsageError, sorted_unique
from poolsmith.core.diagnostics.suggest import did_you_mean
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.guard.ledger.ledger import Ledger
from poolsmith.guard.ledger.ledger_delta import delta
from poolsmith.guard.policies.revision import folder_at
from poolsmith.interface.app.ledger import LedgerResult, LedgerView, check_names, kept
from poolsmith.project.output.collector import rarely_collecting
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.ledger.prediction import Prediction
    from poolsmith.interface.app.ledger import LedgerFilter
    from poolsmith.project.run.cluster_run import PlannedCluster

FLAG = "--since"
_NOTHING = Ledger(())


def ledger_since(root: Path, clusters: Sequence[str], chosen: LedgerFilter, revision: str) -> LedgerResult:
    """Each cluster that is there now or was there then; of one whose profiles had errors then, nothing is known.

    Raises UsageError, NoInputError.
    """
    project = open_project(root)
    with rarely_collecting(), folder_at(root, revision, PROFILES, FLAG) as folder:
        before = _planned(folder)
        names = {files.name for files in project.fleet.clusters}
        for name in clusters:
            if name not in names and name not in before:
                raise UsageError(f"there is no cluster `{name}`; {did_you_mean(name, sorted(names | before.keys()))}")
        wanted = set(clusters) or names | before.keys()
        runs = [plan_cluster(project, files) for files in project.fleet.clusters if files.name in wanted]
        diagnostics = sorted_unique(
            item
            for run in runs
            for item in run.diagnostics
            if item.severity is Severity.ERROR or run.prediction is None
        )
        after = {run.loaded.name: run for run in runs}
        pairs = [(name, before.get(name), after.get(name)) for name in sorted(wanted & (before.keys() | after.keys()))]
        _check(chosen, pairs)
        views = tuple(_view(name, then, now, chosen, project.catalog) for name, then, now in pairs)
    return LedgerResult(views, diagnostics)


def _planned(folder: Path) -> dict[str, PlannedCluster]:
    """The clusters of the other revision; none where it has no profiles."""
    try:
        project = open_project(folder)
    except NoInputError:
        return {}
    return {files.name: plan_cluster(project, files) for files in project.fleet.clusters}


def _check(chosen: LedgerFilter, pairs: list[tuple[str, PlannedCluster | None, PlannedCluster | None]]) -> None:
    runs = [run for _, then, now in pairs for run in (then, now) if run is not None]
    found = [run.prediction for run in runs if run.prediction is not None]
    pools = [pool.name for prediction in found for pool in prediction.plan.pools]
    check_names(chosen, pools, (name for prediction in found for name in prediction.ledger.workloads))


def _view(
    name: str, then: PlannedCluster | None, now: PlannedCluster | None, chosen: LedgerFilter, catalog: Catalog
) -> LedgerView:
    before, after = (run.prediction if run is not None else None for run in (then, now))
    shown = after or before
    unknown = after.unknown if after is not None else ()
    if then is not None and before is None:
        return LedgerView(
            cluster=name,
            release=_release(shown),
            pools=(),
            changes=delta(_NOTHING, _NOTHING),
            unknown=("what it was then: its profiles had errors", *unknown),
        )
    drivers = changed_drivers(before, after, catalog) if now is None or after is not None else ()
    return LedgerView(
        cluster=name,
        release=_release(shown),
        pools=tuple(pool.name for pool in shown.plan.pools) if shown is not None else (),
        changes=delta(_ledger(before, chosen), _ledger(after, chosen)),
        drivers=tuple(item for item in drivers if not chosen.pools or item.pool in chosen.pools),
        unknown=unknown,
        errors=after.installation.errors if after is not None else (),
        notes=_notes(before, after),
    )


def _notes(before: Prediction | None, after: Prediction | None) -> tuple[str, ...]:
    if before is None and after is not None:
        return ("the cluster is new", *after.installation.notes)
    if after is None:
        return ("the cluster is gone",)
    assert before is not None
    was, now = before.installation.release, after.installation.release
    return (*((f"it was {was} then",) if was != now else ()), *after.installation.notes)


def _release(prediction: Prediction | None) -> str:
    return prediction.installation.release if prediction is not None else ""


def _ledger(prediction: Prediction | None, chosen: LedgerFilter) -> Ledger:
    return _NOTHING if prediction is None else kept(prediction.ledger, chosen)
