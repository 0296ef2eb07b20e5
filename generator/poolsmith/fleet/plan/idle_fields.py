"""Pass: a field that would have no effect is a mistake, not a decoration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import shape
from poolsmith.core.diagnostics.codes.support import RELEASE_SKIPPED
from poolsmith.core.diagnostics.message_text import did_you_mean, joined
from poolsmith.fleet.plan.delivery.image_mirrors import PACKAGE_SOURCE
from poolsmith.fleet.plan.runtime.mixed_runtimes import ACKNOWLEDGEMENT
from poolsmith.fleet.profiles.acknowledged_facts import CDMM_OFF, MIG_PARTITIONS, is_of_cluster, is_of_pool
from poolsmith.fleet.profiles.cluster import Engine, StackKind
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS, Nic, ToolkitSource, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan


ERA_LEFT = "sandbox-era-left"
"""Acknowledged of a cluster: what the era before brought has been removed."""
CLUSTER_FACTS = (ACKNOWLEDGEMENT, PACKAGE_SOURCE, ERA_LEFT)
_BY_ENGINE = {
    Engine.ARGOCD: (("sourceRef", "Flux"), ("verify", "Flux")),
    Engine.FLUX: (
        ("destination", "Argo CD"),
        ("instance", "Argo CD"),
        ("project", "Argo CD"),
        ("hydrate", "Argo CD"),
    ),
}


def refuse_idle_fields(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Also acknowledgements of facts that nobody asks about: mostly misspelt ones."""
    _check_delivery(plan, facts)
    if plan.cluster.spec.stack.dcgm_exporter is not None and plan.cluster.spec.stack.by_operator:
        facts.report_cluster(
            codes.FIELD_WITHOUT_EFFECT,
            "/spec/stack/dcgmExporter",
            "`stack.dcgmExporter` has no effect: the operator installs its own dcgm-exporter",
            help="remove it; the operator's exporter is set under `stack.values.dcgmExporter`",
        )
    if plan.cluster.spec.stack.gpu_feature_discovery and plan.cluster.spec.stack.by_operator:
        facts.report_cluster(
            codes.FIELD_WITHOUT_EFFECT,
            "/spec/stack/gpuFeatureDiscovery",
            "`stack.gpuFeatureDiscovery` has no effect: the operator installs its own GPU feature discovery",
            help="remove it; the operator's is set under `stack.values.gfd`",
        )
    if plan.cluster.spec.stack.kind is not StackKind.GPU_CLUSTER and plan.cluster.spec.stack.dra_driver.feature_gates:
        facts.report_cluster(
            codes.FIELD_WITHOUT_EFFECT,
            "/spec/stack/draDriver",
            "`stack.draDriver` has no effect: only a cluster of kind gpu-cluster has a DRA driver",
            help="remove it, or write `kind: gpu-cluster`",
        )
    _check_upgrade(plan, facts)
    known = (*(item.fact for item in facts.catalog.sandboxes.host_facts), PACKAGE_SOURCE, MIG_PARTITIONS, CDMM_OFF)
    for index, item in enumerate(plan.cluster.spec.acknowledge):
        if item.fact not in CLUSTER_FACTS and not is_of_cluster(item.fact):
            facts.report_cluster(
                shape.INVALID_VALUE,
                f"/spec/acknowledge/{index}/fact",
                f"nothing asks a cluster for the acknowledgement `{item.fact}`",
                help="write it in the pool that it is about"
                if is_of_pool(item.fact)
                else did_you_mean(item.fact, CLUSTER_FACTS),
            )
    for pool in plan.pools:
        if pool.profile.spec.gpu.multi_node_nvlink and plan.cluster.spec.stack.kind is not StackKind.GPU_CLUSTER:
            message, advice = _domains_elsewhere(plan, pool)
            facts.report_pool(codes.FIELD_WITHOUT_EFFECT, pool, "/spec/gpu/multiNodeNvlink", message, help=advice)
        for pointer, message, help_text in _idle(pool):
            facts.report_pool(codes.FIELD_WITHOUT_EFFECT, pool, pointer, message, help=help_text)
        for index, item in enumerate(pool.profile.spec.acknowledge):
            if item.fact not in known and not is_of_pool(item.fact):
                facts.report_pool(
                    shape.INVALID_VALUE,
                    pool,
                    f"/spec/acknowledge/{index}/fact",
                    f"nothing asks a pool for the acknowledgement `{item.fact}`",
                    help=f"write it in {plan.cluster.path}"
                    if item.fact in CLUSTER_FACTS or is_of_cluster(item.fact)
                    else did_you_mean(item.fact, known),
                )
    return plan


