"""DCGM and its exporter, with the metric relabelings of its ServiceMonitor as the operator writes them.

The operator reads relabelings into a type and writes them anew, without the fields that are empty.
Source: NVIDIA/gpu-operator at v26.7.0,
vendor/github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1, RelabelConfig.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import copied
from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.daemon_sets.component import (
    inject_devices,
    set_component,
    set_own_env,
    set_validation_containers,
    use_runtime_class,
)
from poolsmith.kubernetes.helm.go_template import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.fleet.operands.expansion_context import Context


_ENGINE = "DCGM_REMOTE_HOSTENGINE_INFO"
_POD_METADATA = {
    "enablePodLabels": "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS",
    "enablePodUID": "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID",
}
_CONFIG_MAP = "DCGM_EXPORTER_CONFIGMAP_DATA"
_METRICS = "dcgm-metrics.csv"
_METRICS_PATH = f"/etc/dcgm-exporter/{_METRICS}"
JOB_MAPPING = "/var/lib/dcgm-exporter/job-mapping"


def dcgm(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    set_validation_containers(pod, context)
    set_component(pod, main, "dcgm", "DCGM_IMAGE", context)
    set_own_env(main, "dcgm", context)
    inject_devices(daemon_set, main["name"], context)
    use_runtime_class(pod, context)


def dcgm_exporter(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    policy = context.spec
    set_validation_containers(pod, context)
    set_component(pod, main, "dcgmExporter", "DCGM_EXPORTER_IMAGE", context)
    if annotations := policy.at("dcgmExporter", "annotations"):
        metadata = daemon_set["spec"]["template"]["metadata"]
        metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
    variables = context.behaviour["dcgmExporterVariables"]
    if variables == "first":
        set_own_env(main, "dcgmExporter", context)
    if policy.enabled("dcgm"):
        kube.set_env(main, _ENGINE, "nvidia-dcgm:5555")
    elif kube.env_of(main, _ENGINE).startswith("localhost"):
        pod["hostNetwork"] = True  # without a DNS policy: only releases that set `env` first come here
    inject_devices(daemon_set, main["name"], context)
    use_runtime_class(pod, context)
    if policy.flag("dcgmExporter", "hostPID"):
        pod["hostPID"] = True
    if folder := policy.text("hostPaths", "kubeletRootDir"):
        kube.move_host_path(pod, "pod-gpu-resources", joined(folder, "pod-resources"))
    if context.behaviour["podMetadata"]:
        _label_with_pods(pod, main, context)
    if context.behaviour["hpcJobMapping"] and policy.flag("dcgmExporter", "hpcJobMapping", "enabled"):
        folder = policy.text("dcgmExporter", "hpcJobMapping", "directory") or JOB_MAPPING
        kube.set_env(main, "DCGM_HPCJOB_MAPPING_DIR", folder)
        mount_jobs(pod, main, folder)
    if name := policy.text("dcgmExporter", "config", "name"):
        use_metrics(pod, main, name)
    if variables == "last":
        set_own_env(main, "dcgmExporter", context)


def reads_pods(context: Context) -> bool:
    """Whether metrics carry pod labels or uids, for which the exporter reads pods across the cluster."""
    policy = context.spec
    asked = any(policy.flag("dcgmExporter", field) for field in _POD_METADATA)
    return asked or any(
        item["name"] in _POD_METADATA.values() and str(item.get("value", "")).lower() == "true"
        for item in _heeded(context)
    )


def _heeded(context: Context) -> list[dict[str, Any]]:
    """The variables that a release looks at to decide what the exporter may read."""
    heeded = context.spec.at("dcgmExporter").get("env") if context.behaviour["podMetadataVariables"] else None
    return heeded or []


def _label_with_pods(pod: kube.Pod, main: kube.Container, context: Context) -> None:
    policy = context.spec
    for field, variable in _POD_METADATA.items():
        if policy.flag("dcgmExporter", field):
            kube.set_env(main, variable, "true")
    if reads_pods(context) or any(
        item["name"] == _CONFIG_MAP and item.get("value", "") not in ("", "none") for item in _heeded(context)
    ):
        pod["automountServiceAccountToken"] = True
    if allowed := policy.at("dcgmExporter") and policy.spec["dcgmExporter"].get("podLabelAllowlistRegex"):
        kube.set_env(main, "DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX", ",".join(allowed))


def mount_jobs(pod: kube.Pod, main: kube.Container, folder: str) -> None:
    """Where a workload manager leaves its files."""
    kube.mount(main, "hpc-job-mapping", folder, read_only=True)
    kube.add_volume(pod, "hpc-job-mapping", **kube.host_path(folder, "DirectoryOrCreate"))


def use_metrics(pod: kube.Pod, main: kube.Container, name: str) -> None:
    """Those that the user's ConfigMap lists."""
    kube.mount(main, "metrics-config", _METRICS_PATH, read_only=True, sub_path=_METRICS)
    kube.add_volume(pod, "metrics-config", configMap={"name": name, "items": [{"key": _METRICS, "path": _METRICS}]})
    kube.set_env(main, "DCGM_EXPORTER_COLLECTORS", _METRICS_PATH)


_DROPPED_WHEN_EMPTY = ("sourceLabels", "targetLabel", "regex", "modulus", "action")


def relabelings(rules: Iterable[Mapping[str, Any] | None]) -> list[dict[str, Any]]:
    """Each rule as it is written; one that is null says nothing."""
    return [
        {
            key: copied(value)
            for key, value in (rule or {}).items()
            if value is not None and (value or key not in _DROPPED_WHEN_EMPTY)
        }
        for rule in rules
    ]
