"""Which change belongs to which DaemonSet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poolsmith.fleet.operands.context import Context
from poolsmith.fleet.operands.daemon_sets.device_plugin import device_plugin, gpu_feature_discovery, mps_control_daemon
from poolsmith.fleet.operands.daemon_sets.driver import driver
from poolsmith.fleet.operands.daemon_sets.every_daemon_set import finish, prepare
from poolsmith.fleet.operands.daemon_sets.managers import (
    cc_manager,
    kata_manager,
    kata_sandbox_device_plugin,
    mig_manager,
    sandbox_device_plugin,
    vfio_manager,
    vgpu_device_manager,
    vgpu_manager,
)
from poolsmith.fleet.operands.daemon_sets.telemetry import dcgm, dcgm_exporter
from poolsmith.fleet.operands.daemon_sets.toolkit import container_toolkit
from poolsmith.fleet.operands.daemon_sets.validation import node_status_exporter, operator_validator, sandbox_validator
from poolsmith.fleet.operands.kube import NotModelled

Change = Callable[[dict[str, Any], Context], None]

CHANGES: dict[str, Change] = {
    "nvidia-driver-daemonset": driver,
    "nvidia-vgpu-manager-daemonset": vgpu_manager,
    "nvidia-vgpu-device-manager": vgpu_device_manager,
    "nvidia-vfio-manager": vfio_manager,
    "nvidia-container-toolkit-daemonset": container_toolkit,
    "nvidia-device-plugin-daemonset": device_plugin,
    "nvidia-device-plugin-mps-control-daemon": mps_control_daemon,
    "nvidia-sandbox-device-plugin-daemonset": sandbox_device_plugin,
    "nvidia-kata-sandbox-device-plugin-daemonset": kata_sandbox_device_plugin,
    "nvidia-dcgm": dcgm,
    "nvidia-dcgm-exporter": dcgm_exporter,
    "nvidia-node-status-exporter": node_status_exporter,
    "gpu-feature-discovery": gpu_feature_discovery,
    "nvidia-mig-manager": mig_manager,
    "nvidia-operator-validator": operator_validator,
    "nvidia-sandbox-validator": sandbox_validator,
    "nvidia-kata-manager": kata_manager,
    "nvidia-cc-manager": cc_manager,
}


def change(daemon_set: dict[str, Any], context: Context) -> None:
    """Make a DaemonSet what the ClusterPolicy asks for. Raises OperatorError, NotModelled."""
    name = daemon_set["metadata"]["name"]
    if name not in CHANGES:
        raise NotModelled(f"operand {name}")
    prepare(daemon_set, context)
    CHANGES[name](daemon_set, context)
    finish(daemon_set, context)
