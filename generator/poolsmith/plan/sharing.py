"""Pass: time slicing and MPS, as device plugin configuration per pool."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.catalog.node_labels import DEVICE_PLUGIN_CONFIG
from poolsmith.diagnostics.codes import gpu_use
from poolsmith.plan.facts import map_pools, with_values
from poolsmith.plan.mig import config_map
from poolsmith.plan.origin import Derived
from poolsmith.plan.plan import ClusterPlan, KubernetesObject, LabelSetting, PoolPlan, ValueSetting
from poolsmith.profiles.node_pool import Workload
from poolsmith.sources.yaml_writer import emit

if TYPE_CHECKING:
    from poolsmith.plan.facts import Facts

DEFAULT_CONFIG = "default"
SHARING = "/spec/sharing"


def share_gpus(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """One ConfigMap with a key per sharing pool; the pool's node label selects it."""
    plan = map_pools(plan, lambda pool: _share(pool, facts))
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


def _share(pool: PoolPlan, facts: Facts) -> PoolPlan:
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
    if not _check(pool, facts):
        return pool
    label = LabelSetting(DEVICE_PLUGIN_CONFIG, pool.name, "provisioner", facts.at_pool(pool, SHARING))
    return replace(pool, device_plugin_config=emit(_config(pool)), labels=(*pool.labels, label))


def _check(pool: PoolPlan, facts: Facts) -> bool:
    sharing = pool.profile.spec.sharing
    if pool.profile.spec.workload is not Workload.CONTAINER:
        facts.report_pool(
            gpu_use.SANDBOX_CONTRADICTION,
            pool,
            SHARING,
            f"a pool of workload `{pool.profile.spec.workload}` passes whole GPUs through; they can't be shared",
            help="remove `sharing`",
        )
        return False
    if sharing.time_slicing is not None and sharing.mps is not None:
        facts.report_pool(
            gpu_use.SHARING_CONTRADICTION,
            pool,
            f"{SHARING}/mps",
            "time slicing and MPS exclude each other on one node",
            help="keep one of `sharing.timeSlicing` and `sharing.mps`",
        )
        return False
    if sharing.mps is not None and pool.profile.spec.gpu.mig is not None:
        facts.report_pool(
            gpu_use.SHARING_CONTRADICTION,
            pool,
            f"{SHARING}/mps",
            "MPS shares full GPUs only, and this pool partitions them with MIG",
            help="remove `gpu.mig`, or use `sharing.timeSlicing`",
        )
        return False
    advertised = pool.resources
    if sharing.time_slicing is not None and advertised and sharing.time_slicing.resource not in advertised:
        facts.report_pool(
            gpu_use.SHARING_CONTRADICTION,
            pool,
            f"{SHARING}/timeSlicing/resource" if sharing.time_slicing.resource != "nvidia.com/gpu" else SHARING,
            f"this pool advertises {', '.join(advertised)}, not {sharing.time_slicing.resource}",
            help=f"write `resource: {advertised[0]}`",
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
        body["resources"] = [{"name": slicing.resource, "replicas": slicing.replicas}]
        return {"version": "v1", "sharing": {"timeSlicing": body}}
    assert sharing.mps is not None
    body = {"renameByDefault": True} if sharing.mps.rename_by_default else {}
    body["resources"] = [{"name": "nvidia.com/gpu", "replicas": sharing.mps.replicas}]
    return {"version": "v1", "sharing": {"mps": body}}
