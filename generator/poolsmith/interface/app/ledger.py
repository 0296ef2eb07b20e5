"""Use case: the privileges of a project, and what would change with other values, driver pods included."""

from __future__ import annotations

import json
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import Diagnostic, Severity, UsageError, sorted_unique
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import copied
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE, Holder, Ledger, LedgerLine
from poolsmith.guard.ledger.ledger_delta import LedgerDelta, delta
from poolsmith.guard.ledger.privilege import Privilege, PrivilegeError, includes
from poolsmith.guard.ledger.reach import Reach
from poolsmith.interface.app.set_values import refuse_unsound, set_all
from poolsmith.interface.report.ledger_text import OriginLines
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.plan.driver.driver_change import DriverChange, PoolDriver


def driver_changes_json(changes: Iterable[DriverChange]) -> list[dict[str, Any]]:
    """Kind, pool, what was and what is, and what happens on the nodes."""

    def side(driver: PoolDriver | None) -> dict[str, str] | None:
        return None if driver is None else {"owner": driver.owner, "image": driver.image}

    return [
        {
            "change": str(change.kind),
            "pool": change.pool,
            "old": side(change.old),
            "new": side(change.new),
            "what": change.words,
        }
        for change in changes
    ]


if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from poolsmith.fleet.plan.driver.driver_change import DriverChange
    from poolsmith.guard.ledger.ledger import LineOrigins
    from poolsmith.guard.ledger.prediction import Prediction, Shared
    from poolsmith.project.run.cluster_run import PlannedCluster
    from poolsmith.project.run.project import Project

    _Predicted = tuple[PlannedCluster, Prediction]

NVIDIA_DRIVER = "NVIDIADriver"
_PLACES = (ANY_NODE, NO_KNOWN_NODE)
"""What stands in the place of a pool, and may be asked for like one."""


@record
class LedgerFilter:
    """What to show; empty means all. `holds` is a privilege that a line has to include, `reach` the least bad one.

    `against` is a pool that the one pool is compared with.
    """

    pools: tuple[str, ...] = ()
    against: str | None = None
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
            and (self.holds is None or includes(line.privilege, self.holds))
        )


@record
class LedgerView:
    """One cluster's lines, after the filter; `changes` instead of lines where values were put on top, and `workloads`
    with what brings each about where nobody asked for lines."""

    cluster: str
    release: str
    pools: tuple[str, ...]
    lines: tuple[LedgerLine, ...] = ()
    workloads: tuple[tuple[Holder, LineOrigins], ...] = ()
    lacks: tuple[LedgerLine, ...] | None = None
    """What the pool that it was compared with has, and the pool has not; `lines` are then what it alone has."""
    starts: Mapping[FromProfile, int] = field(default_factory=dict)
    """On which lines of their files the origins of lines stand."""
    changes: LedgerDelta | None = None
    drivers: tuple[DriverChange, ...] = ()
    """What happens to driver pods between two states of a project."""
    unknown: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@record(kw_only=False)
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


def ledger(
    root: Path,
    clusters: Sequence[str],
    chosen: LedgerFilter,
    settings: Sequence[str] = (),
    *,
    by_workload: bool = False,
) -> LedgerResult:
    """With `settings`, in Helm's `--set` grammar: what the ledger would gain and lose if they were the values.

    `by_workload`: lines are wanted only where something narrows them. Raises UsageError, NoInputError.
    """
    project = open_project(root)
    diagnostics: list[Diagnostic] = []
    pools: set[str] = set()
    workloads: set[str] = set()
    views = []
    with rarely_collecting():
        for run, prediction, other in _predicted(project, clusters, settings, diagnostics):
            # Views are all that is kept of a cluster: a fleet's plans and predictions would be most of the memory.
            pools.update(pool.name for pool in prediction.plan.pools)
            workloads.update(prediction.ledger.workloads, other.ledger.workloads if other is not None else ())
            whole = by_workload and other is None and not chosen.narrows
            views.append(_by_workload(run, prediction) if whole else _view(run, prediction, other, chosen))
    check_names(chosen, pools, workloads)
    return LedgerResult(tuple(view for view in views if view is not None), sorted_unique(diagnostics))


def _predicted(
    project: Project, clusters: Sequence[str], settings: Sequence[str], diagnostics: list[Diagnostic]
) -> Iterator[tuple[PlannedCluster, Prediction, Shared | None]]:
    """Each cluster that can be told about, one by one; with settings, also what they would make of it."""
    predicted = _planned(project, clusters, diagnostics)
    if not settings:
        yield from ((run, prediction, None) for run, prediction in predicted)
        return
    changeable = _with_operator(list(predicted))
    releases = [prediction.installation.release for _, prediction in changeable]
    for run, prediction in changeable:
        yield run, prediction, _with_settings(project, prediction, settings, releases)


def _planned(project: Project, clusters: Sequence[str], diagnostics: list[Diagnostic]) -> Iterator[_Predicted]:
    for files in project.select(clusters):
        run = plan_cluster(project, files)
        if run.prediction is not None:
            yield run, run.prediction
        diagnostics.extend(
            item for item in run.diagnostics if item.severity is Severity.ERROR or run.prediction is None
        )


def ledger_json(result: LedgerResult) -> str:
    """The machine-readable ledger, version 1."""
    body = {"version": 1, "clusters": [_view_json(view) for view in result.views]}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def _empty_view(prediction: Prediction) -> LedgerView:
    return LedgerView(
        cluster=prediction.plan.name,
        release=prediction.installation.release,
        pools=tuple(pool.name for pool in prediction.plan.pools),
        unknown=prediction.unknown,
        errors=prediction.installation.errors,
        notes=prediction.installation.notes,
    )


