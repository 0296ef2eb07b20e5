"""The driver pod of a ClusterPolicy: its driver manager, the files users bring, and the containers beside the driver.

The operating system decides the folders for packages and certificates and the subscriptions. The containers beside the
driver are peer memory for RDMA, GPUDirect Storage and GDRCopy.
"""

from __future__ import annotations

import posixpath
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.expansion_context import cluster_os_tag, driver_os_tag
from poolsmith.gpu.catalog.container_runtimes import CRIO
from poolsmith.gpu.catalog.node_labels import OS_ID
from poolsmith.gpu.drivers.driver_image import built_for
from poolsmith.gpu.drivers.driver_support import needs_open_modules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.fleet.operands.expansion_context import Context


MANAGER = "k8s-driver-manager"


def set_driver_manager(
    pod: kube.Pod, component: str, part: str, context: Context, rdma: Mapping[str, Any] | None = None
) -> None:
    """Its image, and what it has to know about RDMA; `part` of the component configures it. Raises OperatorError."""
    spec = context.spec.at(component, part)
    container = kube.must_find(kube.init_containers_of(pod), MANAGER)
    container["image"] = context.image_of(spec, "DRIVER_MANAGER_IMAGE")
    if spec.get("imagePullPolicy"):
        container["imagePullPolicy"] = kube.pull_policy(spec["imagePullPolicy"])
    if rdma is not None and rdma.get("enabled") is True:
        kube.set_env(container, "GPU_DIRECT_RDMA_ENABLED", "true")
        if rdma.get("useHostMofed") is True:
            kube.set_env(container, "USE_HOST_MOFED", "true")
    if context.behaviour["initResources"]:
        kube.set_resources([container], context.spec.at(component).get("resources"))
    kube.set_all_env(container, spec.get("env"))
    kube.add_pull_secrets(pod, spec.get("imagePullSecrets"))


def mount_files(container: kube.Container, name: str, folder: str, context: Context, what: str = "") -> list[str]:
    """Mount every file of a ConfigMap by itself into `folder`; the names of the files.

    Raises OperatorError, in the operator's words for `what` where the caller gives them.
    """
    found = context.existing("ConfigMap", name)
    if found is None:
        wrapper = f"ERROR: failed to create ConfigMap VolumeMounts for {what}: " if what else ""
        missing = f'ERROR: could not get ConfigMap {name} from client: configmaps "{name}" not found'
        raise kube.OperatorError(wrapper + missing)
    files = sorted(found.get("data") or {})
    for file in files:
        kube.mount(container, name, posixpath.join(folder, file), read_only=True, sub_path=file)
    return files


def add_files(pod: kube.Pod, container: kube.Container, name: str, folder: str, context: Context) -> None:
    """The same, with the volume."""
    files = mount_files(container, name, folder, context)
    items = [{"key": file, "path": file} for file in files]
    kube.add_volume(pod, name, configMap={"name": name, **({"items": items} if items else {})})


def use_secret(container: kube.Container, name: str, context: Context) -> None:
    """All keys of a Secret as variables. Raises OperatorError."""
    if context.existing("Secret", name) is None:
        raise kube.OperatorError(f'ERROR: could not get Secret {name} from client: secrets "{name}" not found')
    container.setdefault("envFrom", []).append({"secretRef": {"name": name}})


UNKNOWN_OPERATOR_HOST = "/etc/os-release of the node that runs the operator, which this release goes by"


def system_id(context: Context) -> str:
    """The id that a release goes by: of the node that runs the operator, or of the first GPU node."""
    if context.behaviour["osFacts"] == "gpu-node":
        return context.gpu_nodes[0].labels.get(OS_ID, "")
    if context.os_release is None:
        raise kube.NotModelled(UNKNOWN_OPERATOR_HOST)
    return context.os_release.get("ID", "")


def package_folder(context: Context) -> str:
    """Where a repository configuration goes. Raises OperatorError."""
    return _folder("packageFolders", context)


def certificate_folder(context: Context) -> str:
    """Where certificates go. Raises OperatorError."""
    return _folder("certificateFolders", context)


def subscriptions(context: Context) -> list[tuple[str, str, str]]:
    """Mount path, host path and hostPath type of each of the host's package subscriptions."""
    known = context.behaviour["subscriptions"]
    if context.os_release is None and not any(node.labels.get(OS_ID) in known for node in context.nodes):
        return []
    system = system_id(context)
    rule = known.get(system)
    if rule is None or (rule["offCrio"] and context.runs(CRIO)):
        return []
    own = context.spec.text("driver", "repoConfig", "configMapName")
    if own and system in context.behaviour["repoConfigReplaces"]:
        return []
    return [(inside, *source.split(" ", 1)) for inside, source in sorted(rule["paths"].items())]


