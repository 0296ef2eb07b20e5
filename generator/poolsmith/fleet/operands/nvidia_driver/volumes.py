"""Files that an NVIDIADriver brings into its pods.

Source: NVIDIA/gpu-operator:internal/state/driver_volumes.go.
"""

from __future__ import annotations

import posixpath
from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.kube import OperatorError
from poolsmith.fleet.operands.nvidia_driver.names import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool
    from poolsmith.fleet.operands.nvidia_driver.request import DriverRequest

_MODULE_FOLDER = "/drivers"
_LICENSE = ("gridd.conf", "/drivers/gridd.conf")
_TOKEN = ("client_configuration_token.tok", "/drivers/ClientConfigToken/client_configuration_token.tok")
_TOPOLOGY = ("nvidia-topologyd.conf", "/etc/nvidia/nvidia-topologyd.conf")
_CRIO = "crio"


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
    if rule is None or (rule["offCrio"] and request.context.runtime == _CRIO):
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
