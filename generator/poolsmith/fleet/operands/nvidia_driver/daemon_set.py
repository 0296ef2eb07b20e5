"""The DaemonSet of one node pool: metadata and pod.

Source: NVIDIA/gpu-operator:manifests/state-driver and internal/state/driver.go. Not here: the annotation with a hash
over the whole object, which the operator compares on its next visit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.operands.kube import NotModelled, move_host_path, pod_of
from poolsmith.fleet.operands.nvidia_driver.containers import set_containers
from poolsmith.fleet.operands.nvidia_driver.names import account_name, daemon_set_name, plain
from poolsmith.gpu.catalog.node_labels import KERNEL
from poolsmith.gpu.catalog.operands import whole

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.kube import Pod
    from poolsmith.fleet.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.fleet.operands.nvidia_driver.images import Images
    from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool
    from poolsmith.fleet.operands.nvidia_driver.volumes import Files
    from poolsmith.gpu.catalog.nvidia_drivers import NvidiaDriverEntry

COMPONENT = "app.kubernetes.io/component"
_APP = "app"
_RESERVED = "app.kubernetes.io/"
_SYSTEM = "nvidia.com/node.os-version"
_PRECOMPILED = "nvidia.com/precompiled"
_KERNEL_NAME = "nvidia.com/precompiled.kernel-version"
_CONSTRAINTS = "openshift.io/scc"
_MODULES = ("gds", "gdrcopy")


def daemon_set(
    driver: NvidiaDriver,
    pool: DriverPool,
    images: Images,
    files: Files,
    *,
    entry: NvidiaDriverEntry,
    namespace: str,
    host_root: str = "/",
) -> KubernetesObject:
    """Raises NotModelled."""
    compact = entry.daemon_sets["vgpu-host-manager" if driver.manages_vgpus else "driver"]
    name = daemon_set_name(driver, pool)
    labels = _labels(driver, pool, compact["component"])
    own_labels = {
        key: value for key, value in driver.at("labels").items() if key != _APP and not key.startswith(_RESERVED)
    }
    annotations = driver.at("annotations")
    everywhere = entry.behaviour["ownMetadata"] == "pods-and-daemon-set"
    made = whole(
        {
            **compact,
            "kind": "DaemonSet",
            "name": name,
            "labels": labels | (own_labels if everywhere else {}),
            "annotations": {_CONSTRAINTS: account_name(driver, pool)} | (annotations if everywhere else {}),
            "selector": {_APP: name},
            "podLabels": labels | own_labels,
            "podAnnotations": compact["podAnnotations"] | annotations,
        },
        namespace,
    )
    pod = pod_of(made)
    pod["serviceAccountName"] = account_name(driver, pool)
    _schedule(pod, driver, pool)
    _set_pull_secrets(pod, driver)
    _set_pod_fields(pod, driver, entry.behaviour["podFields"])
    set_containers(pod, driver, images, entry.behaviour)
    _add_files(pod, driver, files, host_root)
    return made


def _labels(driver: NvidiaDriver, pool: DriverPool, component: str) -> dict[str, str]:
    labels = {_APP: daemon_set_name(driver, pool), _SYSTEM: pool.os_tag, _PRECOMPILED: "false", COMPONENT: component}
    if driver.precompiled:
        labels |= {_PRECOMPILED: "true", _KERNEL_NAME: plain(pool.kernel_name)}
    return labels


def _schedule(pod: Pod, driver: NvidiaDriver, pool: DriverPool) -> None:
    pod["nodeSelector"] |= pool.node_selector
    if driver.precompiled:
        pod["nodeSelector"][KERNEL] = pool.kernel
    pod["tolerations"] += driver.spec.get("tolerations") or []
    if priority := driver.text("priorityClassName"):
        pod["priorityClassName"] = plain(priority)


def _set_pull_secrets(pod: Pod, driver: NvidiaDriver) -> None:
    """Duplicates stay. Raises NotModelled."""
    modules = (driver.at(name) for name in _MODULES if driver.flag(name, "enabled"))
    names = [source.get("imagePullSecrets") or [] for source in (driver.spec, driver.at("manager"), *modules)]
    if driver.flag("gdrcopy", "enabled") and names[-1] and any(names[:-1]):
        raise NotModelled("pull secrets of GDRCopy beside others, of which the operator makes no valid YAML")
    if any(names):
        pod["imagePullSecrets"] = [{"name": plain(name)} for source in names for name in source]


def _set_pod_fields(pod: Pod, driver: NvidiaDriver, heeded: list[str]) -> None:
    if "hostNetwork" in heeded and driver.flag("hostNetwork"):
        pod["hostNetwork"] = True
        pod["dnsPolicy"] = "ClusterFirstWithHostNet"
    if "podSecurityContext" in heeded and (security := driver.at("podSecurityContext")):
        pod["securityContext"] = dict(security)


def _add_files(pod: Pod, driver: NvidiaDriver, files: Files, host_root: str) -> None:
    move_host_path(pod, "host-root", host_root)
    if driver.flag("rdma", "useHostMofed"):
        move_host_path(pod, "mlnx-ofed-usr-src", "/usr/src")
    pod["volumes"] += files.volumes
    for container in pod["containers"]:
        container["volumeMounts"] += [dict(mount) for mount in files.mounts]
