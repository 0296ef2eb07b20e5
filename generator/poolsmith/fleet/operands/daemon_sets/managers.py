"""The operands that set up what a node's GPUs are used for: MIG, passthrough, vGPU, Kata, confidential mode.

The operator notices by a hash that the Kata manager's configuration changed. The hash is FNV-1a over a printed Go
structure: types, field names and values. A map or list that is empty is one without entries, and one that is absent is
nil: the API server keeps the difference. Checked against runs of the operator's binary.
Source: NVIDIA/gpu-operator:internal/utils. The configuration's text is what sigs.k8s.io/yaml writes of the structure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands import kube
from poolsmith.fleet.operands.daemon_sets.component import (
    CDI_HOOK,
    hook_path,
    inject_devices,
    own_variables,
    set_component,
    set_own_env,
    set_validation_containers,
    use_runtime_class,
)
from poolsmith.fleet.operands.daemon_sets.driver_pod import add_files, set_driver_manager
from poolsmith.fleet.operands.daemon_sets.toolkit_daemon_set import mount_runtime
from poolsmith.fleet.operands.expansion_context import driver_os_tag
from poolsmith.gpu.drivers.driver_image import built_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
    from poolsmith.fleet.operands.expansion_context import Context


_NIL = "<nil>"


def kata_config_hash(config: Mapping[str, Any]) -> str:
    """The hash of `kataManager.config`, in decimal."""
    classes = config.get("runtimeClasses")
    printed = _NIL if classes is None else f"[{' '.join(_runtime_class(item) for item in classes)}]"
    folder = config.get("artifactsDir", "")
    text = f"(*config.Config){{ArtifactsDir:(string){folder} RuntimeClasses:([]config.RuntimeClass){printed}}}"
    return str(kube.fnv32a(text.encode()))


def kata_config_text(config: Mapping[str, Any] | None) -> str:
    """What the Kata manager reads; empty fields are none, but for the address of artifacts."""
    from poolsmith.kubernetes.helm.to_yaml import to_yaml  # on demand

    if config is None:
        return "null\n"
    classes = [
        {
            "name": item.get("name", ""),
            **({"nodeSelector": item["nodeSelector"]} if item.get("nodeSelector") else {}),
            "artifacts": {
                "url": (item.get("artifacts") or {}).get("url", ""),
                **{key: text for key, text in (item.get("artifacts") or {}).items() if key == "pullSecret" and text},
            },
        }
        for item in config.get("runtimeClasses") or ()
    ]
    folder = config.get("artifactsDir")
    return (
        to_yaml({**({"artifactsDir": folder} if folder else {}), **({"runtimeClasses": classes} if classes else {})})
        + "\n"
    )


def _runtime_class(item: Mapping[str, Any]) -> str:
    artifacts = item.get("artifacts") or {}
    source = f"URL:(string){artifacts.get('url', '')} PullSecret:(string){artifacts.get('pullSecret', '')}"
    return (
        f"{{Name:(string){item.get('name', '')} "
        f"NodeSelector:(map[string]string){_labels(item.get('nodeSelector'))} "
        f"Artifacts:(config.Artifacts){{{source}}}}}"
    )


def _labels(labels: Mapping[str, str] | None) -> str:
    if labels is None:
        return _NIL
    return f"map[{' '.join(f'{key}:{value}' for key, value in sorted(labels.items()))}]"


DEFAULT_MIG_CONFIG = "default-mig-parted-config"
DEFAULT_GPU_CLIENTS = "default-gpu-clients"
DEFAULT_VGPU_CONFIG = "default-vgpu-devices-config"
_LAYOUTS = "mig-parted-config"
_KATA_ARTIFACTS = "/opt/nvidia-gpu-operator/artifacts/runtimeclasses/"
_KATA_HASH = "nvidia.com/kata-manager.last-applied-hash"


def mig_manager(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    policy = context.spec
    set_validation_containers(pod, context)
    set_component(pod, main, "migManager", "MIG_MANAGER_IMAGE", context)
    with own_variables(main, "migManager", context):
        use_runtime_class(pod, context)
        inject_devices(daemon_set, main["name"], context)
        _use_layouts(pod, main, policy.text("migManager", "config", "name"), context)
        _use_config_map(
            pod, "gpu-clients", policy.text("migManager", "gpuClientsConfig", "name") or DEFAULT_GPU_CLIENTS
        )
        if policy.enabled("cdi"):
            kube.set_env(main, "CDI_ENABLED", "true")
            if policy.enabled("toolkit"):
                kube.set_env(main, CDI_HOOK, hook_path(context))


def vfio_manager(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    try:
        set_driver_manager(pod, "vfioManager", "driverManager", context)
    except kube.OperatorError as error:
        raise kube.OperatorError(
            f"failed to transform k8s-driver-manager initContainer for VFIO Manager: {error}"
        ) from None
    set_component(pod, main, "vfioManager", "VFIO_MANAGER_IMAGE", context)
    set_own_env(main, "vfioManager", context)


def vgpu_device_manager(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    policy = context.spec
    set_validation_containers(pod, context)
    set_component(pod, main, "vgpuDeviceManager", "VGPU_DEVICE_MANAGER_IMAGE", context)
    set_own_env(main, "vgpuDeviceManager", context)
    _use_config_map(pod, "vgpu-config", policy.text("vgpuDeviceManager", "config", "name") or DEFAULT_VGPU_CONFIG)
    kube.set_env(main, "DEFAULT_VGPU_CONFIG", policy.text("vgpuDeviceManager", "config", "default") or "default")


def sandbox_device_plugin(daemon_set: dict[str, Any], context: Context) -> None:
    _passthrough_plugin(daemon_set, "sandboxDevicePlugin", "SANDBOX_DEVICE_PLUGIN_IMAGE", context)


def kata_sandbox_device_plugin(daemon_set: dict[str, Any], context: Context) -> None:
    _passthrough_plugin(daemon_set, "kataSandboxDevicePlugin", "KATA_SANDBOX_DEVICE_PLUGIN_IMAGE", context)


def cc_manager(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    set_component(pod, main, "ccManager", "CC_MANAGER_IMAGE", context)
    with own_variables(main, "ccManager", context):
        if mode := context.spec.text("ccManager", "defaultMode"):
            kube.set_env(main, "DEFAULT_CC_MODE", mode)


def kata_manager(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    set_component(pod, main, "kataManager", "KATA_MANAGER_IMAGE", context)
    first = context.behaviour["runtimeFilesFirst"]
    with own_variables(main, "kataManager", context):
        config = kata_config(context.spec)
        artifacts = config.get("artifactsDir") or _KATA_ARTIFACTS
        kube.set_env(main, "KATA_ARTIFACTS_DIR", artifacts)
        kube.mount(main, "kata-artifacts", artifacts)
        kube.add_volume(pod, "kata-artifacts", **kube.host_path(artifacts, "DirectoryOrCreate"))
        annotations = daemon_set["spec"]["template"]["metadata"].setdefault("annotations", {})
        annotations[_KATA_HASH] = kata_config_hash(config)
        if first:
            mount_runtime(pod, main, context, drop_in=False)
    if not first:
        mount_runtime(pod, main, context, drop_in=False)


def kata_config(policy: ClusterPolicySpec) -> dict[str, Any]:
    """What the Kata manager is to install. Raises OperatorPanicError: the operator reads it without asking for it."""
    if policy.at("kataManager").get("config") is None:
        raise kube.OperatorPanicError("`kataManager.enabled` without `kataManager.config`")
    return policy.at("kataManager", "config")


def _passthrough_plugin(daemon_set: dict[str, Any], component: str, variable: str, context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    main = kube.containers_of(pod)[0]
    set_validation_containers(pod, context)
    set_component(pod, main, component, variable, context)
    set_own_env(main, component, context)


def _use_layouts(pod: kube.Pod, main: kube.Container, name: str, context: Context) -> None:
    """The user's MIG layouts, or the default ones, which newer releases only fall back on."""
    own = name not in ("", DEFAULT_MIG_CONFIG)
    volume = _use_config_map(pod, _LAYOUTS, name if own else DEFAULT_MIG_CONFIG)
    if not context.behaviour["migFallback"]:
        return
    if own:
        kube.set_env(main, "CONFIG_FILE", f"/{_LAYOUTS}/config.yaml")
        return
    kube.set_env(main, "DEFAULT_CONFIG_FILE", f"/{_LAYOUTS}/config-default.yaml")
    if volume is not None:
        volume["configMap"]["items"] = [{"key": "config.yaml", "path": "config-default.yaml"}]


