"""What every DaemonSet of a ClusterPolicy gets, and which change belongs to which DaemonSet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import copied
from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.daemon_sets.component import node_status_exporter, operator_validator, sandbox_validator
from poolsmith.fleet.operands.daemon_sets.device_plugin import device_plugin, gpu_feature_discovery, mps_control_daemon
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
from poolsmith.fleet.operands.daemon_sets.policy_driver import driver
from poolsmith.fleet.operands.daemon_sets.telemetry import dcgm, dcgm_exporter
from poolsmith.fleet.operands.daemon_sets.toolkit_daemon_set import container_toolkit
from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.operand_containers import requirements
from poolsmith.kubernetes.helm.go_template import joined

_DRIVER = "nvidia-driver-daemonset"
_DRIVER_FOLDER = "/run/nvidia/driver"
_FIXED_LABELS = ("app", "app.kubernetes.io/part-of")
_WHOLE_NUMBER = pattern(r"[+-]?[0-9]+")
_INT32 = 2**31
_LONGEST_NUMBER = 1_000
"""More digits are out of any range, and Python refuses to read very many."""


def prepare(daemon_set: dict[str, Any], context: Context) -> None:
    """Before the operand's own changes. Raises OperatorError."""
    _set_update_strategy(daemon_set, context)
    pod = kube.pod_of(daemon_set)
    common = context.spec.at("daemonsets")
    if common.get("priorityClassName"):
        pod["priorityClassName"] = common["priorityClassName"]
    if common.get("tolerations"):
        pod["tolerations"] = [_without_empty_texts(item) for item in common["tolerations"]]
    if common.get("podSecurityContext") is not None:
        pod["securityContext"] = copied(common["podSecurityContext"])
    _move_host_root(pod, context.spec.text("hostPaths", "rootFS"))
    _move_driver_folder(pod, context.spec.text("hostPaths", "driverInstallDir"))


def finish(daemon_set: dict[str, Any], context: Context) -> None:
    """After them: labels and annotations of the user, on pods and on the object; amounts as they are written anew.

    Raises NotModelled.
    """
    common = context.spec.at("daemonsets")
    labels, annotations = common.get("labels") or {}, common.get("annotations") or {}
    metadata = daemon_set["spec"]["template"]["metadata"]
    if labels:
        kept = {key: value for key, value in labels.items() if key not in _FIXED_LABELS}
        metadata["labels"] = {**metadata.get("labels", {}), **kept}
        daemon_set["metadata"]["labels"] = {**daemon_set["metadata"].get("labels", {}), **labels}
    if annotations:
        metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
        daemon_set["metadata"]["annotations"] = {**daemon_set["metadata"].get("annotations", {}), **annotations}
    pod = kube.pod_of(daemon_set)
    for container in (*kube.init_containers_of(pod), *kube.containers_of(pod)):
        if container.get("resources"):
            container["resources"] = requirements(container["resources"])


def _without_empty_texts(toleration: dict[str, Any]) -> dict[str, Any]:
    """The operator writes tolerations anew, which drops them."""
    return {key: value for key, value in toleration.items() if value not in (None, "")}


def _set_update_strategy(daemon_set: dict[str, Any], context: Context) -> None:
    common = context.spec.at("daemonsets")
    if common.get("updateStrategy") == "OnDelete":
        daemon_set["spec"]["updateStrategy"] = {"type": "OnDelete"}
        return
    limit = str((common.get("rollingUpdate") or {}).get("maxUnavailable") or "")
    if not limit or daemon_set["metadata"]["name"].startswith(_DRIVER):
        return
    value = limit if limit.endswith("%") else _whole_number(limit)
    daemon_set["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": value}}


def _whole_number(text: str) -> int:
    wrong = "invalid syntax"
    if _WHOLE_NUMBER.fullmatch(text):
        if len(text) <= _LONGEST_NUMBER and -_INT32 <= int(text) < _INT32:
            return int(text)
        wrong = "value out of range"
    raise kube.OperatorError(f'failed to apply rolling update config: strconv.ParseInt: parsing "{text}": {wrong}')


def _move_host_root(pod: dict[str, Any], root: str) -> None:
    if root in ("", "/"):
        return
    if kube.move_host_path(pod, "host-root", root):
        for container in (*kube.init_containers_of(pod), *kube.containers_of(pod)):
            kube.set_env(container, "HOST_ROOT", root)
    if kube.volume_named(pod, "host-dev-char") is not None:
        kube.move_host_path(pod, "host-dev-char", joined(root, "dev/char"))


def _move_driver_folder(pod: dict[str, Any], folder: str) -> None:
    if folder in ("", _DRIVER_FOLDER) or not kube.move_host_path(pod, "driver-install-dir", folder):
        return
    validation = kube.find(kube.init_containers_of(pod), "driver-validation")
    if validation is None:
        return
    kube.set_env(validation, "DRIVER_INSTALL_DIR", folder)
    kube.set_env(validation, "DRIVER_INSTALL_DIR_CTR_PATH", folder)
    for mount in validation.get("volumeMounts", ()):
        if mount["name"] == "driver-install-dir":
            mount["mountPath"] = folder


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
        raise kube.NotModelled(f"operand {name}")
    prepare(daemon_set, context)
    CHANGES[name](daemon_set, context)
    finish(daemon_set, context)
