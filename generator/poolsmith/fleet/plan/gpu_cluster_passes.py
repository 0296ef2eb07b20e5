"""The passes of a cluster whose GPUs are given out by claims."""

from __future__ import annotations

from poolsmith.fleet.plan.chart_nulls import cure_nulls
from poolsmith.fleet.plan.delivery import deliver_operator
from poolsmith.fleet.plan.delivery_order import order_delivery
from poolsmith.fleet.plan.driver_mode import choose_driver_mode
from poolsmith.fleet.plan.drivers import choose_drivers
from poolsmith.fleet.plan.gpu_cluster import check_gpu_cluster, plan_gpu_cluster
from poolsmith.fleet.plan.kubelet_root import find_kubelet
from poolsmith.fleet.plan.node_feature_discovery import note_external_discovery
from poolsmith.fleet.plan.node_tools import check_node_tools
from poolsmith.fleet.plan.opt_outs import keep_opt_outs
from poolsmith.fleet.plan.priority_quota import allow_critical_pods
from poolsmith.fleet.plan.registry import mirror_images
from poolsmith.fleet.plan.scheduling import tolerate_taints
from poolsmith.fleet.plan.server_defaults import write_defaults
from poolsmith.fleet.plan.smoke import plan_smoke_tests
from poolsmith.fleet.plan.support import note_support
from poolsmith.fleet.plan.taints import check_taints
from poolsmith.fleet.plan.user_values import add_user_values

GPU_CLUSTER = (
    note_support,
    check_gpu_cluster,
    find_kubelet,
    choose_drivers,
    choose_driver_mode,
    plan_gpu_cluster,
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
