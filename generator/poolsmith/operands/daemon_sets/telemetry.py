"""DCGM and its exporter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.operands.daemon_sets.component import inject_devices, set_component, set_own_env, use_runtime_class
from poolsmith.operands.daemon_sets.validation import set_validation_containers
from poolsmith.operands.go_path import joined
from poolsmith.operands.kube import (
    Container,
    NotModelled,
    Pod,
    add_volume,
    containers_of,
    env_of,
    host_path,
    mount,
    move_host_path,
    pod_of,
    set_env,
)

if TYPE_CHECKING:
    from poolsmith.operands.cluster_policy import ClusterPolicySpec
    from poolsmith.operands.context import Context

_ENGINE = "DCGM_REMOTE_HOSTENGINE_INFO"
_METRICS = "dcgm-metrics.csv"
_METRICS_PATH = f"/etc/dcgm-exporter/{_METRICS}"
_JOB_MAPPING = "/var/lib/dcgm-exporter/job-mapping"


def dcgm(daemon_set: dict[str, Any], context: Context) -> None:
    pod = pod_of(daemon_set)
    main = containers_of(pod)[0]
    set_validation_containers(pod, context)
    set_component(pod, main, "dcgm", "DCGM_IMAGE", context)
    set_own_env(main, "dcgm", context)
    inject_devices(daemon_set, main["name"], context)
    use_runtime_class(pod, context)


def dcgm_exporter(daemon_set: dict[str, Any], context: Context) -> None:
    pod = pod_of(daemon_set)
    main = containers_of(pod)[0]
    policy = context.spec
    set_validation_containers(pod, context)
    set_component(pod, main, "dcgmExporter", "DCGM_EXPORTER_IMAGE", context)
    variables = context.behaviour["dcgmExporterVariables"]
    if variables == "first":
        set_own_env(main, "dcgmExporter", context)
    elif variables == "unknown" and policy.at("dcgmExporter").get("env"):
        raise NotModelled("whether dcgmExporter.env has an effect in this release")
    if policy.enabled("dcgm"):
        set_env(main, _ENGINE, "nvidia-dcgm:5555")
    elif env_of(main, _ENGINE).startswith("localhost"):
        pod["hostNetwork"] = True  # without a DNS policy: only releases that set `env` first come here
    inject_devices(daemon_set, main["name"], context)
    use_runtime_class(pod, context)
    if policy.flag("dcgmExporter", "hostPID"):
        pod["hostPID"] = True
    if folder := policy.text("hostPaths", "kubeletRootDir"):
        move_host_path(pod, "pod-gpu-resources", joined(folder, "pod-resources"))
    if reads_pods(policy) and context.behaviour["podMetadata"]:
        _label_with_pods(pod, main, policy)
    if context.behaviour["hpcJobMapping"] and policy.flag("dcgmExporter", "hpcJobMapping", "enabled"):
        _map_jobs(pod, main, policy.text("dcgmExporter", "hpcJobMapping", "directory") or _JOB_MAPPING)
    if name := policy.text("dcgmExporter", "config", "name"):
        _use_metrics(pod, main, name)
    if policy.at("dcgmExporter", "annotations"):
        raise NotModelled("whether dcgmExporter.annotations stand on pods, on their DaemonSet, or on both")
    if variables == "last":
        set_own_env(main, "dcgmExporter", context)


def reads_pods(policy: ClusterPolicySpec) -> bool:
    """Whether metrics carry pod labels or uids, for which the exporter reads pods across the cluster."""
    return policy.flag("dcgmExporter", "enablePodLabels") or policy.flag("dcgmExporter", "enablePodUID")


def _label_with_pods(pod: Pod, main: Container, policy: ClusterPolicySpec) -> None:
    pod["automountServiceAccountToken"] = True
    if policy.flag("dcgmExporter", "enablePodLabels"):
        set_env(main, "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS", "true")
    if policy.flag("dcgmExporter", "enablePodUID"):
        set_env(main, "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID", "true")
    if allowed := policy.at("dcgmExporter") and policy.spec["dcgmExporter"].get("podLabelAllowlistRegex"):
        set_env(main, "DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX", ",".join(allowed))


def _map_jobs(pod: Pod, main: Container, folder: str) -> None:
    set_env(main, "DCGM_HPC_JOB_MAPPING_DIR", folder)
    mount(main, "hpc-job-mapping", folder, read_only=True)
    add_volume(pod, "hpc-job-mapping", **host_path(folder, "DirectoryOrCreate"))


def _use_metrics(pod: Pod, main: Container, name: str) -> None:
    mount(main, "metrics-config", _METRICS_PATH, read_only=True, sub_path=_METRICS)
    add_volume(pod, "metrics-config", configMap={"name": name, "items": [{"key": _METRICS, "path": _METRICS}]})
    set_env(main, "DCGM_EXPORTER_COLLECTORS", _METRICS_PATH)
