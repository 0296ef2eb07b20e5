"""The vGPU host driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.drivers.image_tag import built_for
from poolsmith.operands.daemon_sets.component import set_component, set_own_env
from poolsmith.operands.daemon_sets.config_files import add_files
from poolsmith.operands.daemon_sets.driver_manager import set_driver_manager
from poolsmith.operands.kube import NotModelled, OperatorError, containers_of, must_find, pod_of, remove
from poolsmith.operands.node_system import driver_os_tag

if TYPE_CHECKING:
    from poolsmith.operands.context import Context

_MAIN = "nvidia-vgpu-manager-ctr"
_TOOLKIT = "openshift-driver-toolkit-ctr"


def vgpu_manager(daemon_set: dict[str, Any], context: Context) -> None:
    pod = pod_of(daemon_set)
    try:
        set_driver_manager(pod, context.spec.at("vgpuManager", "driverManager"), context)
    except OperatorError as error:
        raise OperatorError(f"failed to transform k8s-driver-manager initContainer for vGPU Manager: {error}") from None
    main = must_find(containers_of(pod), _MAIN)
    try:
        tag = driver_os_tag(context)
        remove(containers_of(pod), _TOOLKIT)
        set_component(pod, main, "vgpuManager", "VGPU_MANAGER_IMAGE", context)
    except OperatorError as error:
        raise OperatorError(f"failed to transform vGPU Manager container: {error}") from None
    main["image"] = built_for(main["image"], tag)
    if modules := context.spec.text("vgpuManager", "kernelModuleConfig", "name"):
        if context.existing("ConfigMap", modules) is None:
            raise NotModelled(f"a vGPU manager whose kernel module configuration {modules} is missing")
        add_files(pod, main, modules, "/drivers", context)
    set_own_env(main, "vgpuManager", context)
