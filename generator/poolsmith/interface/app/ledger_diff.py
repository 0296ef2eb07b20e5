"""Use cases: changes of privileges and driver pods since a revision, and of a default installation between releases."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.driver_pods import changed_drivers
from poolsmith.core.diagnostics import NoInputError, Severity, UsageError, sorted_unique
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record
from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.install import InstallationInput, install
from poolsmith.fleet.profiles.fleet import PROFILES
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD, container_runtimes
from poolsmith.gpu.catalog.operands import operand_releases
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART, OPERATOR_NAMESPACE
from poolsmith.gpu.catalog.upgrades import read_installations
from poolsmith.guard.ledger.installed_ledger import installed_ledger
from poolsmith.guard.ledger.ledger import Ledger
from poolsmith.guard.ledger.ledger_delta import LedgerDelta, delta
from poolsmith.guard.policies.revision import folder_at
from poolsmith.interface.app.ledger import LedgerResult, LedgerView, changes_json, check_names, kept
from poolsmith.interface.app.set_values import refuse_unsound, set_all
from poolsmith.project.output.batches import rarely_collecting
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from poolsmith.fleet.operands.expansion import Installation
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.ledger.ledger_delta import Change
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


@record(kw_only=False)
class ReleaseChanges:
    """The changes of one installation; `unknown` is what can't be told of one of the two releases."""

    title: str
    settings: tuple[str, ...]
    changes: LedgerDelta
    unknown: tuple[str, ...] = ()


@record(kw_only=False)
class ReleaseDiff:
    """One part for each installation of the catalog, without what the parts before it told; or one, with the values."""

    before: str
    after: str
    pools: tuple[str, ...]
    parts: tuple[ReleaseChanges, ...]


def release_diff(before: str, after: str, chosen: LedgerFilter, settings: Sequence[str] = ()) -> ReleaseDiff:
    """Of `settings` on top of each chart's defaults; without any, of the installations that the catalog knows.

    Raises UsageError for a release that is not known, a value that neither reads, and names that nothing has.
    """
    known = read_installations()
    if settings:
        refuse_unsound(_values(settings), {}, (after, before))
        compared = [_compared("an installation with values", before, after, settings, strict=True)]
    else:
        compared = [_compared(item.title, before, after, item.values) for item in known.installations]
    check_names(
        chosen, known.nodes, (name for item in compared for side in (item.old, item.new) for name in side.workloads)
    )
    parts = []
    told: set[Change] = set()
    for item in compared:
        part = item.changes(chosen)
        rest = tuple(change for change in part.changes.changes if change not in told)
        told.update(rest)
        parts.append(replace(part, changes=LedgerDelta(rest, part.changes.unknown)))
    return ReleaseDiff(before, after, tuple(known.nodes), tuple(parts))


def release_diff_json(result: ReleaseDiff) -> str:
    """The machine-readable difference, version 1."""
    body = {
        "version": 1,
        "from": result.before,
        "to": result.after,
        "parts": [
            {
                "title": part.title,
                "values": list(part.settings),
                "changes": changes_json(part.changes),
                "unknown": list(part.unknown),
            }
            for part in result.parts
        ],
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


@record(kw_only=False)
class _Compared:
    """The whole ledgers of one installation with the one release and with the other."""

    title: str
    settings: tuple[str, ...]
    old: Ledger
    new: Ledger
    unknown: tuple[str, ...]

    def changes(self, chosen: LedgerFilter) -> ReleaseChanges:
        difference = delta(kept(self.old, chosen), kept(self.new, chosen))
        return ReleaseChanges(self.title, self.settings, difference, self.unknown)


def _compared(title: str, before: str, after: str, settings: Sequence[str], *, strict: bool = False) -> _Compared:
    """With `strict`, what a release refuses is a UsageError; else it is unknown, and nothing is compared."""
    values = _values(settings)
    installed = [_installed(release, values) for release in (before, after)]
    refused = [f"{item.release}: {item.errors[0]}" for item in installed if item.errors]
    if refused and strict:
        raise UsageError(refused[0])
    ledgers = [installed_ledger(item) for item in installed]
    unknown = [
        f"{item.release}: {text}"
        for item, ledger in zip(installed, ledgers, strict=True)
        for text in (*item.unknown, *ledger.unknown)
    ]
    old, new = (Ledger(), Ledger()) if refused else ledgers
    return _Compared(title, tuple(settings), old, new, tuple(dict.fromkeys((*refused, *unknown))))


_RUNTIME_VERSION = "2.1.4"


def _values(settings: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    set_all(values, settings)
    return values


def _installed(release: str, values: dict[str, Any]) -> Installation:
    chart = read_chart(OPERATOR_CHART, release)
    if release not in operand_releases() or chart is None:
        known = sorted(operand_releases(), key=version_key, reverse=True)
        raise UsageError(f"the operands of release `{release}` are not in the catalog; {did_you_mean(release, known)}")
    status = container_runtimes().to_status(CONTAINERD, _RUNTIME_VERSION)
    nodes = tuple(Node(name=name, labels=labels, runtime=status) for name, labels in read_installations().nodes.items())
    return install(
        InstallationInput(release=release, namespace=OPERATOR_NAMESPACE, nodes=nodes, values=values, chart=chart)
    )
