"""What stays on hosts, nodes and GPUs, and in the API, where a pool or a cluster is no longer what it was; and who
removes it.

What each part of the stack leaves is in `verify/left_overs.yaml`, where `verify` looks for it on clusters that run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.rows import on_pools
from poolsmith.core.diagnostics.message_text import joined, listed, plural, shorten
from poolsmith.fleet.plan.plan import PROVISIONER
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS, Workload
from poolsmith.gpu.catalog.live_cluster import read_left_overs
from poolsmith.gpu.catalog.sandboxes import COCO_OPERATOR, KATA_DEPLOY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.live_cluster import Trace

    Pair = tuple[PoolPlan, PoolPlan | None]
    """A pool as it was, and as it is now; None for one that is gone."""

Stays = tuple[str, tuple[str, ...]]
OPERATOR, TOOLKIT, DRIVER, VFIO, KATA_MANAGER = "operator", "toolkit", "driver", "vfio", "kata-manager"
CONFIDENTIAL, MPS = "confidential", "mps"
_FEW = 4
_LAYOUT_OFF = "all-disabled"


def left_behind(before: SeenCluster, after: SeenCluster | None, new_names: Mapping[str, str]) -> Iterator[Stays]:
    """What stays in words, and the pools of now; None: the cluster is gone. What is gone is named in the words.

    `new_names` are those of pools, by old ones. Nodes of a pool that is gone keep what selects them, so that nothing
    ends there as long as its installation goes on.
    """
    now = {pool.name: pool for pool in after.plan.pools} if after is not None else {}
    pairs = [(pool, now.get(new_names.get(pool.name, pool.name))) for pool in before.plan.pools]
    ends = _ends(after.plan if after is not None else None)
    left: dict[str, list[Pair]] = {}
    for pool, other in pairs:
        kept = _parts(other, after.plan) if other is not None and after is not None else frozenset()
        for part in _parts(pool, before.plan) - kept:
            if other is not None or part in ends:
                left.setdefault(part, []).append((pool, other))
    for trace in read_left_overs().traces:
        if trace.of in left and trace.holds(_version(trace, before.plan), ends=trace.of in ends):
            yield f"{trace.words}, {_where(left[trace.of])}: {trace.who}", _still(left[trace.of])
    yield from _labels_and_partitions(pairs)


def _parts(pool: PoolPlan, plan: ClusterPlan) -> frozenset[str]:
    """The parts of the stack that have written on the nodes of a pool."""
    spec, by_operator = pool.profile.spec, plan.chart is not None
    kata = spec.workload in KATA_WORKLOADS
    manager = plan.setting("kataManager", "enabled")
    whole = spec.workload is not Workload.CONTAINER
    known = {
        OPERATOR: by_operator,
        TOOLKIT: by_operator and not whole and pool.toolkit == "operator",
        DRIVER: pool.driver is not None and pool.driver.managed,
        VFIO: by_operator and whole and spec.workload is not Workload.VM_VGPU,
        KATA_DEPLOY: kata and _unit(plan, KATA_DEPLOY),
        COCO_OPERATOR: kata and _unit(plan, COCO_OPERATOR),
        KATA_MANAGER: kata and manager is not None and manager.value is True,
        CONFIDENTIAL: spec.workload is Workload.KATA_CONFIDENTIAL,
        MPS: spec.sharing is not None and spec.sharing.mps is not None,
    }
    return frozenset(part for part, is_there in known.items() if is_there)


def _unit(plan: ClusterPlan, name: str) -> bool:
    return any(unit.name == name for unit in plan.units)


def _ends(after: ClusterPlan | None) -> frozenset[str]:
    """The parts whose installation ends; each other one only leaves some nodes."""
    installers = {name for name in (KATA_DEPLOY, COCO_OPERATOR) if after is None or not _unit(after, name)}
    by_operator = (OPERATOR, TOOLKIT, DRIVER, VFIO, KATA_MANAGER, CONFIDENTIAL, MPS)
    return frozenset((*installers, *(by_operator if after is None or after.chart is None else ())))


def _version(trace: Trace, plan: ClusterPlan) -> str:
    charts = (unit.chart.version for unit in plan.units if unit.name == trace.of and unit.chart is not None)
    return next(charts, plan.cluster.spec.stack.release)


def _where(pairs: list[Pair]) -> str:
    still, gone = _still(pairs), [f"`{shorten(pool.name)}`" for pool, other in pairs if other is None]
    nodes = [f"on nodes that stay of {plural(len(gone), 'pool')} {joined(gone, _FEW)}"] if gone else []
    return " and ".join([*([on_pools(still)] if still else []), *nodes])


def _still(pairs: list[Pair]) -> tuple[str, ...]:
    return tuple(other.name for _, other in pairs if other is not None)


def _labels_and_partitions(pairs: list[Pair]) -> Iterator[Stays]:
    """What nodes were told to carry, and who makes them is no longer asked to give; and how GPUs were cut."""
    layouts: dict[str, list[Pair]] = {}
    labels: dict[tuple[str, ...], list[Pair]] = {}
    for pool, other in pairs:
        if gone := _gone_labels(pool, other):
            labels.setdefault(gone, []).append((pool, other))
        if _layout(pool) and (other is None or other.profile.spec.gpu.mig is None):
            layouts.setdefault(_layout(pool), []).append((pool, other))
    for keys, found in labels.items():
        words = f"nodes keep the {plural(len(keys), 'label')} {listed(map(shorten, keys), _FEW)}"
        runs = "" if _still(found) else ", and what these select runs on there"
        yield (
            f"{words} until somebody takes {'it' if len(keys) == 1 else 'them'} off{runs}, {_where(found)}",
            _still(found),
        )
    for layout, found in layouts.items():
        words = f"GPUs stay partitioned as `{shorten(layout)}` until the layout `{_LAYOUT_OFF}` is asked for"
        yield f"{words}, {_where(found)}", _still(found)


def _gone_labels(pool: PoolPlan, other: PoolPlan | None) -> tuple[str, ...]:
    """With their values where the pool is still there; the keys alone, which are alike for many, where it is gone."""
    if other is None:
        return tuple(sorted(_labels(pool)))
    kept = _labels(other)
    return tuple(sorted(f"{key}={value}" for key, value in _labels(pool).items() if key not in kept))


def _labels(pool: PoolPlan) -> dict[str, str]:
    return {item.key: item.value for item in pool.labels if item.writer == PROVISIONER}


def _layout(pool: PoolPlan) -> str:
    mig = pool.profile.spec.gpu.mig
    return mig.layout if mig is not None and mig.layout != _LAYOUT_OFF else ""
