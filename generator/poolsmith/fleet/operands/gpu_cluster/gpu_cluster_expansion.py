"""From a GPUCluster to everything that the operator creates for it, the status it writes, and its labels on nodes.

The controller returns no error: what keeps it from its work is in the conditions.

Source: NVIDIA/gpu-operator@v26.7.0:controllers/gpucluster_controller.go, internal/conditions/gpucluster.go.
Source: NVIDIA/gpu-operator@v26.7.0:controllers/nodelabeling_controller.go.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record, replace
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.fleet.operands import custom_resources
from poolsmith.fleet.operands.custom_resources import GpuClusterSpec
from poolsmith.fleet.operands.expansion import KubernetesObject, ResourceCondition, in_order
from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_operands import dcgm, dra_driver, exporter, validator
from poolsmith.fleet.operands.gpu_cluster.pod_settings import GpuClusterRequest, selector_breaks
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, owner_reference
from poolsmith.fleet.operands.operand_containers import operator_variable
from poolsmith.gpu.catalog.gpu_clusters import GpuClusterEntry, GpuClusterState, gpu_cluster_releases, read_gpu_cluster
from poolsmith.gpu.catalog.node_labels import DEPLOY, GPU_PRESENT, has_gpu
from poolsmith.gpu.catalog.operator_names import OPERATOR_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from poolsmith.fleet.operands.expansion_context import Context


KIND = "GPUCluster"
_RECONCILED = "All resources have been successfully reconciled"


def ready(name: str) -> ResourceCondition:
    return custom_resources.ready(KIND, name, "Reconciled", _RECONCILED)


def prerequisite_not_met(name: str, policy: str) -> ResourceCondition:
    """A ClusterPolicy stands in the same cluster: the operator runs one of the two stacks."""
    message = (
        f'A ClusterPolicy CR "{policy}" exists; a ClusterPolicy CR and GPUCluster CR may not exist at the same time'
    )
    return custom_resources.not_ready(KIND, name, "PrerequisiteNotMet", message)


def state_failed(name: str, state: str, message: str) -> ResourceCondition:
    """The first state that could not be made; the others are made all the same."""
    text = f"Error syncing state {state}: failed to create k8s objects from manifests: {message}"
    return custom_resources.not_ready(KIND, name, "ReconcileFailed", text)


def policy_conflict(resource: Mapping[str, Any]) -> str:
    """What the operator says of the ClusterPolicy that stands beside a GPUCluster."""
    name = resource["metadata"]["name"]
    return f'conflicting GPUCluster resource "{name}" detected; ClusterPolicy and GPUCluster cannot co-exist'


ADMIN_ACCESS = "resource.kubernetes.io/admin-access"
STATE_LABEL = "nvidia.com/gpu-operator.state"
_ONLY_NAME = "gpu-cluster"
_HOST_DRIVER = "vgpu-host-manager"
_MAKERS: dict[str, Callable[[GpuClusterState, GpuClusterRequest], list[dict[str, Any]]]] = {
    "state-dra-driver": dra_driver,
    "state-dra-validation": validator,
    "state-dcgm": dcgm,
    "state-dcgm-exporter": exporter,
}


@record
class GpuClusterExpansion:
    """`notes` tell of what works out otherwise than the resource reads; nothing in them is unknown."""

    objects: tuple[KubernetesObject, ...] = ()
    namespace_labels: Mapping[str, str] = field(default_factory=dict)
    conditions: tuple[ResourceCondition, ...] = ()
    errors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def expand_gpu_cluster(
    context: Context,
    resource: dict[str, Any],
    drivers: Sequence[dict[str, Any]],
    *,
    api_versions: Collection[str] = (),
    operator_environment: Mapping[str, str] | None = None,
) -> GpuClusterExpansion:
    """What the operator creates beside the drivers, which NVIDIADriver objects or the nodes themselves bring.

    `api_versions` are the APIs that the cluster serves, as `resource.k8s.io/v1/DeviceClass`. `operator_environment`
    holds the operator's own variables; None: as its Deployment sets them, or its chart by default.
    """
    entry = read_gpu_cluster(context.entry.release)
    settings = GpuClusterSpec(resource)
    if entry is None:
        return GpuClusterExpansion(unknown=(f"{KIND}/{settings.name}: release {context.entry.release}",))
    if context.policy is not None:
        return _beside_a_policy(settings, context.policy.name)
    request = GpuClusterRequest(
        settings=settings,
        entry=entry,
        context=context,
        api_versions=api_versions,
        environment=_environment(entry) if operator_environment is None else operator_environment,
    )
    try:
        return _expand(replace(request, environment=_as_installed(request, operator_environment)), drivers)
    except NotModelled as error:
        return GpuClusterExpansion(unknown=(f"{KIND}/{settings.name}: {error}",))


def _beside_a_policy(settings: GpuClusterSpec, policy: str) -> GpuClusterExpansion:
    unlabelled = "no node is labelled: the operator stops there with an error that begins with"
    return GpuClusterExpansion(
        conditions=(prerequisite_not_met(settings.name, policy),),
        unknown=(f"{KIND}/{settings.name}: {unlabelled} `both ClusterPolicy and GPUCluster CRs exist`",),
    )


def _as_installed(request: GpuClusterRequest, told: Mapping[str, str] | None) -> Mapping[str, str]:
    """With what the operator's Deployment says instead, where it is known. Raises NotModelled."""
    operator = request.context.existing("Deployment", OPERATOR_NAME) if told is None else None
    if operator is None:
        return request.environment
    return {name: operator_variable(operator, name) for name in request.environment}


