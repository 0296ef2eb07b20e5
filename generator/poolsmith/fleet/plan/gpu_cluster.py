"""The passes that only a cluster has whose GPUs are given out by claims: `stack.kind: gpu-cluster`.

A GPUCluster stands in the place of the ClusterPolicy: no device plugin, toolkit, MIG manager or sandboxes.
Source: NVIDIA/gpu-operator@v26.7.0:controllers/gpucluster_controller.go, controllers/nodelabeling_controller.go;
NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/dra-intro-install.rst.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes.gpu_use import (
    COMPUTE_DOMAIN,
    DRA_GATES,
    GPU_CLUSTER_CHANGE,
    GPU_CLUSTER_PRECONDITION,
)
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.facts.versions import is_older, version_key
from poolsmith.core.record import replace
from poolsmith.core.sources.pointer import value_at
from poolsmith.fleet.plan.facts import map_pools, with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ValueSetting
from poolsmith.fleet.plan.sandbox.sandbox_modes import check_hosts
from poolsmith.fleet.plan.user_values import DEPLOYED
from poolsmith.fleet.profiles.node_pool import ToolkitSource, Workload
from poolsmith.gpu.catalog.dra_gates import alpha_gates, gate_mistakes
from poolsmith.gpu.catalog.gpu_clusters import gpu_cluster_releases, read_dra, read_gpu_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan


_KIND = "/spec/stack/kind"
_GATES = "/spec/stack/draDriver/featureGates"
_PLUGIN_ENV = ("draDriver", "gpus", "kubeletPlugin", "env")
_PLUGIN_ENV_AT = f"/spec/stack/values/{'/'.join(_PLUGIN_ENV)}"
_NVLINK = "/spec/gpu/multiNodeNvlink"
_EXACT = 3


def check_gpu_cluster(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """The cluster's preconditions, and what pools ask for that nothing of such a cluster brings."""
    _check_cluster(plan, facts)
    _check_gates(plan, facts)
    for pool in plan.pools:
        _check_pool(plan, pool, facts)
    return map_pools(plan, lambda pool: replace(pool, toolkit=ToolkitSource.PREINSTALLED.value))


