"""The driver pods of each pool, what happens to them, and how fast the operator replaces them.

The upgrade policy that holds says how many nodes are replaced at a time. The nodes of a ClusterPolicy share one limit;
from v26.7.0 on each NVIDIADriver has its own. Source: NVIDIA/k8s-operator-libs:pkg/upgrade/{common_manager,
upgrade_inplace}.go, NVIDIA/gpu-operator:controllers/upgrade_controller.go.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from poolsmith.change.diff.change_report import Waves
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import pod_template_of
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
from poolsmith.fleet.operands.expansion import Maker
from poolsmith.fleet.operands.operator_labels import upgrades_driver
from poolsmith.fleet.plan.driver.driver_change import POLICY, PoolDriver, driver_changes
from poolsmith.gpu.catalog.node_labels import KERNEL, OS_ID, OS_VERSION
from poolsmith.gpu.catalog.releases import behaviour_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.fleet.operands.expansion import KubernetesObject, Made
    from poolsmith.fleet.plan.driver.driver_change import DriverChange
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.ledger.prediction import Prediction


OBJECT = "NVIDIADriver/"
_POLICY_APPS = ("nvidia-driver-daemonset", "nvidia-vgpu-manager-daemonset")
_APP = ("metadata", "labels", "app")
_SELECTOR = ("spec", "template", "spec", "nodeSelector")
_SYSTEM = (KERNEL, OS_ID, OS_VERSION)
_CONTAINERS = ("spec", "template", "spec", "containers")


def pool_drivers(prediction: Prediction, renamed: Mapping[str, str] | None = None) -> dict[str, tuple[PoolDriver, ...]]:
    """By pool, of the names that `renamed` gives; a pool without driver pods is not there."""
    pools = {pool.name for pool in prediction.plan.pools}
    names = renamed or {}
    found: dict[str, tuple[PoolDriver, ...]] = {}
    for item in prediction.installation.made:
        if is_driver(item):
            owner = item.through if item.through.startswith(OBJECT) else POLICY
            driver = PoolDriver(
                owner=owner,
                image=_image(item),
                template=_digest(pod_template_of(item.body)),
                key=item.key,
                system=_system(item),
            )
            for pool in prediction.ledger.landing.get(item.key, ()):
                if pool in pools:
                    name = names.get(pool, pool)
                    found[name] = (*found.get(name, ()), driver)
    return found


def _system(item: Made) -> tuple[tuple[str, str], ...]:
    selector = value_at(item.body, _SELECTOR) or {}
    return tuple((key, str(selector[key])) for key in _SYSTEM if key in selector)


def changed_drivers(
    before: Prediction | None, after: Prediction | None, catalog: Catalog, renamed: Mapping[str, str] | None = None
) -> tuple[DriverChange, ...]:
    """Between two states of a cluster; None where it does not exist. `renamed` are new names of pools by old ones."""
    release = catalog.releases.near(after.installation.release) if after is not None else None
    return driver_changes(
        pool_drivers(before, renamed) if before is not None else {},
        pool_drivers(after) if after is not None else {},
        hands_over=release is not None and release.driver_object.hands_over,
        same_systems=_same_systems(before, after, renamed or {}),
    )


def _same_systems(before: Prediction | None, after: Prediction | None, renamed: Mapping[str, str]) -> frozenset[str]:
    """Pools whose nodes have the kernels and operating systems that they had."""
    if before is None or after is None:
        return frozenset()
    then = _systems(before, renamed)
    return frozenset(pool for pool, systems in _systems(after, {}).items() if then.get(pool) == systems)


def _systems(prediction: Prediction, names: Mapping[str, str]) -> dict[str, set[tuple[str | None, ...]]]:
    found: dict[str, set[tuple[str | None, ...]]] = {}
    for node in prediction.installation.nodes:
        found.setdefault(names.get(node.pool, node.pool), set()).add(tuple(map(node.labels.get, _SYSTEM)))
    return found


def is_driver(item: Made) -> bool:
    """Whether these are pods that install a driver on their nodes."""
    if item.maker is not Maker.OPERATOR or item.body["kind"] != "DaemonSet":
        return False
    return item.through.startswith(OBJECT) or str(value_at(item.body, _APP)).startswith(_POLICY_APPS)


def _image(item: Made) -> str:
    containers = value_at(item.body, _CONTAINERS)
    return str(containers[0].get("image", "")) if containers else ""


def _digest(template: Any) -> str:
    return hashlib.sha256(repr(template).encode()).hexdigest()[:16]


ALL = "all"
_OF_POLICY = ("spec", "driver", "upgradePolicy")
_OF_OBJECT = ("spec", "upgradePolicy")
_BY_OBJECT = "driver-object"
_PARALLEL, _UNAVAILABLE = 1, "25%"
"""What the operator's definitions fill in."""


