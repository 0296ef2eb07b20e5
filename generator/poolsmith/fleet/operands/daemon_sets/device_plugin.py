"""The device plugin, its MPS daemon and GPU feature discovery, which share an image, and the plugin's configuration.

A configuration that the user brings is handed out to the nodes by an init container and a sidecar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.daemon_sets.component import (
    CDI_HOOK,
    hook_path,
    inject_devices,
    own_variables,
    set_component,
    set_mig_strategy,
    set_own_env,
    set_validation_containers,
    use_runtime_class,
)
from poolsmith.kubernetes.helm.go_template import joined

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion_context import Context


_INIT = "config-manager-init"
_SIDECAR = "config-manager"
_DISCOVERY = "gpu-feature-discovery"
_MAIN = ("nvidia-device-plugin", _DISCOVERY, "mps-control-daemon-ctr")
_SHARED = "config"


def set_plugin_config(pod: kube.Pod, context: Context) -> None:
    """Hand out `devicePlugin.config`, or take away the containers that would."""
    name = context.spec.text("devicePlugin", "config", "name")
    if not name:
        kube.remove(kube.init_containers_of(pod), _INIT)
        kube.remove(kube.containers_of(pod), _SIDECAR)
        return
    shared = kube.volume_named(pod, _SHARED) is not None
    for container in kube.containers_of(pod):
        if container["name"] in _MAIN:
            kube.set_env(container, "CONFIG_FILE", "/config/config.yaml")
            _mount_configs(container, name, shared=shared)
    if not pod.get("hostPID"):
        pod["shareProcessNamespace"] = True
    kube.add_volume(pod, name, configMap={"name": name})
    if not shared:
        kube.add_volume(pod, _SHARED, emptyDir={})
    init = kube.find(kube.init_containers_of(pod), _INIT)
    for manager in (init, kube.find(kube.containers_of(pod), _SIDECAR)):
        if manager is not None:
            _set_manager(manager, name, context, shared=shared)
    if init is not None and context.behaviour["initResources"]:
        owner = "gfd" if kube.find(kube.containers_of(pod), _DISCOVERY) is not None else "devicePlugin"
        kube.set_resources([init], context.spec.at(owner).get("resources"))


def _set_manager(manager: kube.Container, name: str, context: Context, *, shared: bool) -> None:
    manager["image"] = context.image("devicePlugin", "DEVICE_PLUGIN_IMAGE")
    policy = context.spec.text("devicePlugin", "imagePullPolicy")
    if policy:
        manager["imagePullPolicy"] = kube.pull_policy(policy)
    kube.set_env(manager, "DEFAULT_CONFIG", context.spec.text("devicePlugin", "config", "default"))
    kube.set_env(manager, "FALLBACK_STRATEGIES", "empty")
    _mount_configs(manager, name, shared=shared)


def _mount_configs(container: kube.Container, name: str, *, shared: bool) -> None:
    if not shared:
        kube.mount(container, _SHARED, "/config")
    kube.mount(container, name, "/available-configs")


_PLUGIN = "nvidia-device-plugin"
_MPS = "mps-control-daemon-ctr"
_IMAGE = "DEVICE_PLUGIN_IMAGE"
_MPS_FOLDER = "/run/nvidia/mps"


def device_plugin(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.must_find(kube.containers_of(pod), _PLUGIN)
    policy = context.spec
    set_validation_containers(pod, context)
    set_component(pod, main, "devicePlugin", _IMAGE, context)
    with own_variables(main, "devicePlugin", context):
        if policy.enabled("gds"):
            kube.set_env(main, "GDS_ENABLED", "true")
            kube.set_env(main, "MOFED_ENABLED", "true")
        if policy.enabled("gdrcopy") and context.behaviour["devicePluginGdrcopy"]:
            kube.set_env(main, "GDRCOPY_ENABLED", "true")
        set_plugin_config(pod, context)
        use_runtime_class(pod, context)
        inject_devices(daemon_set, _PLUGIN, context)
        set_mig_strategy(main, context)
        if policy.enabled("cdi"):
            _set_cdi(main, context)
        if folder := _move_mps(pod, context):
            kube.set_env(main, "MPS_ROOT", folder)


def mps_control_daemon(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.must_find(kube.containers_of(pod), _MPS)
    set_validation_containers(pod, context)
    set_component(pod, main, "devicePlugin", _IMAGE, context, arguments=False)
    mounts = kube.find(kube.init_containers_of(pod), "mps-control-daemon-mounts")
    if mounts is not None:
        mounts["image"], mounts["imagePullPolicy"] = main["image"], main["imagePullPolicy"]
        if context.behaviour["initResources"]:
            kube.set_resources([mounts], context.spec.at("devicePlugin").get("resources"))
    set_plugin_config(pod, context)
    use_runtime_class(pod, context)
    inject_devices(daemon_set, _MPS, context)
    set_mig_strategy(main, context)
    _move_mps(pod, context)


def gpu_feature_discovery(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    set_validation_containers(pod, context)
    set_component(pod, main, "gfd", "GFD_IMAGE", context)
    imex = kube.find(kube.init_containers_of(pod), "gpu-feature-discovery-imex-init")
    if imex is not None:
        imex["image"] = main["image"]
    set_own_env(main, "gfd", context)
    set_plugin_config(pod, context)
    use_runtime_class(pod, context)
    inject_devices(daemon_set, main["name"], context)
    set_mig_strategy(main, context)


def _set_cdi(main: kube.Container, context: Context) -> None:
    cdi = context.behaviour["devicePluginCdi"]
    kube.set_env(main, "CDI_ENABLED", "true")
    kube.set_env(main, "DEVICE_LIST_STRATEGY", cdi["strategy"])
    kube.set_env(main, "CDI_ANNOTATION_PREFIX", cdi["prefix"])
    if context.spec.enabled("toolkit"):
        kube.set_env(main, CDI_HOOK, hook_path(context))


def _move_mps(pod: kube.Pod, context: Context) -> str:
    """The folder that MPS was moved to, or nothing."""
    folder = context.spec.text("devicePlugin", "mps", "root")
    if folder in ("", _MPS_FOLDER):
        return ""
    kube.move_host_path(pod, "mps-root", folder)
    kube.move_host_path(pod, "mps-shm", joined(folder, "shm"))
    return folder