def plan_gpu_cluster(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """The GPUCluster in the place of the ClusterPolicy, and what its DRA driver is told."""
    kind = facts.at_cluster(_KIND)
    source = FromCatalog("dra", read_dra().source)
    settings = [
        ValueSetting(DEPLOYED, True, kind),
        ValueSetting(
            ("clusterPolicy", "deployCR"),
            False,
            Derived("gpu_cluster", "the operator accepts one of both kinds in a cluster", (kind, source)),
        ),
    ]
    domains = [pool for pool in plan.pools if pool.profile.spec.gpu.multi_node_nvlink]
    if not domains:
        because = "no pool has NVLink over several nodes; without it a controller and a container are spared"
        settings.append(
            ValueSetting(("draDriver", "computeDomains", "enabled"), False, Derived("gpu_cluster", because, (kind,)))
        )
    else:
        plan = with_singleton(plan, "ComputeDomains", "on", domains, "draDriver.computeDomains.enabled")
    settings += [
        ValueSetting(("draDriver", "featureGates", gate), on, facts.at_cluster(f"{_GATES}/{gate}"))
        for gate, on in sorted(plan.cluster.spec.stack.dra_driver.feature_gates.items())
    ]
    plan = with_values(plan, *settings)
    note = (
        "GPUs are given out by claims of resource.k8s.io (DRA), not by the resource nvidia.com/gpu; NVIDIA calls the "
        "kind GPUCluster experimental, and supports it in new clusters only. The container runtimes are configured for "
        "CDI by whoever makes the nodes."
    )
    return replace(plan, notes=(*plan.notes, note))


def _check_cluster(plan: ClusterPlan, facts: Facts) -> None:
    spec, dra = plan.cluster.spec, read_dra()
    tag = facts.need_release().tag
    if read_gpu_cluster(tag) is None:
        first = next(iter(gpu_cluster_releases()))
        facts.report_cluster(
            GPU_CLUSTER_PRECONDITION,
            _KIND,
            f"{tag} has no GPUCluster",
            help=f"pin {first} or later, or write `kind: operator`",
        )
    kubernetes = spec.kubernetes.version
    if is_older(kubernetes, dra.kubernetes):
        facts.report_cluster(
            GPU_CLUSTER_PRECONDITION,
            "/spec/kubernetes/version",
            f"a GPUCluster needs Kubernetes {dra.kubernetes} or later, and the cluster has {kubernetes}",
            help=f"upgrade to {dra.kubernetes} or later, or write `kind: operator`",
        )
    elif len(version_key(kubernetes)) < _EXACT and version_key(dra.kubernetes)[:2] == version_key(kubernetes):
        facts.report_cluster(
            codes.NO_SUPPORT_ROW,
            "/spec/kubernetes/version",
            f"a GPUCluster is documented from Kubernetes {dra.kubernetes} on, and which {kubernetes} runs is not said",
            help=f'write the whole version, like "{dra.kubernetes}"',
        )
    if spec.kubernetes.distribution in dra.distributions_without:
        facts.report_cluster(
            GPU_CLUSTER_PRECONDITION,
            "/spec/kubernetes/distribution",
            f"no procedure is documented for a GPUCluster on {spec.kubernetes.distribution}",
            help="write `kind: operator`",
        )
    before = spec.stack.upgrading_from
    if before is not None and read_gpu_cluster(before) is None:
        facts.report_cluster(
            GPU_CLUSTER_CHANGE,
            "/spec/stack/upgradingFrom",
            f"the cluster runs a ClusterPolicy of {before}, and a change to a GPUCluster is not supported: "
            "the operator serves neither while both exist",
            help="make a new cluster for it, as docs/dra.md says",
        )


def _check_gates(plan: ClusterPlan, facts: Facts) -> None:
    gates = plan.cluster.spec.stack.dra_driver.feature_gates
    for mistake in gate_mistakes(gates, _shares(plan)):
        pointer = f"{_GATES}/{mistake.gate}" if mistake.gate else _PLUGIN_ENV_AT
        advice = mistake.help.replace("draDriver.gpus", "stack.values.draDriver.gpus")
        facts.report_cluster(DRA_GATES, pointer, mistake.message, help=advice)
    if alpha := alpha_gates(gates):
        facts.report_cluster(
            codes.NO_SUPPORT_ROW,
            f"{_GATES}/{alpha[0]}",
            f"feature gates of the DRA driver that are alpha: {listed(alpha)}",
            help="nothing to do, if you accept that",
        )


def _shares(plan: ClusterPlan) -> str | None:
    """How devices are shared by claims, as `stack.values` tells the DRA driver."""
    env = value_at(plan.cluster.spec.stack.values, _PLUGIN_ENV)
    wanted = read_dra().gates["ConsumableShares"].variable
    entries = [item for item in env if isinstance(item, dict)] if isinstance(env, list) else []
    return next((str(item.get("value")) for item in reversed(entries) if item.get("name") == wanted), None)


def _check_pool(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> None:
    for pointer, what, advice in _refused(plan, pool):
        facts.report_pool(
            codes.STACK_CONTRADICTION,
            pool,
            pointer,
            f"pool `{pool.name}` asks for {what}, and a GPUCluster brings none",
            help=f"{advice}, or write `stack: {{kind: operator}}` for a cluster with a ClusterPolicy",
        )
    spec = pool.profile.spec
    if spec.runtime.name not in read_dra().runtimes:
        facts.report_pool(
            GPU_CLUSTER_PRECONDITION,
            pool,
            "/spec/runtime/name",
            f"claims are injected by CDI, which {spec.runtime.name} does not do for Kubernetes",
            help=f"use {' or '.join(read_dra().runtimes)}",
        )
    entry = read_gpu_cluster(facts.need_release().tag)
    least = str(entry.behaviour["firstDriverBranch"]) if entry is not None else None
    if least is not None and spec.driver.version is not None and is_older(spec.driver.version, least):
        facts.report_pool(
            GPU_CLUSTER_PRECONDITION,
            pool,
            "/spec/driver/version",
            f"the DRA driver needs driver {least} or later, and the pool has {spec.driver.version}",
            help=f"write a version of branch {least} or later",
        )
    if spec.gpu.multi_node_nvlink:
        product = facts.catalog.gpus.find(spec.gpu.product)
        if product is None or product.product not in read_dra().domains:
            facts.report_pool(
                COMPUTE_DOMAIN,
                pool,
                _NVLINK,
                f"{spec.gpu.product} has no NVLink over several nodes that is documented",
                help=f"remove it; documented are {listed(read_dra().domains)}",
            )
    check_hosts(plan, pool, None, facts)


def _refused(plan: ClusterPlan, pool: PoolPlan) -> Iterator[tuple[str, str, str]]:
    spec = pool.profile.spec
    gates = plan.cluster.spec.stack.dra_driver.feature_gates
    if spec.workload is not Workload.CONTAINER:
        yield "/spec/workload", f"workload `{spec.workload}`", "remove it"
    if spec.gpu.mig is not None:
        by_claim = " (claims make MIG devices with the feature gate DynamicMIG)" if not gates.get("DynamicMIG") else ""
        yield "/spec/gpu/mig", f"a MIG manager{by_claim}", "remove `gpu.mig`"
    if spec.sharing != type(spec.sharing)():
        yield "/spec/sharing", "sharing by the device plugin", "remove it, and share claims"
    if spec.toolkit.source not in (ToolkitSource.AUTO, ToolkitSource.PREINSTALLED):
        yield (
            "/spec/toolkit/source",
            "a container toolkit",
            "install one on the nodes, and write `source: preinstalled`",
        )
    if spec.driver.vgpu is not None:
        yield "/spec/driver/vgpu", "a vGPU guest, for which no source describes claims", "remove it"
