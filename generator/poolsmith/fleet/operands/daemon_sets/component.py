"""What the operator sets in nearly every operand (image, pull secrets, resources, variables), and its init containers.

The init containers wait until something on the node is ready.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands import kube
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD, CRIO
from poolsmith.kubernetes.helm.go_template import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.operands.expansion_context import Context


NRI_ANNOTATION = "nvidia.cdi.k8s.io/container."
_EXPORTER = "dcgmExporter"
_ALL_DEVICES = "management.nvidia.com/gpu=all"
CDI_HOOK = "NVIDIA_CDI_HOOK_PATH"


def set_component(
    pod: kube.Pod, container: kube.Container, component: str, variable: str, context: Context, *, arguments: bool = True
) -> None:
    """Everything but the environment, which comes earlier or later depending on the operand. Raises OperatorError."""
    spec = context.spec.at(component)
    container["image"] = context.image(component, variable)
    container["imagePullPolicy"] = kube.pull_policy(spec.get("imagePullPolicy"))
    kube.add_pull_secrets(pod, spec.get("imagePullSecrets"))
    kube.set_resources(kube.containers_of(pod), spec.get("resources"))
    if arguments and spec.get("args"):
        container["args"] = list(spec["args"])
    if spec.get("hostNetwork") is True and has_host_network(component, context):
        use_host_network(pod)


def has_host_network(component: str, context: Context) -> bool:
    """Whether `hostNetwork` of a component has an effect."""
    switches = context.behaviour["hostNetworkSwitches"]
    return bool(switches == "all" or (switches == "exporter" and component == _EXPORTER))


def use_host_network(pod: kube.Pod) -> None:
    pod["hostNetwork"] = True
    pod["dnsPolicy"] = "ClusterFirstWithHostNet"


def set_own_env(container: kube.Container, component: str, context: Context) -> None:
    """The variables that the ClusterPolicy sets for a component."""
    kube.set_all_env(container, context.spec.at(component).get("env"))


@contextmanager
def own_variables(container: kube.Container, component: str, context: Context) -> Iterator[None]:
    """The same, before what the operator sets itself, or after it in releases where the ClusterPolicy's win."""
    win = context.behaviour["ownVariablesWin"]
    if not win:
        set_own_env(container, component, context)
    yield
    if win:
        set_own_env(container, component, context)


def use_runtime_class(pod: kube.Pod, context: Context) -> None:
    """Ask for the nvidia runtime class, where this release does on this runtime."""
    policy = context.spec
    if policy.nri:
        return
    if context.behaviour["runtimeClassOn"] == "containerd":
        asked = context.runs(CONTAINERD)
    else:
        asked = not context.runs(CRIO) or policy.enabled("cdi")
    if asked:
        pod["runtimeClassName"] = policy.runtime_class


def inject_devices(workload: dict[str, Any], container: str, context: Context) -> None:
    """Under NRI an annotation asks for all devices, instead of a runtime class."""
    if context.spec.nri:
        metadata = workload["spec"]["template"]["metadata"]
        metadata.setdefault("annotations", {})[NRI_ANNOTATION + container] = _ALL_DEVICES


def set_mig_strategy(container: kube.Container, context: Context) -> None:
    strategy = context.spec.text("mig", "strategy")
    if strategy:
        kube.set_env(container, "MIG_STRATEGY", strategy)
    if strategy != "none":
        kube.set_env(container, "NVIDIA_MIG_MONITOR_DEVICES", "all")


def hook_path(context: Context) -> str:
    """The toolkit's program on the host that runtimes call for a CDI device."""
    return joined(context.spec.text("toolkit", "installDir"), "toolkit/nvidia-cdi-hook")


VALIDATOR = "VALIDATOR_IMAGE"
_ROOT = 0
_NODE_PARTS = ("driver", "nvidia-fs", "gdrcopy", "toolkit", "cuda", "plugin")
_SANDBOX_PARTS = ("cc-manager", "vfio-pci", "vgpu-manager", "vgpu-devices")
_OWN_ENV = {
    "driver": "driver",
    "toolkit": "toolkit",
    "cuda": "cuda",
    "plugin": "plugin",
    "vfio-pci": "vfioPCI",
    "vgpu-manager": "vgpuManager",
    "vgpu-devices": "vgpuDevices",
}
_NEEDED = {"plugin": "devicePlugin", "nvidia-fs": "gds", "gdrcopy": "gdrcopy", "cc-manager": "ccManager"}
_STARTS_PODS = ("cuda", "plugin")


