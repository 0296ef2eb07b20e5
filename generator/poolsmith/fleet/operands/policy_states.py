"""The operator's steps for a ClusterPolicy: what each creates, and what stops them."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record, replace
from poolsmith.fleet.operands.daemon_sets.managers import (
    DEFAULT_GPU_CLIENTS,
    DEFAULT_MIG_CONFIG,
    DEFAULT_VGPU_CONFIG,
    kata_config,
    kata_config_text,
)
from poolsmith.fleet.operands.daemon_sets.policy_driver import kernels
from poolsmith.fleet.operands.daemon_sets.telemetry import reads_pods
from poolsmith.fleet.operands.daemon_sets.transformations import change
from poolsmith.fleet.operands.expansion import object_order
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, OperatorPanicError, refused_variable, worded
from poolsmith.gpu.catalog.operands import whole
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAME

if TYPE_CHECKING:
    from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.expansion_context import Context
    from poolsmith.gpu.catalog.operands import OperandState


_DRIVERS = ("state-driver", "state-vgpu-manager")
_DRIVER_DAEMON_SET = "nvidia-driver-daemonset"
_KATA = "state-kata-manager"
_POD_READER = "nvidia-dcgm-exporter-read-pods"
_MONITORS = {
    "nvidia-dcgm-exporter": ("dcgmExporter", "serviceMonitor"),
    OPERATOR_NAME: ("operator", "metrics", "serviceMonitor"),
}
_DEFAULTS = {
    DEFAULT_MIG_CONFIG: ("migManager", "config"),
    DEFAULT_GPU_CLIENTS: ("migManager", "gpuClientsConfig"),
    DEFAULT_VGPU_CONFIG: ("vgpuDeviceManager", "config"),
}


@record(frozen=False, kw_only=False)
class Created:
    """What the steps came to: objects, and the step that failed with the operator's words."""

    objects: list[KubernetesObject] = field(default_factory=list)
    failed: str | None = None
    error: str = ""
    panicked: bool = False
    unready: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


def is_enabled(state: OperandState, policy: ClusterPolicySpec) -> bool:
    """Whether every word of the state's rule holds."""
    return all(_holds(word, policy) for word in state.enabled)


def create_all(context: Context) -> Created:
    """Every step in order; the first error stops them, what was created stays. Of one name, the last counts."""
    created = Created()
    for state in context.entry.states:
        if state.name in _DRIVERS and context.spec.delegates_drivers:
            continue
        try:
            if is_enabled(state, context.spec):
                _create(state, context, created)
            elif state.name == _KATA and context.behaviour["kataClasses"] and context.spec.enabled("kataManager"):
                _create_kata_classes(state, context, created)
        except OperatorError as error:
            created.failed, created.error = state.name, str(error)
            created.panicked = isinstance(error, OperatorPanicError)
            break
        except NotModelled as error:
            created.unknown.append(f"{state.name}: {error}")
    created.objects = list({object_order(item): item for item in created.objects}.values())
    return created


def create_state(name: str, context: Context) -> list[KubernetesObject]:
    """What one step creates, switched on or not. Raises OperatorError, NotModelled."""
    created = Created()
    for state in context.entry.states:
        if state.name == name:
            _create(state, context, created)
    return created.objects


def _holds(word: str, policy: ClusterPolicySpec) -> bool:
    if word in ("always", "never"):
        return word == "always"
    if word == "no-nri":
        return not policy.nri
    if word.startswith("mode="):
        return policy.sandbox_mode == word.removeprefix("mode=")
    return policy.enabled(word)


def _create(state: OperandState, context: Context, created: Created) -> None:
    for compact in state.objects:
        if _is_left_out(compact, state, context, created):
            continue
        if compact["kind"] == "DaemonSet":
            if context.gpu_nodes:
                created.objects.extend(_daemon_sets(compact, context))
        elif compact["kind"] != "RuntimeClass":
            created.objects.append(_plain(compact, context))
        elif state.name == _KATA:
            _create_kata_classes(state, context, created)
        elif compact["name"] and not context.spec.enabled("cdi"):
            _delete_runtime_class(compact["name"], created)
        else:
            created.objects.append(_runtime_class(compact, context))


def _is_left_out(compact: dict[str, Any], state: OperandState, context: Context, created: Created) -> bool:
    policy = context.spec
    kind, name = compact["kind"], compact["name"]
    if kind == "ConfigMap" and name in _DEFAULTS:
        own = policy.text(*_DEFAULTS[name], "name")
        return own not in ("", name)
    if name == _POD_READER:
        return not reads_pods(context)
    if kind == "ServiceMonitor":
        return _leaves_out_monitor(state, context, created)
    return False


