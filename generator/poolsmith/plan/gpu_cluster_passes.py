"""The passes of a cluster whose GPUs are given out by claims."""

from __future__ import annotations

from poolsmith.plan.chart_nulls import cure_nulls
from poolsmith.plan.delivery import deliver_operator
from poolsmith.plan.delivery_order import order_delivery
from poolsmith.plan.driver_mode import choose_driver_mode
from poolsmith.plan.drivers import choose_drivers
from poolsmith.plan.gpu_cluster import check_gpu_cluster, plan_gpu_cluster
from poolsmith.plan.kubelet_root import find_kubelet
from poolsmith.plan.node_feature_discovery import note_external_discovery
from poolsmith.plan.node_tools import check_node_tools
from poolsmith.plan.opt_outs import keep_opt_outs
from poolsmith.plan.priority_quota import allow_critical_pods
from poolsmith.plan.registry import mirror_images
from poolsmith.plan.scheduling import tolerate_taints
from poolsmith.plan.server_defaults import write_defaults
from poolsmith.plan.smoke import plan_smoke_tests
from poolsmith.plan.support import note_support
from poolsmith.plan.taints import check_taints
from poolsmith.plan.user_values import add_user_values

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
