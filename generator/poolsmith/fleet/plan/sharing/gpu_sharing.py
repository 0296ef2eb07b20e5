"""Pass: time slicing and MPS, as device plugin configuration per pool."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.facts.versions import covers
from poolsmith.core.record import replace
from poolsmith.core.sources.pointer import value_at
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.plan.facts import map_pools, with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, KubernetesObject, LabelSetting, PoolPlan, ValueSetting
from poolsmith.fleet.plan.pool_records import report_on
from poolsmith.fleet.plan.sharing.mig import WHOLE_GPU, config_map
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.gpu_requests import SHARED
from poolsmith.gpu.catalog.node_labels import DEVICE_PLUGIN_CONFIG

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.profiles.gpu import TimeSlicing


DEFAULT_CONFIG = "default"
SHARING = "/spec/sharing"
_EXPORTER_ENV = ("dcgmExporter", "env")
_RESOURCE_NAMES, _VIRTUAL_GPUS = "NVIDIA_RESOURCE_NAMES", "KUBERNETES_VIRTUAL_GPUS"


def share_gpus(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """One ConfigMap with a key per sharing pool; the pool's node label selects it."""
    before = plan
    plan = map_pools(plan, lambda pool: _share(before, pool, facts))
    users = [pool for pool in plan.pools if pool.device_plugin_config is not None]
    if not users:
        return plan
    data = {DEFAULT_CONFIG: emit({"version": "v1"})}
    data.update({pool.object_name: pool.device_plugin_config or "" for pool in users})
    digest = hashlib.sha256("\0".join(f"{key}={data[key]}" for key in sorted(data)).encode()).hexdigest()[:8]
    name = f"poolsmith-device-plugin-{digest}"
    origins = tuple(facts.at_pool(pool, SHARING) for pool in users)
    because = "pools share GPUs; the name has a hash, so that a change restarts the device plugin"
    origin = Derived("sharing", because, origins)
    fallback = Derived("sharing", "nodes without the label must not share their GPUs by accident", origins)
    body = config_map(name, plan.namespace, {key: data[key] for key in sorted(data)})
    plan = replace(
        plan,
        config_maps=(
            *plan.config_maps,
            KubernetesObject(file="device-plugin-config.yaml", body=body, origin=origin),
        ),
    )
    return with_values(
        plan,
        ValueSetting(("devicePlugin", "config", "name"), name, origin),
        ValueSetting(("devicePlugin", "config", "default"), DEFAULT_CONFIG, fallback),
        *_for_metrics(plan, facts),
    )


def _for_metrics(plan: ClusterPlan, facts: Facts) -> Iterator[ValueSetting]:
    """Of the operator's exporter; who gives its variables decides by oneself."""
    stack = plan.cluster.spec.stack
    given = value_at(stack.values, ("dcgmExporter",)) or {}
    if facts.chart is None or not stack.by_operator or "env" in given or given.get("enabled") is False:
        return
    known = facts.catalog.device_plugin["exporterVariables"]
    for own, origin in exporter_variables(plan, facts):
        there = [item for item in own if covers(known[item["name"]], stack.release)]
        before = [
            item
            for item in facts.chart.default(_EXPORTER_ENV) or ()
            if item["name"] not in (_RESOURCE_NAMES, _VIRTUAL_GPUS)
        ]
        yield ValueSetting(_EXPORTER_ENV, [*before, *there], origin)


def exporter_variables(plan: ClusterPlan, facts: Facts) -> Iterator[tuple[list[dict[str, str]], Derived]]:
    """What an exporter needs to find the pods of renamed resources; nothing where none is renamed."""
    renaming = [pool for pool in plan.pools if _renames(pool)]
    if not renaming:
        return
    names = sorted({f"{name}{SHARED}" for pool in renaming for name in _shared_names(pool)})
    values = {_RESOURCE_NAMES: ",".join(names), _VIRTUAL_GPUS: "true"}
    why = "the exporter knows `nvidia.com/gpu` by itself: metrics of a resource of another name would have no pod"
    places = tuple(facts.at_pool(pool, SHARING) for pool in renaming)
    source = facts.catalog.device_plugin["exporterVariables"]["source"]
    origin = Derived("sharing", why, (*places, FromCatalog("device_plugin/exporterVariables", source)))
    yield [{"name": name, "value": value} for name, value in values.items()], origin


