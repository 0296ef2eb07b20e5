"""Use case: the privileges of a project, and what would change with other values. Floor: app."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from poolsmith.app.cluster_run import plan_cluster
from poolsmith.app.collector import rarely_collecting
from poolsmith.app.project import open_project
from poolsmith.diagnostics import Diagnostic, Severity, UsageError, sorted_unique
from poolsmith.diagnostics.suggest import did_you_mean
from poolsmith.model.ledger import ANY_NODE, Ledger, LedgerLine
from poolsmith.model.ledger_delta import LedgerDelta, delta
from poolsmith.model.origin import shown_origin
from poolsmith.model.plan import values_tree
from poolsmith.model.privilege import Privilege, PrivilegeError
from poolsmith.model.reach import Reach
from poolsmith.model.widening import covers
from poolsmith.operands.set_flag import SetError, apply_set
from poolsmith.sources.nested import copied

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from poolsmith.app.cluster_run import PlannedCluster
    from poolsmith.app.prediction import Prediction
    from poolsmith.app.project import Project
    from poolsmith.sources.source_file import SourceFile


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerFilter:
    """What to show; empty means all. `holds` is a privilege that a line has to include, `reach` the least bad one."""

    pools: tuple[str, ...] = ()
    workloads: tuple[str, ...] = ()
    reach: Reach | None = None
    holds: Privilege | None = None

    @property
    def narrows(self) -> bool:
        return bool(self.pools or self.workloads or self.reach is not None or self.holds is not None)

    def keeps(self, line: LedgerLine) -> bool:
        return (
            (not self.pools or line.pool in self.pools)
            and (not self.workloads or line.workload in self.workloads or line.workload_name in self.workloads)
            and (self.reach is None or line.reach <= self.reach)
            and (self.holds is None or covers(line.privilege, self.holds))
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerView:
    """One cluster's lines, after the filter; `changes` instead of lines where values were put on top."""

    cluster: str
    release: str
    pools: tuple[str, ...]
    lines: tuple[LedgerLine, ...] = ()
    changes: LedgerDelta | None = None
    unknown: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerResult:
    """Views, or what is wrong with the profiles."""

    views: tuple[LedgerView, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def failed(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self.diagnostics)


def parse_privilege(text: str) -> Privilege:
    """Raises UsageError."""
    try:
        return Privilege.parse(text)
    except PrivilegeError as error:
        raise UsageError(f"--holds {text}: {error}") from None


def parse_reach(text: str) -> Reach:
    """Raises UsageError."""
    known = {str(reach): reach for reach in Reach}
    if text not in known:
        raise UsageError(f"--reach {text}: there is no such reach; {did_you_mean(text, known)}")
    return known[text]


def ledger(root: Path, clusters: Sequence[str], chosen: LedgerFilter, settings: Sequence[str] = ()) -> LedgerResult:
    """With `settings`, in Helm's `--set` grammar: what the ledger would gain and lose if they were the values.

    Raises UsageError, NoInputError.
    """
    project = open_project(root)
    with rarely_collecting():
        runs = [plan_cluster(project, files) for files in project.select(clusters)]
    diagnostics = sorted_unique(
        item for run in runs for item in run.diagnostics if item.severity is Severity.ERROR or run.prediction is None
    )
    predicted = [(run, run.prediction) for run in runs if run.prediction is not None]
    _check_names(chosen, [prediction for _, prediction in predicted])
    if settings and predicted and all(prediction.plan.chart is None for _, prediction in predicted):
        names = ", ".join(f"`{prediction.plan.name}`" for _, prediction in predicted)
        raise UsageError(f"--set: cluster {names} has no operator whose values could change")
    views = [_view(project, run, prediction, chosen, settings) for run, prediction in predicted]
    return LedgerResult(tuple(view for view in views if view is not None), diagnostics)


def ledger_json(result: LedgerResult) -> str:
    """The machine-readable ledger, version 1."""
    body = {"version": 1, "clusters": [_view_json(view) for view in result.views]}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def _view(
    project: Project, run: PlannedCluster, prediction: Prediction, chosen: LedgerFilter, settings: Sequence[str]
) -> LedgerView | None:
    """None where the cluster has none of the pools that are asked for, or no operator that values could be for."""
    names = tuple(pool.name for pool in prediction.plan.pools)
    if chosen.pools and not {ANY_NODE, *names} & set(chosen.pools):
        return None
    if settings and prediction.plan.chart is None:
        return None
    view = LedgerView(
        cluster=prediction.plan.name,
        release=prediction.installation.release,
        pools=names,
        unknown=prediction.unknown,
        errors=prediction.installation.errors,
        notes=prediction.installation.notes,
    )
    if settings:
        other = _with_settings(project, prediction, settings)
        changes = delta(_kept(prediction.ledger, chosen), _kept(other.ledger, chosen))
        return replace(view, changes=changes, unknown=other.unknown, errors=other.errors)
    place = _Places(run)
    lines = tuple(
        replace(line, origins=tuple(place.of(origin) for origin in prediction.origins_of(line)))
        for line in prediction.ledger.lines
        if chosen.keeps(line)
    )
    return replace(view, lines=lines)


@dataclass(frozen=True, slots=True)
class _Otherwise:
    ledger: Ledger
    unknown: tuple[str, ...]
    errors: tuple[str, ...]


def _with_settings(project: Project, prediction: Prediction, settings: Sequence[str]) -> _Otherwise:
    values: dict[str, Any] = copied(values_tree(prediction.plan.values))
    for setting in settings:
        try:
            apply_set(values, setting)
        except SetError as error:
            raise UsageError(f"--set {setting}: {error}") from None
    shared = project.predictions.with_values(prediction, values)
    installation = shared.installation
    return _Otherwise(
        ledger=shared.ledger,
        unknown=(*installation.unknown, *shared.ledger.unknown),
        errors=installation.errors,
    )


def _kept(whole: Ledger, chosen: LedgerFilter) -> Ledger:
    return Ledger(tuple(filter(chosen.keeps, whole.lines)), whole.unknown)


def _check_names(chosen: LedgerFilter, predictions: Iterable[Prediction]) -> None:
    """A name that nothing has would otherwise look like a pool without privileges. Raises UsageError."""
    pools, workloads = {ANY_NODE}, set()
    for prediction in predictions:
        pools |= {pool.name for pool in prediction.plan.pools}
        for line in prediction.ledger.lines:
            workloads |= {line.workload, line.workload_name}
    for kind, asked, known in (("pool", chosen.pools, pools), ("workload", chosen.workloads, workloads)):
        for name in asked:
            if known and name not in known:
                raise UsageError(f"there is no {kind} `{name}` in these clusters; {did_you_mean(name, known)}")


class _Places:
    """Origins with the line of the file where they stand today."""

    def __init__(self, run: PlannedCluster) -> None:
        own = [run.loaded.file] if run.loaded.file is not None else []
        files = [*own, *(file for pool in run.loaded.pools for file in pool.layers.files)]
        self._files: dict[str, SourceFile] = {file.path: file for file in files}
        self._known: dict[str, str] = {}

    def of(self, origin: str) -> str:
        if origin not in self._known:
            self._known[origin] = self._find(origin)
        return self._known[origin]

    def _find(self, origin: str) -> str:
        path, mark, pointer = origin.partition("#/")
        file = self._files.get(path) if mark else None
        start = file.locate(f"/{pointer}").span.start if file is not None else None
        if start is None:
            return shown_origin(origin)
        return f"{path}:{start.line}: {shown_origin(origin).partition(': ')[2]}"


def _view_json(view: LedgerView) -> dict[str, Any]:
    body: dict[str, Any] = {"cluster": view.cluster, "release": view.release, "pools": list(view.pools)}
    if view.changes is None:
        body["lines"] = [_line_json(line) for line in view.lines]
    else:
        body["changes"] = changes_json(view.changes)
    return body | {"unknown": list(view.unknown), "errors": list(view.errors), "notes": list(view.notes)}


def _line_json(line: LedgerLine) -> dict[str, Any]:
    return {
        "pool": line.pool,
        "namespace": line.namespace,
        "workload": line.workload,
        "container": line.container,
        "privilege": str(line.privilege),
        "reach": str(line.reach),
        "origins": list(line.origins),
    }


def changes_json(changes: LedgerDelta) -> list[dict[str, Any]]:
    return [
        {
            "change": str(change.kind),
            "namespace": change.namespace,
            "workload": change.workload,
            "container": change.container,
            "old": None if change.old is None else str(change.old),
            "new": None if change.new is None else str(change.new),
            "reach": str(change.reach),
            "poolsBefore": list(change.pools_before),
            "poolsAfter": list(change.pools_after),
        }
        for change in changes.changes
    ]
