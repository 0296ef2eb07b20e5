"""The operands of a GPUCluster: validator, DCGM engine, exporter of GPU metrics, and the DRA driver.

Validator and DCGM engine hold a claim on GPUs. The DRA driver is a kubelet plugin and a controller of compute domains.

Source: NVIDIA/gpu-operator@v26.7.0:internal/state/{configurable_state,dra_validation,dcgm}.go, their templates.
Source: NVIDIA/gpu-operator@v26.7.0:internal/state/dcgm_exporter.go, manifests/state-dcgm-exporter/.
Source: NVIDIA/gpu-operator@v26.7.0:internal/state/dra_driver.go, manifests/state-dra-driver/.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.daemon_sets.telemetry import JOB_MAPPING, mount_jobs, relabelings, use_metrics
from poolsmith.fleet.operands.gpu_cluster.pod_settings import (
    add_variables,
    daemon_sets,
    insert_variables,
    put_image,
    set_arguments_and_resources,
    set_common,
    set_host_network,
    set_image,
)
from poolsmith.fleet.operands.operand_containers import largest, requirements
from poolsmith.gpu.catalog.gpu_clusters import objects_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.custom_resources import GpuClusterSpec
    from poolsmith.fleet.operands.gpu_cluster.pod_settings import GpuClusterRequest
    from poolsmith.fleet.operands.kube import Container, Pod
    from poolsmith.gpu.catalog.gpu_clusters import GpuClusterState


def validator(state: GpuClusterState, request: GpuClusterRequest) -> list[dict[str, Any]]:
    """It runs the operator's image, with the pull settings of the driver. Raises OperatorError."""
    objects, image = rendered(state, request, "VALIDATOR_IMAGE")
    component = request.settings.at("draDriver")
    for daemon_set in daemon_sets(objects):
        set_common(daemon_set, request)
        pod = kube.pod_of(daemon_set)
        set_image(pod, image, component)
        for container in kube.init_containers_of(pod):
            put_image(container, image, component)
    return objects


def dcgm(state: GpuClusterState, request: GpuClusterRequest) -> list[dict[str, Any]]:
    """Off unless switched on. Raises OperatorError."""
    if not request.settings.runs_dcgm:
        return []
    objects, image = rendered(state, request, "DCGM_IMAGE", "dcgm")
    component = request.settings.at("dcgm")
    for daemon_set in daemon_sets(objects):
        set_common(daemon_set, request)
        pod = kube.pod_of(daemon_set)
        set_image(pod, image, component)
        set_host_network(pod, component)
        (container,) = kube.containers_of(pod)
        if component.get("env"):
            add_variables(container, component["env"])
        set_arguments_and_resources(container, component)
    return objects


def rendered(
    state: GpuClusterState, request: GpuClusterRequest, variable: str, *component: str
) -> tuple[list[dict[str, Any]], str]:
    """The objects of a state, and the image of the component that it runs. Raises OperatorError."""
    place = request.placement()
    try:
        image = request.image(variable, *component)
    except kube.OperatorError as error:
        raise kube.OperatorError(f"failed to construct {state.name} image path: {error}") from error
    return list(objects_of(state, place, request.settings.holds)), image


_ENGINE = "nvidia-dcgm-dra:5555"
_POD_VARIABLES = {
    "enablePodLabels": "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS",
    "enablePodUID": "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID",
}


def exporter(state: GpuClusterState, request: GpuClusterRequest) -> list[dict[str, Any]]:
    """On where the resource has its block. Raises OperatorError."""
    settings = request.settings
    if not settings.runs_exporter:
        return []
    objects, image = rendered(state, request, "DCGM_EXPORTER_IMAGE", "dcgmExporter")
    component = settings.at("dcgmExporter")
    for daemon_set in daemon_sets(objects):
        set_common(daemon_set, request, component.get("annotations"))
        pod = kube.pod_of(daemon_set)
        set_image(pod, image, component)
        _fill(pod, request, component)
    for service in (item for item in objects if item["kind"] == "Service"):
        _set_service(service, component.get("service") or {})
        monitor = component.get("serviceMonitor") or {}
        if monitor.get("enabled") is True and request.context.service_monitors:
            objects.append(_service_monitor(service, monitor))
    return objects


def _fill(pod: Pod, request: GpuClusterRequest, component: Mapping[str, Any]) -> None:
    if component.get("hostPID") is True:
        pod["hostPID"] = True
    set_host_network(pod, component)
    (container,) = kube.containers_of(pod)
    jobs = _job_folder(component)
    sources = {"DCGM_REMOTE_HOSTENGINE_INFO": _ENGINE} if request.settings.runs_dcgm else {}
    sources |= {"DCGM_HPC_JOB_MAPPING_DIR": jobs} if jobs else {}
    insert_variables(container, sources, before="KUBERNETES_ENABLE_DRA")
    add_variables(container, _pod_variables(component))
    add_variables(container, component.get("env") or ())
    set_arguments_and_resources(container, component)
    folder = posixpath.normpath(posixpath.join(request.settings.kubelet_root, "pod-resources"))
    kube.move_host_path(pod, "pod-gpu-resources", folder)
    metrics = (component.get("config") or {}).get("name")
    if metrics:
        use_metrics(pod, container, metrics)
    if jobs:
        mount_jobs(pod, container, jobs)