def _environment(entry: GpuClusterEntry) -> dict[str, str]:
    variables: dict[str, str] = entry.behaviour["operatorEnvironment"]
    return {name: value.format(release=entry.release) for name, value in variables.items()}


def _expand(request: GpuClusterRequest, drivers: Sequence[dict[str, Any]]) -> GpuClusterExpansion:
    """Each state for itself: one that fails leaves the others as they are."""
    settings = request.settings
    objects: list[dict[str, Any]] = []
    failures: list[tuple[str, str]] = []
    unknown: list[str] = []
    for state in request.entry.states:
        try:
            made = _MAKERS[state.name](state, request)
        except OperatorError as error:
            failures.append((state.name, str(error)))
        except NotModelled as error:
            unknown.append(f"{KIND}/{settings.name}: {state.name}: {error}")
        else:
            objects += [_owned(item, settings, state.name) for item in made]
    unknown += [
        f"{KIND}/{settings.name}: {item['kind']} {item['metadata']['name']} does not find its pods once "
        "spec.daemonsets.labels are on them: what an API server and the operator make of that"
        for item in objects
        if item["kind"] in ("DaemonSet", "Deployment") and selector_breaks(item)
    ]
    status = state_failed(settings.name, *failures[0]) if failures else ready(settings.name)
    return GpuClusterExpansion(
        objects=in_order(objects),
        namespace_labels={ADMIN_ACCESS: "true"},
        conditions=() if unknown and not failures else (status,),
        unknown=tuple(unknown),
        notes=tuple(_notes(request, drivers)),
    )


def _owned(item: dict[str, Any], settings: GpuClusterSpec, state: str) -> dict[str, Any]:
    """Every object belongs to the resource and carries the name of its state."""
    metadata = item["metadata"]
    metadata["labels"] = {**metadata.get("labels", {}), STATE_LABEL: state}
    metadata["ownerReferences"] = [owner_reference(settings.resource)]
    return item


def _notes(request: GpuClusterRequest, drivers: Sequence[dict[str, Any]]) -> list[str]:
    settings = request.settings
    notes = []
    if settings.name != _ONLY_NAME:
        notes.append(f"metadata.name: an API server refuses a {KIND} that is not named {_ONLY_NAME}")
    if value_at(settings.spec, ("draDriver", "computeDomains"), MISSING) is MISSING:
        notes.append("spec.draDriver.computeDomains: absent, which is off; as an empty block it would be on")
    folder, own = settings.driver_folder, request.entry.behaviour["driverFolder"]
    names = sorted(
        item["metadata"]["name"] for item in drivers if (item.get("spec") or {}).get("driverType") != _HOST_DRIVER
    )
    if folder and folder.rstrip("/") != own and names:
        notes.append(
            f"spec.hostPaths.driverInstallDir: the kubelet plugin looks for a driver in {folder}, "
            f"but NVIDIADriver {', '.join(names)} installs into {own}"
        )
    return notes


def gpu_cluster_labels(
    resource: Mapping[str, Any], node_labels: Mapping[str, str], *, release: str | None = None
) -> dict[str, str]:
    """All labels of a node once the operator settled, but for the owner of its driver.

    Without a release, the newest that knows a GPUCluster. A value that stands is kept, whatever it is, unless it is
    empty; labels of a ClusterPolicy's operands go. What the resource switches off is labelled all the same, and a
    node that says `operands=false` is too: the operator asks for that with a ClusterPolicy only.
    """
    del resource
    entry = read_gpu_cluster(release or gpu_cluster_releases()[-1])
    if entry is None:
        return dict(node_labels)
    names = {group: [DEPLOY + name for name in found] for group, found in entry.behaviour["nodeLabels"].items()}
    labels = dict(node_labels)
    if has_gpu(labels):
        labels[GPU_PRESENT] = "true"
    elif labels.get(GPU_PRESENT) == "true":
        labels[GPU_PRESENT] = "false"
    if labels.get(GPU_PRESENT) != "true":
        gone = {name for found in names.values() for name in found}
        return {key: value for key, value in labels.items() if key not in gone}
    labels = {key: value for key, value in labels.items() if key not in names["swept"]}
    for name in names["deploy"]:
        if not labels.get(name):
            labels[name] = "true"
    return labels
