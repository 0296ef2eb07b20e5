"""Pass: time slicing and MPS, as device plugin configuration per pool."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.plan.facts import map_pools, with_values
from poolsmith.fleet.plan.origin import Derived
from poolsmith.fleet.plan.plan import ClusterPlan, KubernetesObject, LabelSetting, PoolPlan, ValueSetting
from poolsmith.fleet.plan.pool_records import report_on
from poolsmith.fleet.plan.sharing.mig import config_map
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.node_labels import DEVICE_PLUGIN_CONFIG

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.profiles.gpu import TimeSlicing


DEFAULT_CONFIG = "default"
SHARING = "/spec/sharing"


def share_gpus(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """One ConfigMap with a key per sharing pool; the pool's node label selects it."""
    before = plan
    plan = map_pools(plan, lambda pool: _share(before, pool, facts))
    users = [pool for pool in plan.pools if pool.device_plugin_config is not None]
    if not users:
        return plan
    data = {DEFAULT_CONFIG: emit({"version": "v1"})}
    data.update({pool.name: pool.device_plugin_config or "" for pool in users})
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
    )


def _share(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolPlan:
    sharing = pool.profile.spec.sharing
    if sharing.time_slicing is None and sharing.mps is None:
        return pool
    if pool.name == DEFAULT_CONFIG:
        facts.report_pool(
            gpu_use.SHARING_CONTRADICTION,
            pool,
            "/metadata/name",
            f"a pool that shares GPUs can't be named `{DEFAULT_CONFIG}`: that is the configuration without sharing",
            help="rename the pool",
        )
    if not _check(plan, pool, facts):
        return pool
    label = LabelSetting(DEVICE_PLUGIN_CONFIG, pool.name, "provisioner", facts.at_pool(pool, SHARING))
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