def _job_folder(component: Mapping[str, Any]) -> str:
    """Where a workload manager leaves its files; empty when that is off."""
    jobs = component.get("hpcJobMapping") or {}
    return str(jobs.get("directory") or JOB_MAPPING) if jobs.get("enabled") is True else ""


def _pod_variables(component: Mapping[str, Any]) -> list[dict[str, str]]:
    variables = [
        {"name": variable, "value": "true"} for key, variable in _POD_VARIABLES.items() if component.get(key) is True
    ]
    allowed = ",".join(component.get("podLabelAllowlistRegex") or ())
    if allowed:
        variables.append({"name": "DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX", "value": allowed})
    return variables


def _set_service(service: dict[str, Any], wanted: Mapping[str, Any]) -> None:
    if wanted.get("type"):
        service["spec"]["type"] = wanted["type"]
    if wanted.get("internalTrafficPolicy"):
        service["spec"]["internalTrafficPolicy"] = wanted["internalTrafficPolicy"]


def _service_monitor(service: dict[str, Any], monitor: Mapping[str, Any]) -> dict[str, Any]:
    """What a Prometheus scrapes: the exporter's Service, found by its label."""
    metadata = service["metadata"]
    (port,) = service["spec"]["ports"]
    endpoint: dict[str, Any] = {
        "port": port["name"],
        "path": "/metrics",
        "honorLabels": monitor.get("honorLabels") is True,
    }
    endpoint |= {key: monitor[key] for key in ("interval", "scrapeTimeout") if monitor.get(key)}
    if monitor.get("relabelings"):
        endpoint["relabelings"] = relabelings(monitor["relabelings"])
    return {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "ServiceMonitor",
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": {**metadata["labels"], **(monitor.get("additionalLabels") or {})},
        },
        "spec": {
            "jobLabel": "app",
            "namespaceSelector": {"matchNames": [metadata["namespace"]]},
            "selector": {"matchLabels": dict(metadata["labels"])},
            "endpoints": [endpoint],
        },
    }


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
            _fill_plugin(kube.pod_of(item), request.settings, image, validator_image)
        elif item["kind"] == "Deployment":
            set_common(item, request)
            _fill_controller(kube.pod_of(item), request, image)
    return objects


def _images(request: GpuClusterRequest) -> tuple[str, str]:
    wrapper = "failed to construct DRA driver spec: failed to construct DRA driver"
    try:
        image = request.image("DRA_DRIVER_IMAGE", "draDriver")
    except kube.OperatorError as error:
        raise kube.OperatorError(f"{wrapper} image path: {error}") from error
    try:
        return image, request.image("VALIDATOR_IMAGE")
    except kube.OperatorError as error:
        raise kube.OperatorError(f"{wrapper} validator image path: {error}") from error


def _fill_plugin(pod: Pod, settings: GpuClusterSpec, image: str, validator_image: str) -> None:
    component = settings.at("draDriver")
    set_image(pod, image, component)
    init = kube.must_find(kube.init_containers_of(pod), "driver-validation")
    put_image(init, validator_image, component)
    resources = []
    for container in kube.containers_of(pod):
        plugin = settings.at("draDriver", _CAPABILITIES[container["name"]], "kubeletPlugin")
        if "IMAGE_NAME" in {variable["name"] for variable in container["env"]}:
            kube.set_env(container, "IMAGE_NAME", image)
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
        kube.set_env(init, "DRIVER_INSTALL_DIR", settings.driver_folder)
        kube.move_host_path(pod, "driver-install-dir", settings.driver_folder)


def _set_health_port(container: Container, health: dict[str, Any]) -> None:
    """Switched off, the plugin is told so by a port below zero, and nothing probes it."""
    if health.get("enabled") is False:
        kube.set_env(container, "HEALTHCHECK_PORT", "-1")
        for probe in _PROBES:
            del container[probe]
        return
    port = int(health.get("port") or kube.env_of(container, "HEALTHCHECK_PORT"))
    kube.set_env(container, "HEALTHCHECK_PORT", str(port))
    for probe in _PROBES:
        container[probe]["grpc"]["port"] = port


def _move_kubelet(pod: Pod, root: str) -> None:
    for volume, (variable, folder) in _KUBELET_FOLDERS.items():
        path = f"{root}/{folder}"
        kube.move_host_path(pod, volume, path)
        for container in kube.containers_of(pod):
            kube.set_env(container, variable, path)
            kube.must_find(container["volumeMounts"], volume)["mountPath"] = path


def _fill_controller(pod: Pod, request: GpuClusterRequest, image: str) -> None:
    settings = request.settings
    component = settings.at("draDriver")
    set_image(pod, image, component)
    (container,) = kube.containers_of(pod)
    kube.set_env(container, "IMAGE_NAME", image)
    kube.set_env(container, "LEADER_ELECTION_LEASE_LOCK_NAMESPACE", request.context.namespace)
    if component.get("imagePullSecrets"):
        secrets = {"CD_DAEMON_IMAGE_PULL_SECRET_NAMES": ",".join(component["imagePullSecrets"])}
        insert_variables(container, secrets, before="NVIDIA_VISIBLE_DEVICES")
    _add_gates(container, settings)
    controller = settings.at("draDriver", "computeDomains", "controller")
    add_variables(container, controller.get("env") or ())
    if controller.get("resources") is not None:
        container["resources"] = requirements(controller["resources"])


def _add_gates(container: Container, settings: GpuClusterSpec) -> None:
    if settings.feature_gates:
        add_variables(container, [{"name": "FEATURE_GATES", "value": settings.feature_gates}])
