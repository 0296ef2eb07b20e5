"""Everything that a release's operator creates for all NVIDIADriver objects of a cluster, node pool by node pool.

Source: NVIDIA/gpu-operator:controllers/nvidiadriver_controller.go and internal/state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.source_file import tree_digest
from poolsmith.fleet.operands.custom_resources import NVIDIA_DRIVER, NvidiaDriver, in_name_order, not_ready, ready
from poolsmith.fleet.operands.expansion import KubernetesObject, ResourceCondition, in_order, object_order
from poolsmith.fleet.operands.kube import NotModelled, OperatorError, owner_reference
from poolsmith.fleet.operands.nvidia_driver.conflicts import Conflicts, SeveralDefaultsError, check, check_selector
from poolsmith.fleet.operands.nvidia_driver.driver_containers import images_of
from poolsmith.fleet.operands.nvidia_driver.driver_daemon_set import COMPONENT, daemon_set, files_of
from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverRequest, account_name, node_pools
from poolsmith.gpu.catalog.operands import read_nvidia_drivers, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from poolsmith.fleet.operands.expansion_context import Context
    from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool
    from poolsmith.gpu.catalog.operands import NvidiaDriverEntry


_APP = "app"
_STATE = {"nvidia.com/gpu-operator.state": "state-driver"}


def pool_objects(driver: NvidiaDriver, pool: DriverPool, request: DriverRequest) -> list[KubernetesObject]:
    """Account, roles, scripts and DaemonSet, with their owner. Raises OperatorError, NotModelled."""
    context, entry = request.context, request.entry
    images = images_of(driver, pool, request)
    files = files_of(driver, pool, request)
    pods = daemon_set(
        driver, pool, images, files, entry=entry, namespace=context.namespace, host_root=_host_root(request)
    )
    made = [
        *permissions(account_name(driver, pool), entry, context.namespace),
        *scripts(pods, entry, context.namespace),
        pods,
    ]
    return [_owned(item, driver.resource) for item in made]


def permissions(account: str, entry: NvidiaDriverEntry, namespace: str) -> list[KubernetesObject]:
    """A service account, bound to a role and a cluster role of the same name."""
    compact: list[dict[str, Any]] = [
        {"kind": "ServiceAccount"},
        *({"kind": kind, "rules": rules} for kind, rules in entry.rules.items()),
        *({"kind": f"{kind}Binding", "role": f"{kind}/{account}", "subjects": [account]} for kind in entry.rules),
    ]
    return [whole({**item, "name": account}, namespace) for item in compact]


def scripts(pods: KubernetesObject, entry: NvidiaDriverEntry, namespace: str) -> list[KubernetesObject]:
    """ConfigMaps of one name for all pools, labelled after the last one."""
    labels = {key: pods["metadata"]["labels"][key] for key in (_APP, COMPONENT)}
    return [
        whole({"kind": "ConfigMap", "name": name, "labels": labels, "keys": keys}, namespace)
        for name, keys in entry.config_maps.items()
    ]


def _host_root(request: DriverRequest) -> str:
    policy = None if request.gpu_cluster else request.context.policy
    return "/" if policy is None else policy.text("hostPaths", "rootFS") or "/"


def _owned(item: KubernetesObject, resource: Mapping[str, Any]) -> KubernetesObject:
    """With the reference by which Kubernetes removes it together with its resource, and the operator's label."""
    item["metadata"]["labels"] = item["metadata"].get("labels", {}) | _STATE
    item["metadata"]["ownerReferences"] = [owner_reference(resource)]
    return item


_READY = "All resources have been successfully reconciled"
_FAILED = "ReconcileFailed"
_CONFLICT = "ConflictingNodeSelector"
_NO_POLICY = "no ClusterPolicy object found in the cluster"
_SYNCING = "Error syncing state state-driver: failed to create k8s objects from manifests: "


