"""The passes of a cluster without the operator, in their order."""

from poolsmith.plan.delivery_order import order_delivery
from poolsmith.plan.hand_installed.dcgm_exporter import plan_dcgm_exporter
from poolsmith.plan.hand_installed.device_plugin import plan_device_plugin
from poolsmith.plan.hand_installed.discovery import plan_discovery
from poolsmith.plan.hand_installed.gpu_use import use_gpus
from poolsmith.plan.hand_installed.namespace import plan_namespace
from poolsmith.plan.hand_installed.pools import check_hand_installed
from poolsmith.plan.node_tools import check_node_tools
from poolsmith.plan.priority_quota import allow_critical_pods
from poolsmith.plan.smoke import plan_smoke_tests
from poolsmith.plan.taints import check_taints

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
