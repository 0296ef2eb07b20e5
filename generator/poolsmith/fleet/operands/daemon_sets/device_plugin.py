"""The device plugin, its MPS daemon, and GPU feature discovery, which share an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.daemon_sets.component import (
    CDI_HOOK,
    hook_path,
    inject_devices,
    own_variables,
    set_component,
    set_mig_strategy,
    set_own_env,
    use_runtime_class,
)
from poolsmith.fleet.operands.daemon_sets.plugin_config import set_plugin_config
from poolsmith.fleet.operands.daemon_sets.validation import set_validation_containers
from poolsmith.fleet.operands.kube import (
    Container,
    Pod,
    containers_of,
    find,
    init_containers_of,
    move_host_path,
    must_find,
    pod_of,
    set_env,
    set_resources,
)
from poolsmith.kubernetes.helm.go_path import joined

if TYPE_CHECKING:
    from poolsmith.fleet.operands.context import Context

_PLUGIN = "nvidia-device-plugin"
_MPS = "mps-control-daemon-ctr"
_IMAGE = "DEVICE_PLUGIN_IMAGE"
_MPS_FOLDER = "/run/nvidia/mps"


def device_plugin(daemon_set: dict[str, Any], context: Context) -> None:
    pod = pod_of(daemon_set)
    main = must_find(containers_of(pod), _PLUGIN)
    policy = context.spec
    set_validation_containers(pod, context)
    set_component(pod, main, "devicePlugin", _IMAGE, context)
    with own_variables(main, "devicePlugin", context):
        if policy.enabled("gds"):
            set_env(main, "GDS_ENABLED", "true")
            set_env(main, "MOFED_ENABLED", "true")
        if policy.enabled("gdrcopy") and context.behaviour["devicePluginGdrcopy"]:
            set_env(main, "GDRCOPY_ENABLED", "true")
        set_plugin_config(pod, context)
        use_runtime_class(pod, context)
        inject_devices(daemon_set, _PLUGIN, context)
        set_mig_strategy(main, context)
        if policy.enabled("cdi"):
            _set_cdi(main, context)
        if folder := _move_mps(pod, context):
            set_env(main, "MPS_ROOT", folder)


def mps_control_daemon(daemon_set: dict[str, Any], context: Context) -> None:
    pod = pod_of(daemon_set)
    main = must_find(containers_of(pod), _MPS)
    set_validation_containers(pod, context)
    set_component(pod, main, "devicePlugin", _IMAGE, context, arguments=False)
    mounts = find(init_containers_of(pod), "mps-control-daemon-mounts")
    if mounts is not None:
        mounts["image"], mounts["imagePullPolicy"] = main["image"], main["imagePullPolicy"]
        if context.behaviour["initResources"]:
            set_resources([mounts], context.spec.at("devicePlugin").get("resources"))
    set_plugin_config(pod, context)
    use_runtime_class(pod, context)
    inject_devices(daemon_set, _MPS, context)
    set_mig_strategy(main, context)
    _move_mps(pod, context)


def gpu_feature_discovery(daemon_set: dict[str, Any], context: Context) -> None:
    pod = pod_of(daemon_set)
    main = containers_of(pod)[0]
    set_validation_containers(pod, context)
    set_component(pod, main, "gfd", "GFD_IMAGE", context)
    imex = find(init_containers_of(pod), "gpu-feature-discovery-imex-init")
    if imex is not None:
        imex["image"] = main["image"]
    set_own_env(main, "gfd", context)
    set_plugin_config(pod, context)
    use_runtime_class(pod, context)
    inject_devices(daemon_set, main["name"], context)
    set_mig_strategy(main, context)


def _set_cdi(main: Container, context: Context) -> None:
    cdi = context.behaviour["devicePluginCdi"]
    set_env(main, "CDI_ENABLED", "true")
    set_env(main, "DEVICE_LIST_STRATEGY", cdi["strategy"])
    set_env(main, "CDI_ANNOTATION_PREFIX", cdi["prefix"])
    if context.spec.enabled("toolkit"):
        set_env(main, CDI_HOOK, hook_path(context))


def _move_mps(pod: Pod, context: Context) -> str:
    """The folder that MPS was moved to, or nothing."""
    folder = context.spec.text("devicePlugin", "mps", "root")
    if folder in ("", _MPS_FOLDER):
        return ""
    move_host_path(pod, "mps-root", folder)
    move_host_path(pod, "mps-shm", joined(folder, "shm"))
    return folder