def _domains_elsewhere(plan: ClusterPlan, pool: PoolPlan) -> tuple[str, str]:
    """Why ComputeDomains don't come with this stack, and how they come beside it.

    Source: NVIDIA/cloud-native-docs@gpu-operator-v26.3-32:gpu-operator/dra-intro-install.rst.
    """
    from poolsmith.gpu.catalog.gpu_clusters import gpu_cluster_releases, read_dra  # on demand

    stack, chart = plan.cluster.spec.stack, read_dra().own_chart
    of_hosts = pool.profile.spec.driver.source in (None, DriverSource.PREINSTALLED)
    values = chart.values if of_hosts else (*chart.values, chart.driver_container)
    beside = (
        f"remove it here, and install the DRA driver's own chart beside this stack: `{chart.name}` from "
        f"{chart.repository}, with " + " and ".join(f"`{item}`" for item in values)
    )
    if stack.by_operator and stack.release not in gpu_cluster_releases():
        return f"`gpu.multiNodeNvlink` has no effect: {stack.release} has no GPUCluster, and no ComputeDomains", beside
    return (
        "`gpu.multiNodeNvlink` has no effect: ComputeDomains belong to a cluster of kind gpu-cluster",
        f"write `stack: {{kind: gpu-cluster}}`; or {beside}",
    )


def _check_upgrade(plan: ClusterPlan, facts: Facts) -> None:
    stack = plan.cluster.spec.stack
    pointer = "/spec/stack/upgradingFrom"
    if stack.upgrading_from is None:
        return
    if (
        stack.by_operator
        and stack.upgrading_from != stack.release
        and stack.upgrading_from in facts.catalog.releases.by_tag
    ):
        _check_way(stack.upgrading_from, stack.release, facts)
        return
    if not stack.by_operator:
        message, advice = "`stack.upgradingFrom` has no effect: it is for releases of the gpu-operator", "remove it"
    elif stack.upgrading_from == stack.release:
        message, advice = f"{stack.release} is the release that is to run", "remove it, once that has rolled out"
    else:
        facts.report_cluster(
            codes.UNKNOWN_RELEASE,
            pointer,
            f"the catalog does not know release `{stack.upgrading_from}` of the gpu-operator",
            help=did_you_mean(stack.upgrading_from, facts.catalog.releases.by_tag),
        )
        return
    facts.report_cluster(codes.FIELD_WITHOUT_EFFECT, pointer, message, help=advice)


def _check_way(before: str, after: str, facts: Facts) -> None:
    from poolsmith.gpu.catalog.upgrades import steps  # on demand

    way = steps(facts.catalog.releases, before, after)
    if way is not None and len(way) > 1:
        facts.report_cluster(
            RELEASE_SKIPPED,
            "/spec/stack/upgradingFrom",
            f"NVIDIA supports no step from {before} to {after}, only within a line or to the next one",
            help=f"the way is {joined((before, *way), len(way) + 1, ', ')}: pin {way[0]} first",
        )


