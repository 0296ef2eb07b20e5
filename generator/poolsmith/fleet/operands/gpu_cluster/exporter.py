"""The exporter of GPU metrics, its Service and its ServiceMonitor.

Source: NVIDIA/gpu-operator@v26.7.0:internal/state/dcgm_exporter.go, manifests/state-dcgm-exporter/.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.gpu_cluster.claimants import rendered
from poolsmith.fleet.operands.gpu_cluster.pod_settings import (
    add_variables,
    daemon_sets,
    insert_variables,
    set_arguments_and_resources,
    set_common,
    set_host_network,
    set_image,
)
from poolsmith.fleet.operands.kube import add_volume, containers_of, host_path, mount, move_host_path, pod_of, set_env
from poolsmith.fleet.operands.relabelings import relabelings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.gpu_cluster.request import GpuClusterRequest
    from poolsmith.fleet.operands.kube import Container, Pod
    from poolsmith.gpu.catalog.gpu_clusters import GpuClusterState

_ENGINE = "nvidia-dcgm-dra:5555"
_METRICS_FILE = "dcgm-metrics.csv"
_METRICS_PATH = f"/etc/dcgm-exporter/{_METRICS_FILE}"
_JOB_FOLDER = "/var/lib/dcgm-exporter/job-mapping"
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
        pod = pod_of(daemon_set)
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
    (container,) = containers_of(pod)
    jobs = _job_folder(component)
    sources = {"DCGM_REMOTE_HOSTENGINE_INFO": _ENGINE} if request.settings.runs_dcgm else {}
    sources |= {"DCGM_HPC_JOB_MAPPING_DIR": jobs} if jobs else {}
    insert_variables(container, sources, before="KUBERNETES_ENABLE_DRA")
    add_variables(container, _pod_variables(component))
    add_variables(container, component.get("env") or ())
    set_arguments_and_resources(container, component)
    folder = posixpath.normpath(posixpath.join(request.settings.kubelet_root, "pod-resources"))
    move_host_path(pod, "pod-gpu-resources", folder)
    metrics = (component.get("config") or {}).get("name")
    if metrics:
        _use_metrics(pod, container, metrics)
    if jobs:
        mount(container, "hpc-job-mapping", jobs, read_only=True)
        add_volume(pod, "hpc-job-mapping", **host_path(jobs, "DirectoryOrCreate"))


def _job_folder(component: Mapping[str, Any]) -> str:
    """Where a workload manager leaves its files; empty when that is off."""
    jobs = component.get("hpcJobMapping") or {}
    return str(jobs.get("directory") or _JOB_FOLDER) if jobs.get("enabled") is True else ""


def _pod_variables(component: Mapping[str, Any]) -> list[dict[str, str]]:
    variables = [
        {"name": variable, "value": "true"} for key, variable in _POD_VARIABLES.items() if component.get(key) is True
    ]
    allowed = ",".join(component.get("podLabelAllowlistRegex") or ())
    if allowed:
        variables.append({"name": "DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX", "value": allowed})
    return variables


def _use_metrics(pod: Pod, container: Container, config_map: str) -> None:
    set_env(container, "DCGM_EXPORTER_COLLECTORS", _METRICS_PATH)
    mount(container, "metrics-config", _METRICS_PATH, read_only=True, sub_path=_METRICS_FILE)
    items = [{"key": _METRICS_FILE, "path": _METRICS_FILE}]
    add_volume(pod, "metrics-config", configMap={"name": config_map, "items": items})


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
