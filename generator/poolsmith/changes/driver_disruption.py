"""Driver pods that a change replaces, and what that does to the nodes: at the upgrade policy's pace, or at once.

Source: NVIDIA/gpu-operator:controllers/{object_controls,upgrade_controller}.go, internal/predicates/restart_only.go,
NVIDIA/k8s-operator-libs:pkg/upgrade.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.changes.change_report import Disruption, DisruptionKind, Waves
from poolsmith.changes.driver_pods import changed_drivers, pool_drivers
from poolsmith.changes.pool_words import on_pools
from poolsmith.changes.template_changes import told_fields
from poolsmith.changes.upgrade_pace import UpgradePace, nodes_of, upgrade_pace
from poolsmith.diagnostics.listing import counted
from poolsmith.diagnostics.printable import shorten
from poolsmith.plan.driver_change import DriverChangeKind
from poolsmith.sources.pod_template import pod_template_pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.catalog import Catalog
    from poolsmith.changes.causes import Causes
    from poolsmith.changes.restarts import Restart
    from poolsmith.changes.rolled_workload import RolledWorkload
    from poolsmith.plan.driver_change import DriverChange
    from poolsmith.review.change import SeenCluster

_ROLLED = (DriverChangeKind.UPDATED, DriverChangeKind.HANDED_OVER)
_GONE = (DriverChangeKind.REMOVED,)


def driver_disruptions(
    before: SeenCluster,
    after: SeenCluster,
    changed: Mapping[str, Restart],
    workloads: Mapping[str, RolledWorkload],
    causes: Causes,
    catalog: Catalog,
) -> Iterator[Disruption]:
    """Of driver pods that were there before: one for each DaemonSet and what happens to it.

    `changed` are the templates that differ by key, `workloads` those of both sides.
    """
    groups: dict[tuple[DriverChangeKind, str], list[DriverChange]] = {}
    for change in changed_drivers(before.prediction, after.prediction, catalog, causes.renamed):
        if change.kind is DriverChangeKind.INSTALLED:
            continue
        driver = change.new or change.old
        assert driver is not None, "a change has one of them"
        if change.kind is DriverChangeKind.UPDATED and driver.key not in changed:
            continue  # stored alike: no pod is replaced
        groups.setdefault((change.kind, driver.key), []).append(change)
    for (kind, key), changes in groups.items():
        yield _disruption(kind, workloads[key], changes, changed.get(key), after, causes)


def _disruption(
    kind: DriverChangeKind,
    workload: RolledWorkload,
    changes: list[DriverChange],
    restart: Restart | None,
    after: SeenCluster,
    causes: Causes,
) -> Disruption:
    pools = tuple(sorted(change.pool for change in changes))
    pace = _pace(after, changes[0]) if kind in _ROLLED else None
    nodes = nodes_of(after, pools) if kind not in _GONE else None
    waves = _waves(after, pace, nodes)
    why = restart.why if restart is not None and kind in _ROLLED else ()
    return Disruption(
        kind=DisruptionKind.DRIVER,
        what=workload.made.workload,
        namespace=workload.namespace,
        pools=pools,
        words=_words(kind, workload, changes[0], pools, pace, waves, restart),
        why=why,
        waves=waves,
        place=causes.of_workload(workload.made, pools),
    )


def _pace(after: SeenCluster, change: DriverChange) -> UpgradePace:
    assert change.new is not None, "what is rolled is there afterwards"
    drivers = sorted((pool, driver.owner) for pool, driver in pool_drivers(after.prediction).items())
    return upgrade_pace(after, change.new.owner, drivers)


def _waves(after: SeenCluster, pace: UpgradePace | None, nodes: int | None) -> Waves:
    if pace is None:
        return Waves(nodes=nodes, at_once="all", waves=1, drains=False)
    return pace.waves(nodes, nodes_of(after, pace.shared_by))


def _words(
    kind: DriverChangeKind,
    workload: RolledWorkload,
    change: DriverChange,
    pools: tuple[str, ...],
    pace: UpgradePace | None,
    waves: Waves,
    restart: Restart | None,
) -> str:
    where = on_pools(pools)
    name = f"`{shorten(workload.made.name)}`"
    if kind is DriverChangeKind.REMOVED:
        return f"the driver pods of {name} {where} are deleted, and none follow"
    if kind is DriverChangeKind.DELETED:
        was = _was(change, name)
        return f"the driver pods {where} are deleted at once, and those of {name} start{was}: pods that use GPUs go"
    assert pace is not None, "what is rolled has a pace"
    first = (
        f"the driver pods of {name} {where} are replaced"
        if kind is DriverChangeKind.UPDATED
        else (f"driver pods {where} are handed over to {name}")
    )
    told = told_fields(restart.why, pod_template_pointer(workload.body) or "") if restart is not None else ""
    return f"{first}, {_paced(pace, waves)}" + (f": {told}" if told else "")


def _was(change: DriverChange, name: str) -> str:
    """The DaemonSet that is gone, where it had another name."""
    was = f"`{shorten(change.old.key.rpartition('/')[2])}`" if change.old is not None else name
    return f" in the place of those of {was}" if was != name else ""


def _paced(pace: UpgradePace, waves: Waves) -> str:
    if not pace.automatic:
        return "but stay until somebody deletes them, since nothing upgrades them by itself"
    if not waves.automatic:
        return "but stay: the upgrade policy lets no node be unavailable (maxUnavailable 0)"
    effect = "each node is drained" if waves.drains else "pods that use GPUs are deleted, the node is not drained"
    nodes = f"{counted(waves.nodes, 'node')}, " if waves.nodes is not None else ""
    at_once = "all at once" if waves.at_once == "all" else f"{waves.at_once} at a time"
    count = f", {counted(waves.waves, 'wave')}" if waves.waves is not None else ", number of nodes unknown"
    return f"{nodes}{at_once}{count}; {effect}"
