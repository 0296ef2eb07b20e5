"""The passes of a cluster without the operator, in their order."""

from poolsmith.fleet.plan.delivery_order import order_delivery
from poolsmith.fleet.plan.hand_installed.dcgm_exporter import plan_dcgm_exporter
from poolsmith.fleet.plan.hand_installed.device_plugin import plan_device_plugin
from poolsmith.fleet.plan.hand_installed.discovery import plan_discovery
from poolsmith.fleet.plan.hand_installed.gpu_use import use_gpus
from poolsmith.fleet.plan.hand_installed.namespace import plan_namespace
from poolsmith.fleet.plan.hand_installed.pools import check_hand_installed
from poolsmith.fleet.plan.node_tools import check_node_tools
from poolsmith.fleet.plan.priority_quota import allow_critical_pods
from poolsmith.fleet.plan.smoke import plan_smoke_tests
from poolsmith.fleet.plan.taints import check_taints

DEVICE_PLUGIN = (
    check_hand_installed,
    use_gpus,
    check_taints,
    check_node_tools,
    plan_namespace,
    allow_critical_pods,
    plan_discovery,
    plan_device_plugin,
    plan_dcgm_exporter,
    order_delivery,
    plan_smoke_tests,
)
