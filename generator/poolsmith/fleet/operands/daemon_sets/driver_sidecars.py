"""The containers beside the driver: peer memory for RDMA, GPUDirect Storage, GDRCopy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.operands.daemon_sets.config_files import mount_files, use_secret
from poolsmith.fleet.operands.daemon_sets.host_system import certificate_folder, package_folder, told
from poolsmith.fleet.operands.kube import (
    Container,
    OperatorError,
    Pod,
    add_pull_secrets,
    containers_of,
    find,
    pull_policy,
    remove,
    set_env,
    set_resources,
)
from poolsmith.fleet.operands.node_system import driver_os_tag
from poolsmith.gpu.drivers.features import needs_open_modules
from poolsmith.gpu.drivers.image_tag import built_for

if TYPE_CHECKING:
    from poolsmith.fleet.operands.context import Context

_PEER_MEMORY = "nvidia-peermem-ctr"
_MODULES = (
    ("gds", "nvidia-fs-ctr", "GDS_IMAGE", "GPUDirect Storage driver (nvidia-fs)"),
    ("gdrcopy", "nvidia-gdrcopy-ctr", "GDRCOPY_IMAGE", "GDRCopy"),
)


def set_sidecars(pod: Pod, driver_image: str, context: Context) -> None:
    """Keep those that are switched on. Raises OperatorError."""
    _set_peer_memory(pod, driver_image, context)
    for component, name, variable, title in _MODULES:
        container = find(containers_of(pod), name)
        if container is None:
            continue
        if not context.spec.enabled(component):
            remove(containers_of(pod), name)
            continue
        if context.spec.precompiled:
            raise OperatorError(f"{title} is not supported along with pre-compiled NVIDIA drivers")
        if component == "gds":
            _demand_open_modules(context)
        _set_module(pod, container, component, variable, context)


def _set_peer_memory(pod: Pod, driver_image: str, context: Context) -> None:
    policy = context.spec
    container = find(containers_of(pod), _PEER_MEMORY)
    if container is None:
        return
    if not policy.flag("driver", "rdma", "enabled"):
        remove(containers_of(pod), _PEER_MEMORY)
        return
    container["image"] = driver_image
    if asked := policy.text("driver", "imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(asked)
    if policy.flag("driver", "rdma", "useHostMofed"):
        set_env(container, "USE_HOST_MOFED", "true")
    if modules := policy.text("driver", "kernelModuleConfig", "name"):
        mount_files(container, modules, "/drivers", context, "kernel module configuration")
    _share_resources(container, context)


def _set_module(pod: Pod, container: Container, component: str, variable: str, context: Context) -> None:
    policy = context.spec
    spec = policy.at(component)
    container["image"] = built_for(context.image(component, variable), driver_os_tag(context))
    if spec.get("imagePullPolicy"):
        container["imagePullPolicy"] = pull_policy(spec["imagePullPolicy"])
    add_pull_secrets(pod, spec.get("imagePullSecrets"))
    for item in spec.get("env") or ():
        set_env(container, item["name"], item.get("value", ""))
    if repository := policy.text("driver", "repoConfig", "configMapName"):
        with told("custom repo config"):
            folder = package_folder(context)
        mount_files(container, repository, folder, context, "custom package repo config")
    if certificates := policy.text("driver", "certConfig", "name"):
        with told("ssl key/cert config"):
            folder = certificate_folder(context)
        mount_files(container, certificates, folder, context, "custom certs")
    secret = policy.text("driver", "secretEnv") if context.behaviour["secretEnv"] else ""
    if secret:
        use_secret(container, secret, context)
    _share_resources(container, context)


def _share_resources(container: Container, context: Context) -> None:
    if context.behaviour["driverSidecarResources"]:
        set_resources([container], context.spec.at("driver").get("resources"))


def _demand_open_modules(context: Context) -> None:
    """Where a release checks it: newer nvidia-fs loads beside open kernel modules only."""
    minimum = context.behaviour["gdsNeedsOpenModules"]
    version = context.spec.text("gds", "version")
    if minimum is None or context.spec.flag("driver", "useOpenKernelModules"):
        return
    if needs_open_modules(version, minimum):
        raise OperatorError(
            f"GPUDirect Storage driver '{version}' is only supported with NVIDIA OpenRM drivers. Please set "
            "'driver.useOpenKernelModules=true' in ClusterPolicy to enable OpenRM mode"
        )