def set_validation_containers(pod: kube.Pod, context: Context) -> None:
    """The init containers of other operands that run the validator's image."""
    policy = context.spec
    for container in kube.init_containers_of(pod):
        if "validation" not in container["name"]:
            continue
        for part in ("driver", "toolkit"):
            if container["name"].startswith(part):
                kube.set_all_env(container, policy.at("validator", part).get("env"))
        _use_validator_image(container, context)
    kube.add_pull_secrets(pod, policy.at("validator").get("imagePullSecrets"))


def operator_validator(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    _set_shared(pod, context)
    use_runtime_class(pod, context)
    if kube.find(kube.init_containers_of(pod), "toolkit-validation") is not None:
        inject_devices(daemon_set, "toolkit-validation", context)
    _set_parts(pod, _NODE_PARTS, context)


def sandbox_validator(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    _set_shared(pod, context)
    _set_parts(pod, _SANDBOX_PARTS, context)


def run_as_root(container: kube.Container, context: Context) -> None:
    """From 25.10 on the validator's image has another user; its status files need root."""
    if context.behaviour["rootValidators"]:
        container["securityContext"] = {**container.get("securityContext", {}), "runAsUser": _ROOT}


def _set_shared(pod: kube.Pod, context: Context) -> None:
    main = kube.containers_of(pod)[0]
    set_component(pod, main, "validator", VALIDATOR, context)
    set_own_env(main, "validator", context)
    run_as_root(main, context)


def _use_validator_image(container: kube.Container, context: Context) -> None:
    container["image"] = context.image("validator", VALIDATOR)
    policy = context.spec.text("validator", "imagePullPolicy")
    if policy:
        container["imagePullPolicy"] = kube.pull_policy(policy)
    if context.behaviour["initResources"]:
        kube.set_resources([container], context.spec.at("validator").get("resources"))
    run_as_root(container, context)


def _set_parts(pod: kube.Pod, parts: tuple[str, ...], context: Context) -> None:
    containers = kube.init_containers_of(pod)
    for part in parts:
        container = next((item for item in containers if f"{part}-validation" in item["name"]), None)
        if container is None:
            continue
        _use_validator_image(container, context)
        if part in _NEEDED and not context.spec.enabled(_NEEDED[part]):
            containers.remove(container)
            continue
        _set_part(pod, container, part, context)


def _set_part(pod: kube.Pod, container: kube.Container, part: str, context: Context) -> None:
    policy = context.spec
    own = policy.at("validator", _OWN_ENV[part]).get("env") if part in _OWN_ENV else None
    if part in _STARTS_PODS:
        if not context.behaviour["ownVariablesWin"]:
            kube.set_all_env(container, own)
            own = None
        kube.set_env(container, "VALIDATOR_IMAGE", container["image"])
        kube.set_env(container, "VALIDATOR_IMAGE_PULL_POLICY", policy.text("validator", "imagePullPolicy"))
        if secrets := policy.at("validator").get("imagePullSecrets"):
            kube.set_env(container, "VALIDATOR_IMAGE_PULL_SECRETS", ",".join(secrets))
        if "runtimeClassName" in pod:
            kube.set_env(container, "VALIDATOR_RUNTIME_CLASS", pod["runtimeClassName"])
    if part == "plugin":
        kube.set_env(container, "MIG_STRATEGY", policy.text("mig", "strategy"))
    if part in ("vfio-pci", "vgpu-manager", "vgpu-devices"):
        kube.set_env(container, "DEFAULT_GPU_WORKLOAD_CONFIG", policy.default_workload)
    kube.set_all_env(container, own)


def node_status_exporter(daemon_set: dict[str, Any], context: Context) -> None:
    pod = kube.pod_of(daemon_set)
    if context.behaviour["validatorSecretsEverywhere"]:
        set_validation_containers(pod, context)
    main = kube.containers_of(pod)[0]
    set_component(pod, main, "nodeStatusExporter", VALIDATOR, context)
    set_own_env(main, "nodeStatusExporter", context)
    run_as_root(main, context)
