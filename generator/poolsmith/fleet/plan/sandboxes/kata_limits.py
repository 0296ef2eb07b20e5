"""Where Kata can't run: hosts, processors, runtimes, too many GPUs in a pod, and clusters that have another era."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.diagnostics.codes.sandboxes import ERA_CHANGE
from poolsmith.core.diagnostics.listing import joined, listed
from poolsmith.fleet.plan.effect import ERA_LEFT
from poolsmith.fleet.plan.sandboxes.containerd_folder import containerd_folder, containerd_folders, kata_distribution
from poolsmith.gpu.catalog.sandboxes import COCO_OPERATOR, KATA_DEPLOY

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.sandboxes import KataEra

_CONTAINERD = "containerd"
_OTHER_CLUSTER = "leave the pool out, or move it to a cluster of kubeadm, or of another distribution with "
_MANY = 20


def refuse_unfit(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> None:
    """Each at the line that says it."""
    for pool in kata:
        spec = pool.profile.spec
        if spec.runtime.name not in era.runtimes:
            facts.report_pool(
                gpu_use.SANDBOX_CONTRADICTION,
                pool,
                "/spec/runtime/name",
                f"Kata with {facts.need_release().tag} needs containerd, and the pool runs {spec.runtime.name}",
                help="write `runtime: {name: containerd}`",
            )
        else:
            _refuse_folder(pool, era, facts)
        if spec.arch not in era.arch:
            facts.report_pool(
                gpu_use.SANDBOX_CONTRADICTION,
                pool,
                "/spec/arch",
                f"the images that install Kata with {facts.need_release().tag} are none for {spec.arch}",
                help=f"run Kata on nodes of {listed(era.arch)}, or leave the pool out",
            )
        _refuse_many_gpus(pool, era, facts)
        _refuse_system(pool, facts)
    _refuse_upgrade(plan, kata, era, facts)


def _refuse_many_gpus(pool: PoolPlan, era: KataEra, facts: Facts) -> None:
    spec = pool.profile.spec
    asked = spec.sandbox.gpus_per_pod
    if era.gpus_per_pod is not None and asked > era.gpus_per_pod:
        message = (
            f"with {facts.need_release().tag} a sandbox gets {era.gpus_per_pod} GPU, and pods here ask for {asked}"
        )
        advice = f"write `gpusPerPod: {era.gpus_per_pod}`"
    elif asked > spec.gpu.count:
        message = f"pods ask for {asked} GPUs, and a node of pool `{pool.name}` has {spec.gpu.count}"
        advice = f"write a number up to {spec.gpu.count}"
    else:
        return
    facts.report_pool(gpu_use.SANDBOX_CONTRADICTION, pool, "/spec/sandbox/gpusPerPod", message, help=advice)


def _refuse_system(pool: PoolPlan, facts: Facts) -> None:
    """A driver of the system's own holds the GPUs that are to be passed through."""
    os = pool.profile.spec.os
    entry = facts.catalog.operating_systems.get(os.id)
    if entry is not None and entry.driver == "os":
        facts.report_pool(
            gpu_use.SANDBOX_CONTRADICTION,
            pool,
            "/spec/os/id",
            f"every image of {os.id} for GPU nodes has NVIDIA's driver, which holds the GPUs that Kata is to get",
            help="run Kata on nodes of another system",
        )


def _refuse_folder(pool: PoolPlan, era: KataEra, facts: Facts) -> None:
    """An installer looks for containerd's configuration in one folder of the host, and nowhere else."""
    distribution, runtime = facts.distribution, pool.profile.spec.runtime
    if distribution is None or runtime.name != _CONTAINERD:
        return  # each is reported elsewhere
    known = containerd_folder(distribution, facts.need_release())
    given = posixpath.dirname(posixpath.normpath(runtime.config)) if runtime.config else known
    if era.installer == KATA_DEPLOY:
        if kata_distribution(distribution, facts) is not None and given in (known, *containerd_folders(distribution)):
            return
        mounted = "the folder of k8s, k3s, rke2, k0s or microk8s"
    else:
        mounted = _coco_folder(facts)
        if known == given == mounted:
            return
    where = f"in {given}" if given else "elsewhere"
    facts.report_pool(
        gpu_use.SANDBOX_CONTRADICTION,
        pool,
        "/spec/runtime/config" if runtime.config else "/spec/workload",
        f"Kata with {facts.need_release().tag} is installed into {mounted}, and containerd is configured "
        f"{where} on the {distribution.name} nodes of pool `{pool.name}`",
        help=_OTHER_CLUSTER + f"its containerd in {facts.catalog.sandboxes.kata_deploy.folder}",
    )


def _coco_folder(facts: Facts) -> str:
    volumes = facts.catalog.sandboxes.coco_operator["installerVolumes"]
    return posixpath.normpath(str(volumes["containerd-conf"][0]))


def _refuse_upgrade(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> None:
    stack = plan.cluster.spec.stack
    if stack.upgrading_from is None:
        return
    before = facts.catalog.releases.near(stack.upgrading_from)
    eras = facts.catalog.sandboxes.eras
    pointer = "/spec/stack/upgradingFrom"
    if era.first_installation_only:
        facts.report_cluster(
            gpu_use.SANDBOX_CONTRADICTION,
            pointer,
            f"pool `{kata[0].name}` runs Kata, which is supported with {facts.need_release().tag} for a first "
            f"installation only, not for an upgrade from {stack.upgrading_from}",
            help="leave the Kata pools out, or install the release in a new cluster",
        )
    elif before is not None and before.sandbox_era != era.name and eras[before.sandbox_era].leave:
        if any(item.fact == ERA_LEFT for item in plan.cluster.spec.acknowledge):
            return
        old = eras[before.sandbox_era]
        facts.report_cluster(
            ERA_CHANGE,
            pointer,
            f"{stack.upgrading_from} brought Kata by {_installer(old)}, and {facts.need_release().tag} brings it by "
            f"{_installer(era)}; both at once break containerd, and no document describes the change",
            help=f"in this order: {joined(era_steps(old), _MANY)}; then write "
            f"`acknowledge: [{{fact: {ERA_LEFT}, by: <who>, date: <year-month-day>}}]`; or install the release in a "
            "new cluster",
        )


def _installer(era: KataEra) -> str:
    if era.installer == COCO_OPERATOR:
        return "the Confidential Containers operator"
    return f"kata-deploy {era.installer_version}"


def era_steps(era: KataEra) -> list[str]:
    """What has to be done before another era takes over, numbered."""
    return [f"({number}) {step}" for number, step in enumerate(era.leave, 1)]
