"""The DaemonSet of one node pool of an NVIDIADriver: metadata, pod, and the files that the object brings into the pod.

Source: NVIDIA/gpu-operator:manifests/state-driver and internal/state/driver.go. Not here: the annotation with a hash
over the whole object, which the operator compares on its next visit.

Source: NVIDIA/gpu-operator:internal/state/driver_volumes.go.
"""

from __future__ import annotations

import posixpath
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, move_host_path, pod_of
from poolsmith.fleet.operands.nvidia_driver.driver_containers import set_containers
from poolsmith.fleet.operands.nvidia_driver.node_pools import account_name, daemon_set_name, plain
from poolsmith.gpu.catalog.container_runtimes import CRIO
from poolsmith.gpu.catalog.node_labels import KERNEL
from poolsmith.gpu.catalog.operands import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.custom_resources import NvidiaDriver
    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.kube import Pod
    from poolsmith.fleet.operands.nvidia_driver.driver_containers import Images
    from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool, DriverRequest
    from poolsmith.gpu.catalog.operands import NvidiaDriverEntry


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


_MODULE_FOLDER = "/drivers"
_LICENSE = ("gridd.conf", "/drivers/gridd.conf")
_TOKEN = ("client_configuration_token.tok", "/drivers/ClientConfigToken/client_configuration_token.tok")
_TOPOLOGY = ("nvidia-topologyd.conf", "/etc/nvidia/nvidia-topologyd.conf")


@record(kw_only=False)
class Files:
    """Mounts of every container of the driver, and the volumes of the pod."""

    mounts: list[dict[str, Any]] = field(default_factory=list)
    volumes: list[dict[str, Any]] = field(default_factory=list)


def files_of(driver: NvidiaDriver, pool: DriverPool, request: DriverRequest) -> Files:
    """All files, or none at all: the operator only logs what is wrong with one of them, and goes on without any."""
    files = Files()
    try:
        if not driver.precompiled:
            _add_build_files(files, driver, pool, request)
        _add_config_map(files, driver.text("kernelModuleConfig", "name"), _MODULE_FOLDER, request)
    except OperatorError:
        return Files()
    _add_license(files, driver, request.behaviour)
    topology = driver.text("virtualTopologyConfig", "name")
    if topology:
        _add_items(files, "topology-config", {"configMap": {"name": plain(topology)}}, [_TOPOLOGY])
    return files


def _add_build_files(files: Files, driver: NvidiaDriver, pool: DriverPool, request: DriverRequest) -> None:
    """What a driver needs that is compiled on the node. Raises OperatorError."""
    behaviour = request.behaviour
    for block, folders in (("repoConfig", "packageFolders"), ("certConfig", "certificateFolders")):
        if name := driver.text(block, "name"):
            folder = behaviour[folders].get(pool.os_id)
            if folder is None:
                raise OperatorError("distribution not supported")
            _add_config_map(files, name, folder, request)
    rule = behaviour["subscriptions"].get(pool.os_id)
    if rule is None or (rule["offCrio"] and request.context.runs(CRIO)):
        return
    if pool.os_id in behaviour["repoConfigReplaces"] and driver.text("repoConfig", "name"):
        return
    for number, (inside, source) in enumerate(sorted(rule["paths"].items())):
        path, _, kind = source.partition(" ")
        name = f"subscription-config-{number}"
        files.mounts.append({"name": name, "mountPath": inside, "readOnly": True})
        files.volumes.append({"name": name, "hostPath": {"path": path, "type": kind}})


def _add_config_map(files: Files, name: str, folder: str, request: DriverRequest) -> None:
    """Every text of a ConfigMap as a file of its own. Raises OperatorError."""
    if not name:
        return
    found = request.context.existing("ConfigMap", name)
    if found is None:
        raise OperatorError(f'configmaps "{name}" not found')
    data = found.get("data")
    keys = sorted(map(str, data)) if isinstance(data, dict) else []
    _add_items(files, plain(name), {"configMap": {"name": name}}, [(key, posixpath.join(folder, key)) for key in keys])
    if not keys:
        files.volumes[-1:] = [{"name": name}] if request.behaviour["emptyConfigMaps"] == "without-source" else []


def _add_license(files: Files, driver: NvidiaDriver, behaviour: Mapping[str, Any]) -> None:
    secret = driver.text("licensingConfig", "secretName") if behaviour["licensingSecret"] else ""
    config_map = driver.text("licensingConfig", "name")
    if not secret and not config_map:
        return
    items = [_LICENSE]
    if driver.at("licensingConfig").get("nlsEnabled") is not False:
        items.append(_TOKEN)
    source = {"secret": {"secretName": plain(secret)}} if secret else {"configMap": {"name": plain(config_map)}}
    _add_items(files, "licensing-config", source, items)


def _add_items(files: Files, name: str, source: dict[str, dict[str, Any]], items: list[tuple[str, str]]) -> None:
    """One volume, and a mount for each of its files."""
    for key, path in items:
        files.mounts.append({"name": name, "mountPath": plain(path), "readOnly": True, "subPath": plain(key)})
    if items:
        for body in source.values():
            body["items"] = [{"key": key, "path": key} for key, _ in items]
    files.volumes.append({"name": name, **source})