def _renames(pool: PoolPlan) -> bool:
    sharing = pool.profile.spec.sharing
    return any(kind is not None and kind.rename_by_default for kind in (sharing.time_slicing, sharing.mps))


def _shared_names(pool: PoolPlan) -> Iterable[str]:
    slicing = pool.profile.spec.sharing.time_slicing
    return (WHOLE_GPU,) if slicing is None else slicing.shared


def _share(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolPlan:
    sharing = pool.profile.spec.sharing
    if sharing.time_slicing is None and sharing.mps is None:
        return pool
    if pool.object_name == DEFAULT_CONFIG:
        facts.report_pool(
            gpu_use.SHARING_CONTRADICTION,
            pool,
            "/metadata/name",
            f"a pool that shares GPUs can't be named `{DEFAULT_CONFIG}`: that is the configuration without sharing",
            help="rename the pool",
        )
    if not _check(plan, pool, facts):
        return pool
    label = LabelSetting(DEVICE_PLUGIN_CONFIG, pool.object_name, "provisioner", facts.at_pool(pool, SHARING))
    return replace(pool, device_plugin_config=emit(_config(pool)), labels=(*pool.labels, label))


def _check(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> bool:
    if pool.profile.spec.workload is not Workload.CONTAINER:
        return False  # told where sandboxes are planned
    from poolsmith.gpu.pools import shared_gpus  # on demand

    slicing = pool.profile.spec.sharing.time_slicing
    if slicing is not None and pool.profile.spec.sharing.mps is None and not _check_resources(pool, slicing, facts):
        return False
    return report_on((shared_gpus,), plan, pool, facts)


def _check_resources(pool: PoolPlan, slicing: TimeSlicing, facts: Facts) -> bool:
    """Each resource once, with its replicas."""
    base = f"{SHARING}/timeSlicing"
    if (slicing.replicas is None) is not bool(slicing.resources):
        told = "has both `replicas` and `resources`" if slicing.resources else "lacks `replicas`"
        facts.report_pool(
            gpu_use.SHARING_CONTRADICTION,
            pool,
            f"{base}/replicas" if slicing.resources else base,
            f"time slicing {told}",
            help="write `replicas: 4`, or `resources: [{resource: nvidia.com/gpu, replicas: 4}]`",
        )
        return False
    names = [item.resource for item in slicing.resources]
    twice = next((index for index, name in enumerate(names) if name in names[:index]), None)
    if twice is not None:
        facts.report_pool(
            gpu_use.SHARING_CONTRADICTION,
            pool,
            f"{base}/resources/{twice}/resource",
            f"{names[twice]} is shared twice",
            help="give each resource one number of replicas",
        )
        return False
    return True


def _config(pool: PoolPlan) -> dict[str, Any]:
    """The device plugin's own configuration, version v1."""
    sharing = pool.profile.spec.sharing
    if sharing.time_slicing is not None:
        slicing = sharing.time_slicing
        body: dict[str, Any] = {}
        if slicing.rename_by_default:
            body["renameByDefault"] = True
        if slicing.fail_requests_greater_than_one:
            body["failRequestsGreaterThanOne"] = True
        body["resources"] = [{"name": name, "replicas": replicas} for name, replicas in slicing.shared.items()]
        return {"version": "v1", "sharing": {"timeSlicing": body}}
    assert sharing.mps is not None
    body = {"renameByDefault": True} if sharing.mps.rename_by_default else {}
    body["resources"] = [{"name": "nvidia.com/gpu", "replicas": sharing.mps.replicas}]
    return {"version": "v1", "sharing": {"mps": body}}