def reads_host_modules(context: Context) -> bool:
    """Whether a precompiled driver of a ClusterPolicy reads the kernel modules of the host."""
    systems = context.behaviour["hostModules"]
    return bool(systems) and system_id(context) in systems


@contextmanager
def in_operators_words(what: str) -> Iterator[None]:
    """The operator's words where a system has no folder. Raises OperatorError."""
    try:
        yield
    except kube.OperatorError as error:
        raise kube.OperatorError(f"ERROR: failed to get destination directory for {what}: {error}") from None


def _folder(kind: str, context: Context) -> str:
    found: str | None = context.behaviour[kind].get(system_id(context))
    if found is None:
        tag = cluster_os_tag(context)
        raise kube.OperatorError(context.behaviour["folderErrors"][kind].replace("{tag}", tag))
    return found


_PEER_MEMORY = "nvidia-peermem-ctr"
_MODULES = (
    ("gds", "nvidia-fs-ctr", "GDS_IMAGE", "GPUDirect Storage driver (nvidia-fs)"),
    ("gdrcopy", "nvidia-gdrcopy-ctr", "GDRCOPY_IMAGE", "GDRCopy"),
)


def set_sidecars(pod: kube.Pod, driver_image: str, context: Context) -> None:
    """Keep those that are switched on. Raises OperatorError."""
    _set_peer_memory(pod, driver_image, context)
    for component, name, variable, title in _MODULES:
        container = kube.find(kube.containers_of(pod), name)
        if container is None:
            continue
        if not context.spec.enabled(component):
            kube.remove(kube.containers_of(pod), name)
            continue
        if context.spec.precompiled:
            raise kube.OperatorError(f"{title} is not supported along with pre-compiled NVIDIA drivers")
        if component == "gds":
            _demand_open_modules(context)
        _set_module(pod, container, component, variable, context)


def _set_peer_memory(pod: kube.Pod, driver_image: str, context: Context) -> None:
    policy = context.spec
    container = kube.find(kube.containers_of(pod), _PEER_MEMORY)
    if container is None:
        return
    if not policy.flag("driver", "rdma", "enabled"):
        kube.remove(kube.containers_of(pod), _PEER_MEMORY)
        return
    container["image"] = driver_image
    if asked := policy.text("driver", "imagePullPolicy"):
        container["imagePullPolicy"] = kube.pull_policy(asked)
    if policy.flag("driver", "rdma", "useHostMofed"):
        kube.set_env(container, "USE_HOST_MOFED", "true")
    if modules := policy.text("driver", "kernelModuleConfig", "name"):
        mount_files(container, modules, "/drivers", context, "kernel module configuration")
    _share_resources(container, context)


def _set_module(pod: kube.Pod, container: kube.Container, component: str, variable: str, context: Context) -> None:
    policy = context.spec
    spec = policy.at(component)
    container["image"] = built_for(context.image(component, variable), driver_os_tag(context))
    if spec.get("imagePullPolicy"):
        container["imagePullPolicy"] = kube.pull_policy(spec["imagePullPolicy"])
    kube.add_pull_secrets(pod, spec.get("imagePullSecrets"))
    for item in spec.get("env") or ():
        kube.set_env(container, item["name"], item.get("value", ""))
    if repository := policy.text("driver", "repoConfig", "configMapName"):
        with in_operators_words("custom repo config"):
            folder = package_folder(context)
        mount_files(container, repository, folder, context, "custom package repo config")
    if certificates := policy.text("driver", "certConfig", "name"):
        with in_operators_words("ssl key/cert config"):
            folder = certificate_folder(context)
        mount_files(container, certificates, folder, context, "custom certs")
    secret = policy.text("driver", "secretEnv") if context.behaviour["secretEnv"] else ""
    if secret:
        use_secret(container, secret, context)
    _share_resources(container, context)


def _share_resources(container: kube.Container, context: Context) -> None:
    if context.behaviour["driverSidecarResources"]:
        kube.set_resources([container], context.spec.at("driver").get("resources"))


def _demand_open_modules(context: Context) -> None:
    """Where a release checks it: newer nvidia-fs loads beside open kernel modules only."""
    minimum = context.behaviour["gdsNeedsOpenModules"]
    version = context.spec.text("gds", "version")
    if minimum is None or context.spec.flag("driver", "useOpenKernelModules"):
        return
    if needs_open_modules(version, minimum):
        raise kube.OperatorError(
            f"GPUDirect Storage driver '{version}' is only supported with NVIDIA OpenRM drivers. Please set "
            "'driver.useOpenKernelModules=true' in ClusterPolicy to enable OpenRM mode"
        )