def _check_delivery(plan: ClusterPlan, facts: Facts) -> None:
    delivery = plan.cluster.spec.delivery
    for field, owner in _BY_ENGINE[delivery.engine]:
        if facts.file.has(f"/spec/delivery/{field}"):
            facts.report_cluster(
                codes.FIELD_WITHOUT_EFFECT,
                f"/spec/delivery/{field}",
                f"`delivery.{field}` belongs to {owner}, and this cluster is delivered by {delivery.engine}",
                help=f"remove it, or write `engine: {'flux' if owner == 'Flux' else 'argocd'}`",
            )
    hydrate = delivery.hydrate
    if hydrate is not None:
        dry = delivery.revision.removeprefix("refs/heads/")
        for field, branch in (("branch", hydrate.branch), ("stageBranch", hydrate.stage_branch)):
            others = {dry, hydrate.branch} if field == "stageBranch" else {dry}
            if branch in others:
                facts.report_cluster(
                    codes.DELIVERY_SOURCE,
                    f"/spec/delivery/hydrate/{field}",
                    f"Argo CD would commit what it renders to `{branch}`, which is read for something else already",
                    help="give it a branch of its own",
                )
    destination = delivery.destination
    if destination is not None and (destination.name is None) == (destination.server is None):
        facts.report_cluster(
            codes.FIELD_WITHOUT_EFFECT,
            "/spec/delivery/destination",
            "Argo CD takes a destination by `name` or by `server`: one of the two",
            help="give one of them",
        )


def _idle(pool: PoolPlan) -> Iterator[tuple[str, str, str]]:
    """Pointer, message and help for every field of a pool that nothing would use."""
    spec = pool.profile.spec
    driver, sandbox = spec.driver, spec.sandbox
    given = {
        "runtimeClass": sandbox.runtime_class,
        "artifacts": sandbox.artifacts,
        "release": sandbox.release,
        "tee": sandbox.tee,
        "ccMode": sandbox.cc_mode,
        "gpusPerPod": sandbox.gpus_per_pod if sandbox.gpus_per_pod != 1 else None,
        "resourceAlias": sandbox.resource_alias,
    }
    if spec.workload not in KATA_WORKLOADS:
        runs = "runs plain containers" if spec.workload is Workload.CONTAINER else "gives GPUs to virtual machines"
        for field, value in given.items():
            if value is not None:
                message = f"`sandbox.{field}` has no effect on a pool that {runs}"
                yield f"/spec/sandbox/{field}", message, "remove it, or set `workload`"
    if spec.workload is not Workload.VM_VGPU:
        runs = f"a pool of workload `{spec.workload}` divides no GPU into vGPUs"
        if driver.vgpu_manager is not None and spec.workload is Workload.CONTAINER:
            yield "/spec/driver/vgpuManager", f"`driver.vgpuManager` has no effect: {runs}", "write `workload: vm-vgpu`"
        if spec.gpu.vgpu is not None:
            yield "/spec/gpu/vgpu", f"`gpu.vgpu` has no effect: {runs}", "remove it, or write `workload: vm-vgpu`"
    if driver.source is DriverSource.PREINSTALLED:
        for field, asked in (
            ("rdma", driver.rdma),
            ("upgradePolicy", driver.upgrade_policy is not None),
            ("kernelModuleType", driver.kernel_module_type is not None),
            ("repository", driver.repository is not None),
        ):
            if asked:
                message = f"`driver.{field}` has no effect: this pool's driver is not the operator's"
                yield f"/spec/driver/{field}", message, "remove it"
    else:
        for field, version in (("fabricManager", driver.fabric_manager), ("imex", driver.imex)):
            if version is not None:
                message = (
                    f"`driver.{field}` is for hosts with a pre-installed driver, and this driver is not pre-installed"
                )
                yield f"/spec/driver/{field}", message, "remove it, or write `source: preinstalled`"
    if driver.source is not DriverSource.PREINSTALLED and driver.rdma and spec.nic is Nic.NONE:
        message = "`driver.rdma` works with Mellanox adapters, and the pool declares none"
        yield "/spec/driver/rdma", message, "write `nic: mellanox`, or remove `rdma`"
    if driver.use_host_mofed and not driver.rdma:
        yield (
            "/spec/driver/useHostMofed",
            "`driver.useHostMofed` has no effect without `driver.rdma`",
            "add `rdma: true`",
        )
    if spec.toolkit.version is not None and spec.toolkit.source is not ToolkitSource.PREINSTALLED:
        message = "`toolkit.version` is the version of a pre-installed toolkit; the operator installs its own"
        yield "/spec/toolkit/version", message, "remove it, or write `source: preinstalled`"