@record
class UpgradePace:
    """`parallel` nodes at a time (0: no limit), and never more than `unavailable` (a number or percentage; None: no
    limit) of the nodes of the pools in `shared_by`. `waits`: for pods that the policy selects to end. `policy`: where
    that is said, in words."""

    automatic: bool
    parallel: int = _PARALLEL
    unavailable: str | None = _UNAVAILABLE
    drains: bool = False
    waits: bool = False
    shared_by: tuple[str, ...] = ()
    policy: str = ""

    def waves(self, nodes: int | None, sharing: int | None) -> Waves:
        """For `nodes` of the `sharing` nodes that have the limit in common; None where profiles don't tell."""
        limit = self._limit(sharing)
        at_once = self._at_once(nodes, limit)
        moves = self.automatic and at_once != 0
        return Waves(
            nodes=nodes,
            at_once=self._text(nodes, at_once) if moves else "0",
            waves=None if not moves or nodes is None or at_once is None else -(-nodes // at_once),
            drains=self.drains,
            automatic=moves,
            limit=self._setting(limit),
            policy=self.policy,
        )

    def _setting(self, limit: int | None) -> str:
        """The lower of both limits."""
        if self.parallel and (limit is None or self.parallel <= limit):
            return f"maxParallelUpgrades {self.parallel}"
        return "" if self.unavailable is None else f"maxUnavailable {self.unavailable}"

    def _limit(self, sharing: int | None) -> int | None:
        """Of `unavailable`, in nodes. A percentage is rounded up, so that it is one node at least."""
        if self.unavailable is None:
            return sharing
        if not self.unavailable.endswith("%"):
            return int(self.unavailable)
        percent = int(self.unavailable.removesuffix("%"))
        if percent == 0:
            return 0
        return None if sharing is None else -(-sharing * percent // 100)

    def _at_once(self, nodes: int | None, limit: int | None) -> int | None:
        if limit is None:
            return 1 if self.parallel == 1 else None
        asked = self.parallel or nodes
        return limit if asked is None else min(asked, limit)

    def _text(self, nodes: int | None, at_once: int | None) -> str:
        if at_once is not None:
            return ALL if nodes is not None and at_once >= nodes > 1 else str(at_once)
        if not self.parallel:
            return ALL if self.unavailable in (None, "100%") else str(self.unavailable)
        return (
            str(self.parallel) if self.unavailable in (None, "100%") else f"{self.parallel}, at most {self.unavailable}"
        )


def upgrade_pace(seen: SeenCluster, owner: str, drivers: Iterable[tuple[str, str]]) -> UpgradePace:
    """Of the driver pods that `owner` describes (`ClusterPolicy`, `NVIDIADriver/<name>`) after a change.

    `drivers` are all pools that have driver pods then, with the owners of these.
    """
    resources = seen.prediction.installation.resources
    behaviour = behaviour_at(seen.prediction.installation.release)
    policy = next((item for item in resources if item["kind"] == "ClusterPolicy"), None)
    spec = ClusterPolicySpec(policy, cdi_by_default=behaviour["cdiByDefault"]) if policy is not None else None
    by_object = behaviour["autoUpgrade"] == _BY_OBJECT and (spec is None or spec.delegates_drivers)
    if by_object and owner.startswith(OBJECT):
        own = next((item for item in resources if f"{item['kind']}/{item['metadata']['name']}" == owner), None)
        pools = tuple(pool for pool, other in drivers if other == owner)
        return _pace(own, _OF_OBJECT, pools, automatic=_flag(own, _OF_OBJECT), policy=f"the upgrade policy of {owner}")
    automatic = spec is not None and upgrades_driver(spec, behaviour)
    pools = tuple(pool for pool, _ in drivers)
    return _pace(policy, _OF_POLICY, pools, automatic=automatic, policy="the upgrade policy of the ClusterPolicy")


def _flag(resource: KubernetesObject | None, path: tuple[str, ...]) -> bool:
    return bool(value_at(resource, (*path, "autoUpgrade"), missing=True))


def _pace(
    resource: KubernetesObject | None, path: tuple[str, ...], pools: tuple[str, ...], *, automatic: bool, policy: str
) -> UpgradePace:
    found: Any = value_at(resource, path) or {}
    unavailable = found.get("maxUnavailable", _UNAVAILABLE)
    return UpgradePace(
        automatic=automatic,
        parallel=int(found.get("maxParallelUpgrades", _PARALLEL)),
        unavailable=None if unavailable is None else str(unavailable),
        drains=value_at(found, ("drain", "enable")) is True,
        waits=bool(value_at(found, ("waitForCompletion", "podSelector"))),
        shared_by=pools,
        policy=policy,
    )


def nodes_of(seen: SeenCluster, pools: Iterable[str]) -> int | None:
    """How many nodes the pools have: what profiles count, else the nodes that they name; None where one says
    neither."""
    total = 0
    known = {pool.name: pool for pool in seen.plan.pools}
    for name in pools:
        pool = known.get(name)
        count = pool.profile.spec.nodes.count if pool is not None else None
        if count is None and pool is not None:
            count = len(pool.node_names) or None
        if count is None:
            return None
        total += count
    return total


def minutes_of(seen: SeenCluster, pools: Iterable[str]) -> int | None:
    """How long the slowest node of the pools takes; None where a profile does not say it."""
    known = {pool.name: pool.profile.spec.nodes.roll_minutes for pool in seen.plan.pools}
    found = [known.get(name) for name in pools]
    told = [minutes for minutes in found if minutes is not None]
    return max(told) if told and len(told) == len(found) else None
