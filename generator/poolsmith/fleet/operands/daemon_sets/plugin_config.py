"""A device plugin configuration that the user brings, and the containers that hand it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.operands.kube import (
    Container,
    Pod,
    add_volume,
    containers_of,
    find,
    init_containers_of,
    mount,
    pull_policy,
    remove,
    set_env,
    set_resources,
    volume_named,
)

if TYPE_CHECKING:
    from poolsmith.fleet.operands.context import Context

_INIT = "config-manager-init"
_SIDECAR = "config-manager"
_DISCOVERY = "gpu-feature-discovery"
_MAIN = ("nvidia-device-plugin", _DISCOVERY, "mps-control-daemon-ctr")
_SHARED = "config"


def set_plugin_config(pod: Pod, context: Context) -> None:
    """Hand out `devicePlugin.config`, or take away the containers that would."""
    name = context.spec.text("devicePlugin", "config", "name")
    if not name:
        remove(init_containers_of(pod), _INIT)
        remove(containers_of(pod), _SIDECAR)
        return
    shared = volume_named(pod, _SHARED) is not None
    for container in containers_of(pod):
        if container["name"] in _MAIN:
            set_env(container, "CONFIG_FILE", "/config/config.yaml")
            _mount_configs(container, name, shared=shared)
    if not pod.get("hostPID"):
        pod["shareProcessNamespace"] = True
    add_volume(pod, name, configMap={"name": name})
    if not shared:
        add_volume(pod, _SHARED, emptyDir={})
    init = find(init_containers_of(pod), _INIT)
    for manager in (init, find(containers_of(pod), _SIDECAR)):
        if manager is not None:
            _set_manager(manager, name, context, shared=shared)
    if init is not None and context.behaviour["initResources"]:
        owner = "gfd" if find(containers_of(pod), _DISCOVERY) is not None else "devicePlugin"
        set_resources([init], context.spec.at(owner).get("resources"))


def _set_manager(manager: Container, name: str, context: Context, *, shared: bool) -> None:
    manager["image"] = context.image("devicePlugin", "DEVICE_PLUGIN_IMAGE")
    policy = context.spec.text("devicePlugin", "imagePullPolicy")
    if policy:
        manager["imagePullPolicy"] = pull_policy(policy)
    set_env(manager, "DEFAULT_CONFIG", context.spec.text("devicePlugin", "config", "default"))
    set_env(manager, "FALLBACK_STRATEGIES", "empty")
    _mount_configs(manager, name, shared=shared)


def _mount_configs(container: Container, name: str, *, shared: bool) -> None:
    if not shared:
        mount(container, _SHARED, "/config")
    mount(container, name, "/available-configs")
