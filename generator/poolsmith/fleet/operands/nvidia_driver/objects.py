"""Everything that the operator creates for one node pool of an NVIDIADriver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.kube import owner_reference
from poolsmith.fleet.operands.nvidia_driver.daemon_set import COMPONENT, daemon_set
from poolsmith.fleet.operands.nvidia_driver.images import images_of
from poolsmith.fleet.operands.nvidia_driver.names import account_name
from poolsmith.fleet.operands.nvidia_driver.volumes import files_of
from poolsmith.gpu.catalog.operands import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.nvidia_driver.driver_resource import NvidiaDriver
    from poolsmith.fleet.operands.nvidia_driver.node_pools import DriverPool
    from poolsmith.fleet.operands.nvidia_driver.request import DriverRequest
    from poolsmith.gpu.catalog.nvidia_drivers import NvidiaDriverEntry

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