def _use_config_map(pod: kube.Pod, part: str, name: str) -> dict[str, Any] | None:
    for volume in pod.get("volumes", ()):
        if part in volume["name"]:
            volume["configMap"]["name"] = name
            found: dict[str, Any] = volume
            return found
    return None


_MAIN = "nvidia-vgpu-manager-ctr"
_TOOLKIT = "openshift-driver-toolkit-ctr"


def vgpu_manager(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    try:
        set_driver_manager(pod, "vgpuManager", "driverManager", context)
    except kube.OperatorError as error:
        raise kube.OperatorError(
            f"failed to transform k8s-driver-manager initContainer for vGPU Manager: {error}"
        ) from None
    main = kube.must_find(kube.containers_of(pod), _MAIN)
    try:
        tag = driver_os_tag(context)
        kube.remove(kube.containers_of(pod), _TOOLKIT)
        set_component(pod, main, "vgpuManager", "VGPU_MANAGER_IMAGE", context)
    except kube.OperatorError as error:
        raise kube.OperatorError(f"failed to transform vGPU Manager container: {error}") from None
    main["image"] = built_for(main["image"], tag)
    if modules := context.spec.text("vgpuManager", "kernelModuleConfig", "name"):
        try:
            add_files(pod, main, modules, "/drivers", context)
        except kube.OperatorError as error:
            wrapper = "failed to create ConfigMap VolumeMounts for kernel module configuration"
            raise kube.OperatorError(f"failed to transform vGPU Manager container: {wrapper}: {error}") from None
    set_own_env(main, "vgpuManager", context)
