"""The driver of dynamic resource allocation: the kubelet plugin and the controller of compute domains.

Source: NVIDIA/gpu-operator@v26.7.0:internal/state/dra_driver.go, manifests/state-dra-driver/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.gpu_cluster.pod_settings import (
    add_variables,
    insert_variables,
    put_image,
    set_common,
    set_image,
)
from poolsmith.fleet.operands.kube import (
    OperatorError,
    containers_of,
    env_of,
    init_containers_of,
    move_host_path,
    must_find,
    pod_of,
    set_env,
)
from poolsmith.fleet.operands.requirements import largest, requirements
from poolsmith.gpu.catalog.gpu_clusters import objects_of

if TYPE_CHECKING:
    from poolsmith.fleet.operands.gpu_cluster.request import GpuClusterRequest
    from poolsmith.fleet.operands.gpu_cluster.settings import Settings
    from poolsmith.fleet.operands.kube import Container, Pod
    from poolsmith.gpu.catalog.gpu_clusters import GpuClusterState

_CAPABILITIES = {"gpus": "gpus", "compute-domains": "computeDomains"}
"""Containers of the kubelet plugin, with the block below draDriver that configures each."""
_KUBELET_FOLDERS = {
    "plugins-registry": ("KUBELET_REGISTRAR_DIRECTORY_PATH", "plugins_registry"),
    "plugins": ("KUBELET_PLUGINS_DIRECTORY_PATH", "plugins"),
}
_PROBES = ("startupProbe", "livenessProbe")


def dra_driver(state: GpuClusterState, request: GpuClusterRequest) -> list[dict[str, Any]]:
    """Raises OperatorError."""
    place = request.placement()
    image, validator_image = _images(request)
    objects = list(objects_of(state, place, request.settings.holds))
    for item in objects:
        if item["kind"] == "DaemonSet":
            set_common(item, request)
            _fill_plugin(pod_of(item), request.settings, image, validator_image)
        elif item["kind"] == "Deployment":
            set_common(item, request)
            _fill_controller(pod_of(item), request, image)
    return objects


def _images(request: GpuClusterRequest) -> tuple[str, str]:
    wrapper = "failed to construct DRA driver spec: failed to construct DRA driver"
    try:
        image = request.image("DRA_DRIVER_IMAGE", "draDriver")
    except OperatorError as error:
        raise OperatorError(f"{wrapper} image path: {error}") from error
    try:
        return image, request.image("VALIDATOR_IMAGE")
    except OperatorError as error:
        raise OperatorError(f"{wrapper} validator image path: {error}") from error


def _fill_plugin(pod: Pod, settings: Settings, image: str, validator_image: str) -> None:
    component = settings.at("draDriver")
    set_image(pod, image, component)
    init = must_find(init_containers_of(pod), "driver-validation")
    put_image(init, validator_image, component)
    resources = []
    for container in containers_of(pod):
        plugin = settings.at("draDriver", _CAPABILITIES[container["name"]], "kubeletPlugin")
        if "IMAGE_NAME" in {variable["name"] for variable in container["env"]}:
            set_env(container, "IMAGE_NAME", image)
        _set_health_port(container, plugin.get("healthcheck") or {})
        _add_gates(container, settings)
        add_variables(container, plugin.get("env") or ())
        if plugin.get("resources") is not None:
            container["resources"] = requirements(plugin["resources"])
            resources.append(plugin["resources"])
    most = largest(resources)
    if most:
        init["resources"] = most
    _move_kubelet(pod, settings.kubelet_root)
    if settings.driver_folder:
        set_env(init, "DRIVER_INSTALL_DIR", settings.driver_folder)
        move_host_path(pod, "driver-install-dir", settings.driver_folder)


def _set_health_port(container: Container, health: dict[str, Any]) -> None:
    """Switched off, the plugin is told so by a port below zero, and nothing probes it."""
    if health.get("enabled") is False:
        set_env(container, "HEALTHCHECK_PORT", "-1")
        for probe in _PROBES:
            del container[probe]
        return
    port = int(health.get("port") or env_of(container, "HEALTHCHECK_PORT"))
    set_env(container, "HEALTHCHECK_PORT", str(port))
    for probe in _PROBES:
        container[probe]["grpc"]["port"] = port


def _move_kubelet(pod: Pod, root: str) -> None:
    for volume, (variable, folder) in _KUBELET_FOLDERS.items():
        path = f"{root}/{folder}"
        move_host_path(pod, volume, path)
        for container in containers_of(pod):
            set_env(container, variable, path)
            must_find(container["volumeMounts"], volume)["mountPath"] = path


def _fill_controller(pod: Pod, request: GpuClusterRequest, image: str) -> None:
    settings = request.settings
    component = settings.at("draDriver")
    set_image(pod, image, component)
    (container,) = containers_of(pod)
    set_env(container, "IMAGE_NAME", image)
    set_env(container, "LEADER_ELECTION_LEASE_LOCK_NAMESPACE", request.context.namespace)
    if component.get("imagePullSecrets"):
        secrets = {"CD_DAEMON_IMAGE_PULL_SECRET_NAMES": ",".join(component["imagePullSecrets"])}
        insert_variables(container, secrets, before="NVIDIA_VISIBLE_DEVICES")
    _add_gates(container, settings)
    controller = settings.at("draDriver", "computeDomains", "controller")
    add_variables(container, controller.get("env") or ())
    if controller.get("resources") is not None:
        container["resources"] = requirements(controller["resources"])


def _add_gates(container: Container, settings: Settings) -> None:
    if settings.feature_gates:
        add_variables(container, [{"name": "FEATURE_GATES", "value": settings.feature_gates}])
