"""How the operator replaces drivers: decided in each object, or once for the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.node_software import FORCED_DRAIN, UPGRADE_POLICY_UNSTATED
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.fleet.plan.facts import agreed, with_singleton, with_values
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValueSetting
from poolsmith.fleet.profiles.cluster import DriverMode
from poolsmith.fleet.profiles.node_pool import Workload

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.profiles.driver import UpgradePolicy


POLICY = "/spec/driver/upgradePolicy"
_VALUE = ("driver", "upgradePolicy")
_POD_DELETION = "podDeletion"
_NAME_IN_VALUES = {_POD_DELETION: "gpuPodDeletion"}


def agree_on_upgrades(plan: ClusterPlan, managed: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """The policy as values, where it is one for all; what is not decided, and what is forced, is told."""
    per_object = plan.driver_mode is DriverMode.NVIDIA_DRIVER and facts.need_release().driver_object.upgrade_policy
    given = [pool for pool in managed if _policy(pool) is not None]
    if (per_object or not given) and not _is_sandboxed(plan):
        _note_unstated([pool for pool in managed if pool not in given], facts)
    for pool in given:
        _warn_of_force(pool, facts)
    if per_object or not given:
        return plan
    policy, first, other = agreed(given, _policy)
    if other is not None:
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            other,
            POLICY,
            f"pools `{first.name}` and `{other.name}` have different upgrade policies; {facts.need_release().tag} "
            "has one for the cluster",
            help="give both the same policy, for example in a base",
            related=((first, POLICY, "the other pool"),),
        )
        return plan
    chart = facts.need_chart()
    origin = facts.at_pool(first, POLICY)
    named = {_NAME_IN_VALUES.get(key, key): value for key, value in policy_fields(policy).items()}
    settings = [
        ValueSetting((*_VALUE, *path), value, origin)
        for path, value in _leaves(named)
        if chart.default((*_VALUE, *path)) != value
    ]
    plan = with_singleton(plan, "driver upgrade policy", "driver.upgradePolicy", given, "one for the cluster")
    return with_values(plan, *settings)


def policy_fields(policy: UpgradePolicy) -> dict[str, Any]:
    """A policy as an NVIDIADriver has it: everything that is decided, defaults too."""
    fields: dict[str, Any] = {
        "autoUpgrade": policy.auto_upgrade,
        "maxParallelUpgrades": policy.max_parallel_upgrades,
        "maxUnavailable": policy.max_unavailable,
        "drain": {
            "enable": policy.drain.enable,
            "force": policy.drain.force,
            "deleteEmptyDir": policy.drain.delete_empty_dir,
            "timeoutSeconds": policy.drain.timeout_seconds,
        },
        _POD_DELETION: {
            "force": policy.pod_deletion.force,
            "deleteEmptyDir": policy.pod_deletion.delete_empty_dir,
            "timeoutSeconds": policy.pod_deletion.timeout_seconds,
        },
    }
    if policy.drain.pod_selector:
        fields["drain"]["podSelector"] = policy.drain.pod_selector
    if policy.wait_for_completion is not None:
        fields["waitForCompletion"] = {
            "podSelector": policy.wait_for_completion.pod_selector,
            "timeoutSeconds": policy.wait_for_completion.timeout_seconds,
        }
    return fields


def _policy(pool: PoolPlan) -> UpgradePolicy | None:
    return pool.driver.upgrade_policy if pool.driver is not None else None


def _is_sandboxed(plan: ClusterPlan) -> bool:
    """Beside sandboxes the operator replaces no driver by itself, which is told elsewhere."""
    return any(pool.profile.spec.workload is not Workload.CONTAINER for pool in plan.pools)


def _note_unstated(pools: list[PoolPlan], facts: Facts) -> None:
    if pools:
        facts.report_pool(
            UPGRADE_POLICY_UNSTATED,
            pools[0],
            "/spec/driver/source",
            f"how the driver of {listed(pool.name for pool in pools)} is replaced is not decided: the defaults replace "
            "it at once, one node at a time",
            help="write `upgradePolicy` beside `source`, for example in a base; `{}` takes the defaults on purpose",
        )


def _warn_of_force(pool: PoolPlan, facts: Facts) -> None:
    policy = _policy(pool)
    if policy is None or not policy.auto_upgrade:
        return
    drain, deletion = policy.drain, policy.pod_deletion
    forced = {
        "drain/force": drain.enable and drain.force,
        "drain/deleteEmptyDir": drain.enable and drain.delete_empty_dir,
        "podDeletion/force": deletion.force,
        "podDeletion/deleteEmptyDir": deletion.delete_empty_dir,
    }
    for field, wanted in forced.items():
        if wanted:
            lost = (
                "pods that no controller recreates" if field.endswith("force") else "what pods keep in emptyDir volumes"
            )
            facts.report_pool(
                FORCED_DRAIN,
                pool,
                f"{POLICY}/{field}",
                f"whenever the driver of `{pool.name}` is replaced, {lost} is lost",
                help="remove it, choose the pods with `drain.podSelector`, or write `autoUpgrade: false`",
            )


def _leaves(tree: dict[str, Any], path: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found: list[tuple[tuple[str, ...], Any]] = []
    for key, value in tree.items():
        found.extend(_leaves(value, (*path, key)) if isinstance(value, dict) else [((*path, key), value)])
    return found
