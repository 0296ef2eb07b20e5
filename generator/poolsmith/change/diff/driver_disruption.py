"""Driver pods that a change replaces, and what that does to the nodes: at the upgrade policy's pace, or at once.

The operator restarts driver pods in place if they would install the same driver. It compares a digest of what the
driver is installed from, and of nothing else.

Sources: NVIDIA/gpu-operator@v26.7.0: internal/config/driver_config_digest.go, controllers/object_controls.go
(extractDriverInstallConfig), controllers/upgrade_controller.go, internal/state/driver.go (buildDriverInstallConfig),
internal/predicates/restart_only.go; NVIDIA/k8s-operator-libs:pkg/upgrade.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import Disruption, DisruptionKind, Waves
from poolsmith.change.diff.driver_pods import (
    ALL,
    OBJECT,
    UpgradePace,
    changed_drivers,
    minutes_of,
    nodes_of,
    pool_drivers,
    upgrade_pace,
)
from poolsmith.change.diff.restarts import changed_fields
from poolsmith.change.diff.rows import on_pools
from poolsmith.core.diagnostics.message_text import counted, shorten
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import (
    CONTAINER_FIELDS,
    mapping,
    mappings,
    pod_template_of,
    pod_template_pointer,
)
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.plan.driver.driver_change import DriverChangeKind
from poolsmith.gpu.catalog.operands import DRIVER_DIGEST
from poolsmith.gpu.catalog.releases import behaviour_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.diff.causes import Causes
    from poolsmith.change.diff.restarts import Restart, RolledWorkload
    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.fleet.plan.driver.driver_change import DriverChange
    from poolsmith.gpu.catalog import Catalog


_MAIN = "nvidia-driver-ctr"
_WITH_ENV = (_MAIN, "k8s-driver-manager", "nvidia-fs-ctr", "nvidia-gdrcopy-ctr")
_OF_OBJECT = (
    ("driverType",),
    ("kernelModuleType",),
    ("args",),
    ("secretEnv",),
    ("env",),
    ("manager", "env"),
    ("licensingConfig", "secretName"),
    ("virtualTopologyConfig", "name"),
    ("kernelModuleConfig", "name"),
    ("repoConfig", "name"),
    ("certConfig", "name"),
    ("rdma", "enabled"),
    ("rdma", "useHostMofed"),
    ("gds", "enabled"),
    ("gds", "env"),
    ("gdrcopy", "enabled"),
    ("gdrcopy", "env"),
    ("usePrecompiled",),
)
"""Fields of an NVIDIADriver that are in its digest, besides images and volumes."""


def installs_the_same(old: RolledWorkload, new: RolledWorkload, before: SeenCluster, after: SeenCluster) -> bool:
    """Of one DaemonSet of driver pods before and after; never where the older release gave its pods no digest."""
    if not behaviour_at(before.prediction.installation.release)["driverConfigDigest"]:
        return False
    if not new.made.through.startswith(OBJECT):
        return _of_pods(old, everything=True) == _of_pods(new, everything=True)
    same_pods = _of_pods(old, everything=False) == _of_pods(new, everything=False)
    return same_pods and _of_object(before, old) == _of_object(after, new)


def _of_pods(workload: RolledWorkload, *, everything: bool) -> dict[str, Any]:
    """Images and volumes; of pods that no object describes also commands and variables, which are the whole truth."""
    pod = mapping(mapping(pod_template_of(workload.body)).get("spec"))
    found: dict[str, Any] = {
        "volumes": sorted(repr((item.get("name"), _source(item))) for item in mappings(pod.get("volumes")))
    }
    for field in CONTAINER_FIELDS:
        for container in mappings(pod.get(field)):
            name = str(container.get("name"))
            found[f"{name}.image"] = container.get("image")
            if name == _MAIN:
                found["mounts"] = sorted(repr(_mount(item)) for item in mappings(container.get("volumeMounts")))
            if everything and name == _MAIN:
                found["secrets"] = [
                    value_at(item, ("secretRef", "name")) for item in mappings(container.get("envFrom"))
                ]
                found["run"] = container.get("command"), container.get("args")
            if everything and name in _WITH_ENV:
                found[f"{name}.env"] = sorted(
                    (str(item.get("name")), str(item.get("value", "")))
                    for item in mappings(container.get("env"))
                    if "valueFrom" not in item and item.get("name") != DRIVER_DIGEST
                )
    return found


def _source(volume: dict[str, Any]) -> tuple[Any, ...]:
    paths = (("configMap", "name"), ("secret", "secretName"), ("hostPath", "path"))
    return tuple(value_at(volume, path) for path in paths)


def _mount(mount: dict[str, Any]) -> tuple[Any, ...]:
    return mount.get("name"), mount.get("mountPath"), mount.get("subPath") or "", mount.get("readOnly") or False


def _of_object(seen: SeenCluster, workload: RolledWorkload) -> list[str]:
    resources = seen.prediction.installation.resources
    through = workload.made.through
    spec: Any = next(
        (item["spec"] for item in resources if f"{item['kind']}/{item['metadata']['name']}" == through), {}
    )
    return [repr(value_at(spec, path)) for path in _OF_OBJECT]


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
    release = catalog.releases.near(after.prediction.installation.release)
    in_place = release is not None and release.restarts_in_place
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
        restart = changed.get(key) if kind in _ROLLED else None
        stays = (
            in_place
            and kind is DriverChangeKind.UPDATED
            and restart is not None
            and installs_the_same(restart.old, restart.new, before, after)
        )
        yield _disruption(workloads[key], _PodChange(kind=kind, changes=changes, restart=restart, stays=stays), causes)


@record
class _PodChange:
    """What becomes of one DaemonSet on the pools of `changes`. `stays`: pods restart, and the driver stays loaded."""

    kind: DriverChangeKind
    changes: list[DriverChange]
    restart: Restart | None
    stays: bool

    @property
    def pools(self) -> tuple[str, ...]:
        return tuple(sorted(change.pool for change in self.changes))

    @property
    def old_name(self) -> str:
        """Of the DaemonSet that had the pods."""
        old = self.changes[0].old
        return old.key.rpartition("/")[2] if old is not None else ""


def _disruption(workload: RolledWorkload, pods: _PodChange, causes: Causes) -> Disruption:
    before, after = causes.before, causes.after
    assert before is not None, "asked only of what both sides have"
    assert after is not None, "asked only of what both sides have"
    pace = _pace(after, pods.changes[0]) if pods.kind in _ROLLED else None
    if pods.kind in _GONE:
        nodes = nodes_of(before, (causes.old_name(pool) for pool in pods.pools))
    else:
        nodes = nodes_of(after, pods.pools)
    waves = _timed(_waves(after, pace, nodes), minutes_of(after, pods.pools))
    return Disruption(
        kind=DisruptionKind.DRIVER,
        what=workload.made.workload,
        namespace=workload.namespace,
        pools=pods.pools,
        words=_words(workload, pods, pace, waves),
        why=pods.restart.why if pods.restart is not None else (),
        waves=replace(waves, drains=waves.drains and not pods.stays),
        place=causes.of_workload(workload.made, pods.pools),
    )


def _pace(after: SeenCluster, change: DriverChange) -> UpgradePace:
    assert change.new is not None, "what is rolled is there afterwards"
    drivers = sorted((pool, driver[0].owner) for pool, driver in pool_drivers(after.prediction).items())
    return upgrade_pace(after, change.new.owner, drivers)


def _waves(after: SeenCluster, pace: UpgradePace | None, nodes: int | None) -> Waves:
    if pace is None:
        return Waves(nodes=nodes, at_once="all", waves=1, drains=False)
    return pace.waves(nodes, nodes_of(after, pace.shared_by))


def _timed(waves: Waves, minutes: int | None) -> Waves:
    return waves if minutes is None or waves.waves is None else replace(waves, minutes=minutes * waves.waves)


def _words(workload: RolledWorkload, pods: _PodChange, pace: UpgradePace | None, waves: Waves) -> str:
    where = on_pools(pods.pools)
    name, was = f"`{shorten(workload.made.name)}`", f"`{shorten(pods.old_name)}`"
    if pods.kind is DriverChangeKind.REMOVED:
        return f"the driver pods of {name} {where} are deleted, and none follow"
    if pods.kind is DriverChangeKind.DELETED:
        instead = f" in the place of those of {was}" if was != name else ""
        return f"the driver pods {where} are deleted at once, and those of {name} start{instead}: pods that use GPUs go"
    assert pace is not None, "what is rolled has a pace"
    if pods.kind is DriverChangeKind.HANDED_OVER:
        words = f"the driver pods of {was} {where} are handed over to {name}, {_paced(pace, waves, stays=False)}"
    else:
        does = "restart in place" if pods.stays else "are replaced"
        words = f"the driver pods of {name} {where} {does}, {_paced(pace, waves, stays=pods.stays)}"
    if pods.restart is None:
        return words
    return f"{words}: {changed_fields(pods.restart.why, pod_template_pointer(workload.body) or '')}"


def _paced(pace: UpgradePace, waves: Waves, *, stays: bool) -> str:
    if not pace.automatic:
        return "but only when somebody deletes them: nothing upgrades them by itself"
    if not waves.automatic:
        return "but never by itself: the upgrade policy lets no node be unavailable (maxUnavailable 0)"
    nodes = f"{counted(waves.nodes, 'node')}, " if waves.nodes is not None else ""
    at_once = "all at once" if waves.at_once == ALL else f"{waves.at_once} at a time"
    count = f", {counted(waves.waves, 'wave')}" if waves.waves is not None else ", number of nodes unknown"
    if stays:
        effect = "the driver stays loaded, and pods that use GPUs stay"
    else:
        first = "once the jobs that it waits for have ended, " if pace.waits else ""
        drained = "each node is drained" if waves.drains else "the nodes are not drained"
        effect = f"{first}pods that use GPUs are deleted, {drained}"
    return f"{nodes}{at_once}{count}; {effect}"
