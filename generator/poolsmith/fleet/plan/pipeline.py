"""Profiles and catalog to a ClusterPlan: a visible tuple of passes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.plan.chart_nulls import cure_nulls
from poolsmith.fleet.plan.container_runtime import choose_runtime
from poolsmith.fleet.plan.delivery import check_source, deliver_operator
from poolsmith.fleet.plan.delivery_order import order_delivery
from poolsmith.fleet.plan.device_injection import choose_injection
from poolsmith.fleet.plan.driver_mode import choose_driver_mode
from poolsmith.fleet.plan.drivers import choose_drivers
from poolsmith.fleet.plan.effect import refuse_idle_fields
from poolsmith.fleet.plan.facts import Facts
from poolsmith.fleet.plan.gpu_cluster_values import refuse_gpu_cluster_by_values
from poolsmith.fleet.plan.identity import identify_pools
from poolsmith.fleet.plan.kubelet_root import find_kubelet
from poolsmith.fleet.plan.lookups import look_up
from poolsmith.fleet.plan.mig import partition_gpus
from poolsmith.fleet.plan.mig_reboot import reboot_nodes
from poolsmith.fleet.plan.mixed_runtimes import accept_mixture
from poolsmith.fleet.plan.node_feature_discovery import note_external_discovery
from poolsmith.fleet.plan.node_tools import check_node_tools
from poolsmith.fleet.plan.opt_outs import keep_opt_outs
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
from poolsmith.fleet.plan.priority_quota import allow_critical_pods
from poolsmith.fleet.plan.registry import mirror_images
from poolsmith.fleet.plan.sandboxes.modes import plan_sandboxes
from poolsmith.fleet.plan.scheduling import tolerate_taints
from poolsmith.fleet.plan.server_defaults import write_defaults
from poolsmith.fleet.plan.sharing import share_gpus
from poolsmith.fleet.plan.smoke import plan_smoke_tests
from poolsmith.fleet.plan.support import note_support
from poolsmith.fleet.plan.taints import check_taints
from poolsmith.fleet.plan.toolkit import choose_toolkits
from poolsmith.fleet.plan.user_values import add_user_values
from poolsmith.fleet.profiles.cluster import DriverMode, StackKind

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.gpu.catalog import Catalog

Pass = Callable[[ClusterPlan, Facts], ClusterPlan]

FIRST: tuple[Pass, ...] = (look_up, identify_pools, check_source, refuse_idle_fields)
"""Look-ups; when one fails, the passes below would only guess."""

OPERATOR: tuple[Pass, ...] = (
    note_support,
    refuse_gpu_cluster_by_values,
    choose_injection,
    accept_mixture,
    choose_toolkits,
    choose_runtime,
    find_kubelet,
    choose_drivers,
    choose_driver_mode,
    partition_gpus,
    reboot_nodes,
    share_gpus,
    plan_sandboxes,
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
        namespace=stack.namespace or ("gpu-operator" if stack.by_operator else "kube-system"),
        driver_mode=DriverMode.NVIDIA_DRIVER if stack.kind is StackKind.GPU_CLUSTER else stack.driver_mode,
    )
    plan = _run(FIRST, plan, facts)
    if not facts.failed:
        plan = _run(_of_stack(stack.kind), plan, facts)
    if facts.failed:
        return Resolved(None, tuple(facts.found))
    return Resolved(_finish(plan, facts), tuple(facts.found))


def _of_stack(kind: StackKind) -> tuple[Pass, ...]:
    if kind is StackKind.OPERATOR:
        return OPERATOR
    if kind is StackKind.GPU_CLUSTER:
        from poolsmith.fleet.plan.gpu_cluster_passes import GPU_CLUSTER  # on demand

        return GPU_CLUSTER
    from poolsmith.fleet.plan.hand_installed.passes import DEVICE_PLUGIN  # on demand

    return DEVICE_PLUGIN


def _run(passes: tuple[Pass, ...], plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    for step in passes:
        plan = step(plan, facts)
    return plan


def _finish(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    provisioners = facts.distribution.provisioners if facts.distribution else ()
    return replace(plan, values=tuple(sorted(plan.values, key=lambda setting: setting.path)), provisioners=provisioners)
