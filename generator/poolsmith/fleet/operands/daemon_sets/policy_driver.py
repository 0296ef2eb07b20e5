"""The driver of a ClusterPolicy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.daemon_sets.component import has_host_network, set_own_env, use_host_network
from poolsmith.fleet.operands.daemon_sets.driver_pod import (
    MANAGER,
    add_files,
    certificate_folder,
    in_operators_words,
    package_folder,
    reads_host_modules,
    set_driver_manager,
    set_sidecars,
    subscriptions,
    use_secret,
)
from poolsmith.fleet.operands.expansion_context import driver_os_tag
from poolsmith.fleet.operands.operand_containers import image_path
from poolsmith.gpu.catalog.node_labels import KERNEL, OS_ID, OS_VERSION
from poolsmith.gpu.catalog.operands import DRIVER_DIGEST
from poolsmith.gpu.catalog.releases import name_of_kernel
from poolsmith.gpu.drivers.driver_image import built_for

if TYPE_CHECKING:
    from poolsmith.fleet.operands.expansion_context import Context


_MAIN = "nvidia-driver-ctr"
_TOOLKIT = "openshift-driver-toolkit-ctr"
_PRECOMPILED = "nvidia.com/precompiled"
_PROBES = ("startupProbe", "livenessProbe", "readinessProbe")
_PROBE_FIELDS = ("initialDelaySeconds", "timeoutSeconds", "failureThreshold", "successThreshold", "periodSeconds")


def driver(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    policy = context.spec
    if context.behaviour["validatorSecretsEverywhere"]:
        kube.add_pull_secrets(pod, policy.at("validator").get("imagePullSecrets"))
    set_driver_manager(pod, "driver", "manager", context, policy.at("driver", "rdma"))
    main = kube.must_find(kube.containers_of(pod), _MAIN)
    _set_main(pod, main, context)
    set_sidecars(pod, driver_image(context), context)
    kube.remove(kube.containers_of(pod), _TOOLKIT)
    if policy.precompiled:
        _bind_to_kernel(daemon_set, context)
    if context.behaviour["driverConfigDigest"]:
        for container in (kube.find(kube.init_containers_of(pod), MANAGER), main):
            if container is not None:
                container.setdefault("env", []).append({"name": DRIVER_DIGEST})


def driver_image(context: Context) -> str:
    """The image of the driver container, for the kernel at hand when precompiled. Raises OperatorError."""
    tag = driver_os_tag(context)
    spec = context.spec.at("driver")
    if not context.spec.precompiled:
        return built_for(context.image("driver", "DRIVER_IMAGE"), tag)
    repository, image, version = (str(spec.get(key) or "") for key in ("repository", "image", "version"))
    if not repository and not version:
        if not image:
            unable = "unable to resolve driver image path for pre-compiled drivers, driver.repository, driver.image "
            missing = f"{unable}and driver.version have to be specified in the ClusterPolicy"
            raise kube.OperatorError(kube.worded(missing, context.behaviour))
        return built_for(image, tag, context.kernel)
    if context.behaviour["partialImages"] == "refused":
        image_path(spec, "DRIVER_IMAGE", partly="refused")
    return built_for(f"{repository}/{image}:{version}", tag, context.kernel)


def kernels(context: Context) -> dict[str, str]:
    """Every kernel of GPU nodes with its operating system, for precompiled drivers. Raises OperatorError."""
    found: dict[str, str] = {}
    for node in context.gpu_nodes:
        kernel = node.labels.get(KERNEL)
        if kernel is None:
            raise kube.OperatorError(f'Label.Node "{KERNEL}" not found')
        system = node.labels.get(OS_ID, "") + node.labels.get(OS_VERSION, "")
        if found.setdefault(kernel, system) != system:
            raise kube.OperatorError(
                f"different OS versions found for the same kernel version {kernel}, unsupported configuration"
            )
    return dict(sorted(found.items()))


def _set_main(pod: kube.Pod, main: kube.Container, context: Context) -> None:
    policy = context.spec
    spec = policy.at("driver")
    main["image"] = driver_image(context)
    main["imagePullPolicy"] = kube.pull_policy(spec.get("imagePullPolicy"))
    kube.add_pull_secrets(pod, spec.get("imagePullSecrets"))
    kube.set_resources([main], spec.get("resources"))
    if spec.get("args"):
        main["args"] = list(spec["args"])
    if policy.flag("driver", "hostNetwork") and has_host_network("driver", context):
        use_host_network(pod)
    last = context.behaviour["ownVariablesWin"]
    if not last:
        set_own_env(main, "driver", context)
    _choose_modules(main, context)
    _set_probes(main, spec)
    _announce_features(pod, main, context)
    _license(pod, main, context)
    if topology := policy.text("driver", "virtualTopology", "config"):
        file = "nvidia-topologyd.conf"
        kube.mount(main, "topology-config", f"/etc/nvidia/{file}", read_only=True, sub_path=file)
        kube.add_volume(pod, "topology-config", configMap={"name": topology, "items": [{"key": file, "path": file}]})
    if modules := policy.text("driver", "kernelModuleConfig", "name"):
        _bring(pod, main, modules, "/drivers", context, "kernel module configuration")
    if last:
        set_own_env(kube.containers_of(pod)[0], "driver", context)
    if not policy.precompiled:
        _prepare_build(pod, main, context)
    elif reads_host_modules(context):
        kube.mount(main, "lib-modules", "/run/host/lib/modules", read_only=True)
        kube.add_volume(pod, "lib-modules", **kube.host_path("/lib/modules", "Directory"))


def _choose_modules(main: kube.Container, context: Context) -> None:
    policy = context.spec
    if context.behaviour["kernelModule"] == "useOpenKernelModules":
        if policy.flag("driver", "useOpenKernelModules"):
            kube.set_env(main, "OPEN_KERNEL_MODULES_ENABLED", "true")
        return
    if kind := policy.text("driver", "kernelModuleType"):
        kube.set_env(main, "KERNEL_MODULE_TYPE", kind)
        if kind == "open":
            kube.set_env(main, "OPEN_KERNEL_MODULES_ENABLED", "true")


def _set_probes(main: kube.Container, spec: dict[str, Any]) -> None:
    """Raises OperatorError: the operator writes into a probe that is not there."""
    for field in _PROBES:
        stated = {name: value for name, value in (spec.get(field) or {}).items() if name in _PROBE_FIELDS and value}
        if stated and field not in main:
            raise kube.OperatorError(
                f"panic: nil pointer, as the driver's container has no {field} that could be changed"
            )
        if stated:
            main[field] |= stated


def _announce_features(pod: kube.Pod, main: kube.Container, context: Context) -> None:
    policy = context.spec
    if context.behaviour["driverFeatureVariables"]:
        for component, variable in (("gdrcopy", "GDRCOPY_ENABLED"), ("gds", "GDS_ENABLED")):
            if policy.enabled(component):
                kube.set_env(main, variable, "true")
    if policy.flag("driver", "rdma", "enabled"):
        kube.set_env(main, "GPU_DIRECT_RDMA_ENABLED", "true")
        if policy.flag("driver", "rdma", "useHostMofed"):
            kube.move_host_path(pod, "mlnx-ofed-usr-src", "/usr/src")
            kube.set_env(main, "USE_HOST_MOFED", "true")


def _license(pod: kube.Pod, main: kube.Container, context: Context) -> None:
    spec = context.spec.at("driver", "licensingConfig")
    secret = str(spec.get("secretName") or "") if context.behaviour["licensingSecret"] else ""
    config_map = str(spec.get("configMapName") or "")
    if not secret and not config_map:
        return
    files = [("gridd.conf", "/drivers/gridd.conf")]
    if spec.get("nlsEnabled") is True:
        token = "client_configuration_token.tok"  # noqa: S105 - the name of a file
        files.append((token, f"/drivers/ClientConfigToken/{token}"))
    for file, path in files:
        kube.mount(main, "licensing-config", path, read_only=True, sub_path=file)
    items = [{"key": file, "path": file} for file, _ in files]
    source = (
        {"secret": {"secretName": secret, "items": items}}
        if secret
        else {"configMap": {"name": config_map, "items": items}}
    )
    kube.add_volume(pod, "licensing-config", **source)


def _prepare_build(pod: kube.Pod, main: kube.Container, context: Context) -> None:
    """What a driver needs that is compiled on the node."""
    policy = context.spec
    if repository := policy.text("driver", "repoConfig", "configMapName"):
        with in_operators_words("custom repo config"):
            folder = package_folder(context)
        _bring(pod, main, repository, folder, context, "custom repo config")
    if certificates := policy.text("driver", "certConfig", "name"):
        with in_operators_words(context.behaviour["folderErrors"]["certificates"]):
            folder = certificate_folder(context)
        _bring(pod, main, certificates, folder, context, "custom certs")
    secret = policy.text("driver", "secretEnv") if context.behaviour["secretEnv"] else ""
    if secret:
        try:
            use_secret(main, secret, context)
        except kube.OperatorError as error:
            raise kube.OperatorError(
                f"ERROR: failed to attach secret {secret} to the driver container: {error}"
            ) from None
    for number, (inside, path, kind) in enumerate(subscriptions(context)):
        name = f"subscription-config-{number}"
        kube.mount(main, name, inside, read_only=True)
        kube.add_volume(pod, name, **kube.host_path(path, kind))


def _bring(pod: kube.Pod, main: kube.Container, name: str, folder: str, context: Context, what: str) -> None:
    """The user's files into a folder, with the operator's words when that fails."""
    try:
        add_files(pod, main, name, folder, context)
    except kube.OperatorError as error:
        raise kube.OperatorError(f"ERROR: failed to create ConfigMap VolumeMounts for {what}: {error}") from None


def _bind_to_kernel(daemon_set: dict[str, Any], context: Context) -> None:
    """One DaemonSet a kernel: name, labels and selector."""
    system = kernels(context)[context.kernel]
    metadata = daemon_set["metadata"]
    metadata["name"] += f"-{name_of_kernel(context.kernel, context.behaviour['architectures'])}-{system}"
    template = daemon_set["spec"]["template"]
    metadata["labels"][_PRECOMPILED] = "true"
    template["metadata"]["labels"][_PRECOMPILED] = "true"
    template["spec"]["nodeSelector"][KERNEL] = context.kernel
