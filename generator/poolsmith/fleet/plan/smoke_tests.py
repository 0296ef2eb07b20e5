"""Pass: the job that proves a pool works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import replace
from poolsmith.fleet.plan.delivery.image_mirrors import mirrored
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, SmokeJob
from poolsmith.fleet.profiles.cluster import StackKind
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS, Workload

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts


_UNKNOWN_RESOURCE = "what its MIG layout advertises is not known"


def plan_smoke_tests(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """One vectoradd job per pool that can run one."""
    return map_pools(plan, lambda pool: replace(pool, smoke=_smoke(plan, pool, facts)))


def _smoke(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> SmokeJob:
    spec = pool.profile.spec
    wanted = plan.cluster.spec.smoke_test.image
    image = mirrored(wanted or _image_for(pool, facts), plan.cluster.spec.registry.mirrors)
    if plan.cluster.spec.stack.kind is StackKind.GPU_CLUSTER:
        from poolsmith.gpu.catalog.gpu_clusters import read_dra  # on demand

        dra = read_dra()
        domain = dra.domain_version if spec.gpu.multi_node_nvlink else None
        return SmokeJob(image=image, claim=(dra.claim_version, dra.device_class), domain=domain)
    if spec.workload is Workload.CONTAINER:
        resource = _resource(pool)
        if resource is None:
            return SmokeJob(reason=_UNKNOWN_RESOURCE)
        by_hand = plan.cluster.spec.stack.kind is StackKind.DEVICE_PLUGIN
        runtime_class = facts.host_runtime_class if by_hand else _runtime_class(pool, facts)
        return SmokeJob(image=image, resource=resource, runtime_class=runtime_class)
    if spec.workload not in KATA_WORKLOADS or pool.passthrough_resource is None:
        return SmokeJob(reason="virtual machines are proved by starting one, not by a pod")
    return _of_kata(plan, pool, facts)


def _of_kata(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> SmokeJob:
    """The guest has a driver of its own, and memory as the pod's limit says, or an annotation."""
    sandbox, known = pool.profile.spec.sandbox, facts.catalog.sandboxes
    era = known.eras[facts.need_release().sandbox_era]
    annotations = dict(era.pod_annotations)
    if pool.profile.spec.workload is Workload.KATA_CONFIDENTIAL:
        annotations |= era.confidential_pod_annotations
    limits = {}
    if era.memory_annotation is not None:
        annotations[era.memory_annotation] = str(sandbox.memory)
    else:
        limits["memory"] = f"{sandbox.memory}Mi"
    switches = known.confidential.switches.get(pool.architecture or "", {}).get(sandbox.gpus_per_pod)
    if switches is not None and era.plugin is not None and era.plugin.switch is not None:
        limits[era.plugin.switch] = str(switches)
    image = plan.cluster.spec.smoke_test.image or era.smoke_image or _image_for(pool, facts)
    return SmokeJob(
        image=mirrored(image, plan.cluster.spec.registry.mirrors),
        resource=str(pool.passthrough_resource),
        count=sandbox.gpus_per_pod,
        limits=tuple(sorted(limits.items())),
        runtime_class=pool.runtime_class,
        annotations=tuple(sorted(annotations.items())),
    )


def _runtime_class(pool: PoolPlan, facts: Facts) -> str | None:
    """What a container has to ask for where NVIDIA's runtime is there, and not the default one."""
    if facts.distribution is None or facts.release is None:
        return None
    paths = facts.distribution.paths(pool.profile.spec.runtime.name, facts.release.line)
    return paths.runtime_class if paths is not None else None


def _image_for(pool: PoolPlan, facts: Facts) -> str:
    """The newest sample image that the driver's branch can run; the oldest when the branch is not told."""
    branch = pool.driver.branch if pool.driver is not None else None
    images = facts.catalog.device_plugin["smokeTest"]["images"]
    fitting = [item["image"] for item in images if branch is not None and branch >= item["fromBranch"]]
    return str(fitting[0] if fitting else images[-1]["image"])


def _resource(pool: PoolPlan) -> str | None:
    slicing = pool.profile.spec.sharing.time_slicing
    mps = pool.profile.spec.sharing.mps
    if slicing is not None:
        return next(iter(slicing.shared), "nvidia.com/gpu") + (".shared" if slicing.rename_by_default else "")
    if mps is not None:
        return "nvidia.com/gpu" + (".shared" if mps.rename_by_default else "")
    if pool.profile.spec.gpu.mig is None:
        return "nvidia.com/gpu"
    return pool.resources[0] if pool.resources else None
