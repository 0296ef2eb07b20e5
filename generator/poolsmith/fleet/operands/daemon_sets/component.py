"""What the operator does to nearly every operand: image, pull policy and secrets, resources, arguments, variables."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.kube import (
    Container,
    Pod,
    add_pull_secrets,
    containers_of,
    pull_policy,
    set_all_env,
    set_env,
    set_resources,
)
from poolsmith.kubernetes.helm.go_path import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.operands.context import Context

NRI_ANNOTATION = "nvidia.cdi.k8s.io/container."
_EXPORTER = "dcgmExporter"
_ALL_DEVICES = "management.nvidia.com/gpu=all"
CDI_HOOK = "NVIDIA_CDI_HOOK_PATH"


def set_component(
    pod: Pod, container: Container, component: str, variable: str, context: Context, *, arguments: bool = True
) -> None:
    """Everything but the environment, which comes earlier or later depending on the operand. Raises OperatorError."""
    spec = context.spec.at(component)
    container["image"] = context.image(component, variable)
    container["imagePullPolicy"] = pull_policy(spec.get("imagePullPolicy"))
    add_pull_secrets(pod, spec.get("imagePullSecrets"))
    set_resources(containers_of(pod), spec.get("resources"))
    if arguments and spec.get("args"):
        container["args"] = list(spec["args"])
    if spec.get("hostNetwork") is True and has_host_network(component, context):
        use_host_network(pod)


def has_host_network(component: str, context: Context) -> bool:
    """Whether `hostNetwork` of a component has an effect."""
    switches = context.behaviour["hostNetworkSwitches"]
    return bool(switches == "all" or (switches == "exporter" and component == _EXPORTER))


def use_host_network(pod: Pod) -> None:
    pod["hostNetwork"] = True
    pod["dnsPolicy"] = "ClusterFirstWithHostNet"


def set_own_env(container: Container, component: str, context: Context) -> None:
    """The variables that the ClusterPolicy sets for a component."""
    set_all_env(container, context.spec.at(component).get("env"))


@contextmanager
def own_variables(container: Container, component: str, context: Context) -> Iterator[None]:
    """The same, before what the operator sets itself, or after it in releases where the ClusterPolicy's win."""
    win = context.behaviour["ownVariablesWin"]
    if not win:
        set_own_env(container, component, context)
    yield
    if win:
        set_own_env(container, component, context)


def use_runtime_class(pod: Pod, context: Context) -> None:
    """Ask for the nvidia runtime class, where this release does on this runtime."""
    policy = context.spec
    if policy.nri:
        return
    if context.behaviour["runtimeClassOn"] == "containerd":
        asked = context.runtime == "containerd"
    else:
        asked = context.runtime != "crio" or policy.enabled("cdi")
    if asked:
        pod["runtimeClassName"] = policy.runtime_class


def inject_devices(workload: dict[str, Any], container: str, context: Context) -> None:
    """Under NRI an annotation asks for all devices, instead of a runtime class."""
    if context.spec.nri:
        metadata = workload["spec"]["template"]["metadata"]
        metadata.setdefault("annotations", {})[NRI_ANNOTATION + container] = _ALL_DEVICES


def set_mig_strategy(container: Container, context: Context) -> None:
    strategy = context.spec.text("mig", "strategy")
    if strategy:
        set_env(container, "MIG_STRATEGY", strategy)
    if strategy != "none":
        set_env(container, "NVIDIA_MIG_MONITOR_DEVICES", "all")


def hook_path(context: Context) -> str:
    """The toolkit's program on the host that runtimes call for a CDI device."""
    return joined(context.spec.text("toolkit", "installDir"), "toolkit/nvidia-cdi-hook")