def _by_workload(run: PlannedCluster, prediction: Prediction) -> LedgerView:
    found = [(holder, prediction.origins.of_holder(holder)) for holder in prediction.ledger.holders]
    starts = _starts(run, (origins for _, origins in found))
    return replace(_empty_view(prediction), workloads=tuple(found), starts=starts)


def _view(run: PlannedCluster, prediction: Prediction, other: Shared | None, chosen: LedgerFilter) -> LedgerView | None:
    """None where the cluster has none of the pools that are asked for. `other` is the cluster with other values."""
    view = _empty_view(prediction)
    names = view.pools
    asked = {*chosen.pools, chosen.against} if chosen.against is not None else set(chosen.pools)
    if asked and not (asked <= {*_PLACES, *names} if chosen.against is not None else asked & {*_PLACES, *names}):
        return None
    if other is not None:
        changes = delta(kept(prediction.ledger, chosen), kept(other.ledger, chosen))
        return replace(
            view,
            changes=changes,
            unknown=other.unknown,
            errors=other.installation.errors,
            notes=other.installation.notes,
        )
    known: dict[LineOrigins, LineOrigins] = {}

    def told(lines: Iterable[LedgerLine]) -> tuple[LedgerLine, ...]:
        return tuple(prediction.origins.with_origins(lines, known))

    lines = kept(prediction.ledger, chosen).lines
    if chosen.against is None:
        return replace(view, lines=told(lines), starts=_starts(run, known))
    others = kept(prediction.ledger, replace(chosen, pools=(chosen.against,))).lines
    have, had = ({_role(line, prediction) for line in side} for side in (lines, others))
    more = told(line for line in lines if _role(line, prediction) not in had)
    less = told(line for line in others if _role(line, prediction) not in have)
    return replace(view, lines=more, lacks=less, starts=_starts(run, known))


def _role(line: LedgerLine, prediction: Prediction) -> tuple[str, str, str, Privilege]:
    """What a line is, on whichever pool: drivers of NVIDIADriver objects are called after their pool."""
    made = prediction.shared.made[f"{line.namespace}/{line.workload}"]
    name = NVIDIA_DRIVER if made.through.startswith(f"{NVIDIA_DRIVER}/") else line.workload
    return line.namespace, name, line.container, line.privilege


def _with_settings(
    project: Project, prediction: Prediction, settings: Sequence[str], releases: Sequence[str]
) -> Shared:
    """`releases` are those of all clusters that are asked about. Raises UsageError."""
    before = values_tree(prediction.plan.values)
    values: dict[str, Any] = copied(before)
    set_all(values, settings)
    refuse_unsound(values, before, dict.fromkeys((prediction.installation.release, *releases)))
    shared = project.predictions.with_values(prediction, values)
    refused = [error for error in shared.installation.errors if error not in prediction.installation.errors]
    if refused:
        raise UsageError(f"--set: cluster `{prediction.plan.name}`: {refused[0]}")
    return shared


def kept(whole: Ledger, chosen: LedgerFilter) -> Ledger:
    return Ledger(tuple(filter(chosen.keeps, whole.lines)), whole.unknown)


def check_names(chosen: LedgerFilter, pools: Iterable[str], workloads: Iterable[str]) -> None:
    """A name that nothing has would otherwise look like a pool without privileges. Raises UsageError."""
    names = {name for workload in workloads for name in (workload, workload.partition("/")[2])}
    places = {*_PLACES, *pools}
    against = () if chosen.against is None else (chosen.against,)
    for kind, asked, known in (
        ("pool", chosen.pools, places),
        ("workload", chosen.workloads, names),
        ("pool", against, places),
    ):
        for name in asked:
            if known and name not in known:
                raise UsageError(f"there is no {kind} `{name}` here; {did_you_mean(name, sorted(known))}")


def _with_operator(predicted: list[_Predicted]) -> list[_Predicted]:
    """Clusters whose values could change. Raises UsageError where there is none."""
    found = [item for item in predicted if item[1].plan.chart is not None]
    if predicted and not found:
        names = ", ".join(f"`{prediction.plan.name}`" for _, prediction in predicted)
        raise UsageError(f"--set: cluster {names} has no operator whose values could change")
    return found


def _starts(run: PlannedCluster, found: Iterable[LineOrigins]) -> dict[FromProfile, int]:
    """Where the lines of profiles stand in their files today."""
    files = run.loaded.files
    starts = {}
    for line in {item for origins in found for item in origins if isinstance(item, FromProfile)}:
        start = files[line.path].line_at(line.pointer) if line.path in files else None
        if start is not None:
            starts[line] = start
    return starts


def _view_json(view: LedgerView) -> dict[str, Any]:
    body: dict[str, Any] = {"cluster": view.cluster, "release": view.release, "pools": list(view.pools)}
    if view.changes is None:
        origins = OriginLines(view.starts)
        body["lines"] = [_line_json(line, origins) for line in view.lines]
        if view.lacks is not None:
            body["lacks"] = [_line_json(line, origins) for line in view.lacks]
    else:
        body["changes"] = changes_json(view.changes)
        body["drivers"] = driver_changes_json(view.drivers)
    return body | {"unknown": list(view.unknown), "errors": list(view.errors), "notes": list(view.notes)}


def _line_json(line: LedgerLine, origins: OriginLines) -> dict[str, Any]:
    return {
        "pool": line.pool,
        "namespace": line.namespace,
        "workload": line.workload,
        "container": line.container,
        "privilege": str(line.privilege),
        "reach": str(line.reach),
        "origins": list(origins.of(line.origins)),
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
