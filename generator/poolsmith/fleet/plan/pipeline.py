"""Profiles and catalog to a ClusterPlan: a visible tuple of passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from poolsmith.core.record import record, replace
from poolsmith.fleet.plan.component_limits import check_plugin_needs, tell_limits
from poolsmith.fleet.plan.delivery.chart_delivery import (
    check_source,
    deliver_operator,
    note_giving_up,
    order_delivery,
)
from poolsmith.fleet.plan.delivery.drift_prevention import cure_nulls, write_defaults
from poolsmith.fleet.plan.delivery.engine_version import judge_engine
from poolsmith.fleet.plan.delivery.image_mirrors import mirror_images
from poolsmith.fleet.plan.distribution import allow_critical_pods, check_node_tools, find_kubelet, note_support
from poolsmith.fleet.plan.driver.driver_mode import choose_driver_mode
from poolsmith.fleet.plan.driver.driver_source import choose_drivers
from poolsmith.fleet.plan.facts import Facts
from poolsmith.fleet.plan.idle_fields import refuse_idle_fields
from poolsmith.fleet.plan.label_writers import identify_pools, keep_opt_outs, note_external_discovery
from poolsmith.fleet.plan.lookups import look_up
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
from poolsmith.fleet.plan.runtime.container_runtime import choose_runtime
from poolsmith.fleet.plan.runtime.device_injection import choose_injection
from poolsmith.fleet.plan.runtime.mixed_runtimes import accept_mixture
from poolsmith.fleet.plan.runtime.toolkit import choose_toolkits
from poolsmith.fleet.plan.sandbox.sandbox_modes import plan_sandboxes
from poolsmith.fleet.plan.sharing.gpu_sharing import share_gpus
from poolsmith.fleet.plan.sharing.mig import partition_gpus, reboot_nodes
from poolsmith.fleet.plan.smoke_tests import plan_smoke_tests
from poolsmith.fleet.plan.taints import check_taints, tolerate_taints
from poolsmith.fleet.plan.user_values import add_user_values, refuse_gpu_cluster_by_values
from poolsmith.fleet.profiles.cluster import DriverMode, StackKind
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAMESPACE

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog

Pass = Callable[[ClusterPlan, Facts], ClusterPlan]

FIRST: tuple[Pass, ...] = (look_up, identify_pools)
"""Look-ups; when one fails, the passes below would only guess."""

ALWAYS: tuple[Pass, ...] = (check_source, judge_engine, note_giving_up, refuse_idle_fields)
"""What no other pass builds on: told beside whatever else is wrong."""

_OF_THE_CHART: tuple[Pass, ...] = (
    keep_opt_outs,
    check_taints,
    check_node_tools,
    tolerate_taints,
    deliver_operator,
    order_delivery,
    note_external_discovery,
    allow_critical_pods,
    mirror_images,
    plan_smoke_tests,
    add_user_values,
    cure_nulls,
    write_defaults,
)
"""Of both kinds of clusters that the operator's chart is installed in."""

OPERATOR: tuple[Pass, ...] = (
    note_support,
    refuse_gpu_cluster_by_values,
    choose_injection,
    accept_mixture,
    choose_toolkits,
    choose_runtime,
    find_kubelet,
    choose_drivers,
    tell_limits,
    choose_driver_mode,
    partition_gpus,
    reboot_nodes,
    share_gpus,
    plan_sandboxes,
    *_OF_THE_CHART,
)


@record(kw_only=False)
class Resolved:
    """A plan, or None when a diagnostic of severity error says why there is none."""

    plan: ClusterPlan | None
    diagnostics: tuple[Diagnostic, ...]


def resolve_cluster(loaded: LoadedCluster, catalog: Catalog) -> Resolved:
    """Run the passes over one cluster whose profiles loaded without errors."""
    cluster, file = loaded.cluster, loaded.file
    if cluster is None or file is None or not loaded.pools:
        return Resolved(None, ())
    facts = Facts.of(catalog, loaded, file)
    stack = cluster.spec.stack
    plan = ClusterPlan(
        cluster=cluster,
        pools=tuple(PoolPlan(profile=item.pool) for item in loaded.pools),
        namespace=stack.namespace or (OPERATOR_NAMESPACE if stack.by_operator else "kube-system"),
        driver_mode=DriverMode.NVIDIA_DRIVER if stack.kind is StackKind.GPU_CLUSTER else stack.driver_mode,
    )
    plan = _run(FIRST, plan, facts)
    is_known = not facts.failed
    plan = _run(ALWAYS, plan, facts)
    if is_known:
        plan = _run(_of_stack(stack.kind), plan, facts)
    if facts.failed:
        return Resolved(None, tuple(facts.found))
    return Resolved(_finish(plan, facts), tuple(facts.found))


def _of_stack(kind: StackKind) -> tuple[Pass, ...]:
    if kind is StackKind.OPERATOR:
        return OPERATOR
    return _of_gpu_cluster() if kind is StackKind.GPU_CLUSTER else _of_device_plugin()


def _of_gpu_cluster() -> tuple[Pass, ...]:
    from poolsmith.fleet.plan.gpu_cluster import check_gpu_cluster, plan_gpu_cluster  # on demand

    drivers = (find_kubelet, choose_drivers, tell_limits, choose_driver_mode)
    return (note_support, check_gpu_cluster, *drivers, plan_gpu_cluster, *_OF_THE_CHART)


def _of_device_plugin() -> tuple[Pass, ...]:
    from poolsmith.fleet.plan.hand_installed import companion_charts, device_plugin_install  # on demand
    from poolsmith.fleet.plan.hand_installed import hand_installed_stack as stack

    return (
        stack.check_hand_installed,
        check_plugin_needs,
        stack.use_gpus,
        check_taints,
        check_node_tools,
        stack.plan_namespace,
        allow_critical_pods,
        companion_charts.plan_discovery,
        device_plugin_install.plan_device_plugin,
        companion_charts.plan_dcgm_exporter,
        order_delivery,
        plan_smoke_tests,
    )


def _run(passes: tuple[Pass, ...], plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    for step in passes:
        plan = step(plan, facts)
    return plan


def _finish(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    provisioners = facts.distribution.provisioners if facts.distribution else ()
    return replace(plan, values=tuple(sorted(plan.values, key=lambda setting: setting.path)), provisioners=provisioners)