def _leaves_out_monitor(state: OperandState, context: Context, created: Created) -> bool:
    if state.name != "state-dcgm-exporter":
        return not context.service_monitors  # that of the operator itself can't be switched off
    if not context.spec.flag("dcgmExporter", "serviceMonitor", "enabled"):
        return True
    if not context.service_monitors:
        if not context.behaviour["monitorsWithoutCrd"]:
            created.unready.append(state.name)
        return True
    return False


def _daemon_sets(compact: dict[str, Any], context: Context) -> list[KubernetesObject]:
    """One DaemonSet, or one for each kernel when drivers are precompiled."""
    if compact["name"] != _DRIVER_DAEMON_SET or not context.spec.precompiled:
        return [_daemon_set(compact, context)]
    made, errors = [], []
    for kernel in kernels(context):
        try:
            made.append(_daemon_set(compact, replace(context, kernel=kernel)))
        except OperatorError as error:
            errors.append(f"failed to handle Precompiled Driver Daemonset for version {kernel}: {error}")
    if errors:
        unable = worded("unable to deploy precompiled driver daemonsets", context.behaviour)
        raise OperatorError(f"{unable} [{' '.join(errors)}]")
    return made


def _daemon_set(compact: dict[str, Any], context: Context) -> KubernetesObject:
    made = whole(compact, context.namespace)
    change(made, context)
    refused = refused_variable(made)
    if refused is not None:
        raise OperatorError(refused)
    return made


def _runtime_class(compact: dict[str, Any], context: Context) -> KubernetesObject:
    """The nvidia class under the name that the user chose, or one of its companions."""
    made = whole(compact, context.namespace)
    if not compact["name"]:
        made["metadata"]["name"] = made["handler"] = context.spec.runtime_class
    return made


def _delete_runtime_class(name: str, created: Created) -> None:
    """A companion goes where there is no CDI, also when the user chose its name for the nvidia class."""
    created.objects = [
        item for item in created.objects if (item["kind"], item["metadata"]["name"]) != ("RuntimeClass", name)
    ]


def _create_kata_classes(state: OperandState, context: Context, created: Created) -> None:
    """Those before a class that is refused stay."""
    template = next(item for item in state.objects if item["kind"] == "RuntimeClass")
    for item in kata_config(context.spec).get("runtimeClasses") or ():
        created.objects.append(_kata_class(whole(template, context.namespace), item, context.spec))


def _kata_class(template: KubernetesObject, item: dict[str, Any], policy: ClusterPolicySpec) -> KubernetesObject:
    name = item["name"]
    if name == policy.text("operator", "runtimeClass"):
        raise OperatorError(
            f"error creating kata runtimeclass '{name}' as it conflicts with the runtimeclass used for the "
            "gpu-operator operand pods itself"
        )
    selector = {**template["scheduling"]["nodeSelector"], **(item.get("nodeSelector") or {})}
    return {
        **template,
        "metadata": {**template["metadata"], "name": name},
        "handler": name,
        "scheduling": {"nodeSelector": selector},
    }


def _plain(compact: dict[str, Any], context: Context) -> KubernetesObject:
    made = whole(compact, context.namespace)
    if compact["name"] == "nvidia-kata-manager-config":
        made["data"] = {"config.yaml": kata_config_text(context.spec.at("kataManager").get("config"))}
    if made["kind"] == "Service" and compact["name"] == "nvidia-dcgm-exporter":
        service = context.spec.at("dcgmExporter", "service")
        for key in ("type", "internalTrafficPolicy"):
            if service.get(key):
                made["spec"][key] = service[key]
    if made["kind"] == "ServiceMonitor":
        _set_monitor(made, context)
    return made


def _set_monitor(made: KubernetesObject, context: Context) -> None:
    selector = made["spec"].get("namespaceSelector", {})
    if "matchNames" in selector:
        selector["matchNames"] = [context.namespace]
    settings = _MONITORS.get(made["metadata"]["name"])
    if settings is None:
        return
    spec = context.spec.at(*settings)
    endpoint = made["spec"]["endpoints"][0]
    for key in ("interval", "scrapeTimeout"):
        if spec.get(key):
            endpoint[key] = spec[key]
    if spec.get("honorLabels") is not None:
        endpoint.pop("honorLabels", None)  # false is what a field that is left out means
        endpoint |= {"honorLabels": True} if spec["honorLabels"] else {}
    if spec.get("relabelings"):
        from poolsmith.fleet.operands.daemon_sets.telemetry import relabelings  # on demand

        endpoint["relabelings"] = relabelings(spec["relabelings"])
    if spec.get("additionalLabels"):
        made["metadata"].setdefault("labels", {}).update(spec["additionalLabels"])