@record
class DriverExpansion:
    """As in `model.expansion.Expansion`, for NVIDIADriver objects only."""

    objects: tuple[KubernetesObject, ...] = ()
    conditions: tuple[ResourceCondition, ...] = ()
    errors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def expand_drivers(
    context: Context,
    drivers: Sequence[Mapping[str, Any]],
    *,
    gpu_cluster: bool = False,
    operator_environment: Mapping[str, str] | None = None,
) -> DriverExpansion:
    """Each resource by itself, in the order of their names; raises nothing for any of them.

    Resources are as the API server stores them, nodes carry their labels, the owner's among them. `gpu_cluster`:
    there is a GPUCluster. `operator_environment` holds the operator's own variables; None: as it was installed.
    """
    ordered = tuple(in_name_order(drivers))
    entry = read_nvidia_drivers(context.entry.release)
    if entry is None:
        unknown = (
            f"{NVIDIA_DRIVER}/{driver.name}: what release {context.entry.release} makes of it" for driver in ordered
        )
        return DriverExpansion(unknown=tuple(unknown))
    request = DriverRequest(
        context=context,
        entry=entry,
        drivers=ordered,
        conflicts=Conflicts(ordered, context.nodes),
        gpu_cluster=gpu_cluster,
        environment=operator_environment,
    )
    objects: dict[tuple[str, str, str], KubernetesObject] = {}
    conditions: list[ResourceCondition] = []
    unknown_ones: list[str] = []
    for driver in ordered:
        try:
            made, condition = _expand(driver, request)
        except NotModelled as error:
            unknown_ones.append(f"{NVIDIA_DRIVER}/{driver.name}: {error}")
        else:
            objects |= {object_order(item): item for item in made}
            conditions.append(condition)
    return DriverExpansion(
        objects=in_order(objects.values()),
        conditions=tuple(conditions),
        errors=tuple(_errors(request)),
        unknown=tuple(unknown_ones),
    )


def _errors(request: DriverRequest) -> list[str]:
    """What the controller returns as an error; all others stand in conditions only."""
    return (
        [f"{NVIDIA_DRIVER}/{driver.name}: {_NO_POLICY}" for driver in request.drivers] if _lacks_policy(request) else []
    )


def _expand(driver: NvidiaDriver, request: DriverRequest) -> tuple[list[KubernetesObject], ResourceCondition]:
    """Raises NotModelled."""
    if _is_skipped(driver, request):
        return [], ResourceCondition(kind=NVIDIA_DRIVER, name=driver.name, state="")
    if _lacks_policy(request):
        return [], not_ready(NVIDIA_DRIVER, driver.name, _FAILED, _NO_POLICY)
    if _is_disabled(request):
        message = "useNvidiaDriverCRD is not enabled in ClusterPolicy"
        return [], not_ready(NVIDIA_DRIVER, driver.name, "Reconciled", message, state="disabled")
    reason, prefix = _CONFLICT, ""
    try:
        _check_selectors(driver, request)
        reason = _FAILED
        check(driver, request.context, request.behaviour)
        prefix = _SYNCING
        made = _objects(driver, request)
    except SeveralDefaultsError as error:
        return [], not_ready(NVIDIA_DRIVER, driver.name, _FAILED, str(error))
    except OperatorError as error:
        return [], not_ready(NVIDIA_DRIVER, driver.name, reason, f"{prefix}{error}")
    return made, ready(NVIDIA_DRIVER, driver.name, "Reconciled", _READY)


def _is_skipped(driver: NvidiaDriver, request: DriverRequest) -> bool:
    return driver.deleted and bool(request.behaviour["skipsDeleted"])


def _lacks_policy(request: DriverRequest) -> bool:
    return request.context.policy is None and bool(request.behaviour["needsPolicy"])


def _is_disabled(request: DriverRequest) -> bool:
    """Raises NotModelled."""
    policy = request.context.policy
    if policy is None or policy.delegates_drivers or not request.behaviour["needsDelegation"]:
        return False
    if request.gpu_cluster:
        raise NotModelled("a ClusterPolicy with a driver of its own beside a GPUCluster")
    return True


def _check_selectors(driver: NvidiaDriver, request: DriverRequest) -> None:
    """Raises OperatorError."""
    if request.behaviour["owners"]:
        check_selector(driver)
        request.conflicts.check_owners()
    else:
        request.conflicts.check_overlap(driver)


def _objects(driver: NvidiaDriver, request: DriverRequest) -> list[KubernetesObject]:
    """The same for a resource that another cluster has on such nodes. Raises OperatorError, NotModelled."""
    if request.conflicts.are_of_openshift:
        raise NotModelled("drivers on OpenShift")
    pools = node_pools(driver, request.conflicts.nodes_of, request.entry)
    return request.context.known.of(
        (request.surroundings, tree_digest([driver.resource, [pool.identity for pool in pools]])),
        lambda: [item for pool in pools for item in pool_objects(driver, pool, request)],
    )
