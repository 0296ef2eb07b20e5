"""Kata pools, plain and confidential, by the era of the release, and where Kata can't run.

Hosts, processors, runtimes, too many GPUs in a pod, or a cluster that has Kata of another era can keep it from running.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.diagnostics.codes.gpu_use import ERA_CHANGE
from poolsmith.core.diagnostics.message_text import did_you_mean, joined
from poolsmith.core.record import replace
from poolsmith.fleet.plan.facts import agreed, map_pools, with_singleton, with_values
from poolsmith.fleet.plan.idle_fields import ERA_LEFT
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ValueSetting
from poolsmith.fleet.plan.sandbox.confidential import check_confidential, is_confidential, label_mode, set_default_mode
from poolsmith.fleet.plan.sandbox.gpu_passthrough import DOMAIN, model_resource, workload_label
from poolsmith.fleet.plan.sandbox.kata_delivery import (
    containerd_folder,
    containerd_folders,
    install_by_coco,
    install_by_kata_deploy,
    kata_distribution,
)
from poolsmith.fleet.profiles.node_pool import KATA_WORKLOADS, Workload
from poolsmith.gpu.catalog.container_runtimes import CONTAINERD
from poolsmith.gpu.catalog.sandboxes import COCO_OPERATOR, KATA_DEPLOY, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan, ValuePath
    from poolsmith.gpu.catalog.charts import Chart
    from poolsmith.gpu.catalog.sandboxes import KataEra


_OTHER_CLUSTER = "leave the pool out, or move it to a cluster of kubeadm, or of another distribution with "
_MANY = 20


def refuse_unfit(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> None:
    """Each at the line that says it; runtimes, processors and systems are told of any pool's record."""
    for pool in kata:
        if pool.profile.spec.runtime.name in era.runtimes:
            _refuse_folder(pool, era, facts)
        _refuse_many_gpus(pool, era, facts)
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


def _refuse_folder(pool: PoolPlan, era: KataEra, facts: Facts) -> None:
    """An installer looks for containerd's configuration in one folder of the host, and nowhere else."""
    distribution, runtime = facts.distribution, pool.profile.spec.runtime
    if distribution is None or runtime.name != CONTAINERD:
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


_WORKLOAD = "/spec/workload"
_CLASS = "/spec/sandbox/runtimeClass"
_ALIAS = "/spec/sandbox/resourceAlias"


def kind_of(pool: PoolPlan) -> str:
    """`plain`, or the trusted execution environment of a confidential pool."""
    tee = pool.profile.spec.sandbox.tee
    confidential = pool.profile.spec.workload is Workload.KATA_CONFIDENTIAL
    return tee.value if confidential and tee is not None else PLAIN


def plan_kata(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> ClusterPlan:
    """Classes, resources and labels of the pools; the operator's values; the unit that installs Kata."""
    refuse_unfit(plan, kata, era, facts)
    fits = [check_confidential(plan, pool, era, facts) for pool in kata]
    if not all(fits):
        return plan
    alias = _alias(kata, era, facts)
    plan = map_pools(plan, lambda pool: _of_pool(pool, era, alias, facts) if pool in kata else pool)
    kata = [pool for pool in plan.pools if pool.profile.spec.workload in KATA_WORKLOADS]
    plan = _tell_operator(plan, kata, era, alias, facts)
    plan = set_default_mode(plan, kata, era, facts)
    install = install_by_coco if era.installer == COCO_OPERATOR else install_by_kata_deploy
    plan = install(plan, kata, era, facts)
    return replace(plan, notes=(*plan.notes, f"Kata: {era.says}."))


def _of_pool(pool: PoolPlan, era: KataEra, alias: str | None, facts: Facts) -> PoolPlan:
    pool = label_mode(pool, era, facts)
    keeps_dashes = era.plugin is not None and era.plugin.keeps_dashes
    raw = frozenset() if keeps_dashes else facts.need_release().passthrough_raw_ids
    among = era.cc_devices if is_confidential(pool) else ()  # the chart labels no others
    return replace(
        pool,
        labels=(*pool.labels, workload_label(pool, "vm-passthrough", facts)),
        passthrough_resource=DOMAIN + alias
        if alias
        else model_resource(pool, facts, raw_ids=raw, keeps_dashes=keeps_dashes, among=among),
        runtime_class=_runtime_class(pool, era, facts),
    )


def _runtime_class(pool: PoolPlan, era: KataEra, facts: Facts) -> str | None:
    given, known = pool.profile.spec.sandbox.runtime_class, era.classes[kind_of(pool)]
    if given is None or given == known or era.own_class_names:
        return given or known
    facts.report_pool(
        gpu_use.SANDBOX_CONTRADICTION,
        pool,
        _CLASS,
        f"with {facts.need_release().tag} the classes are those of kata-deploy, which makes no `{given}`",
        help=f"write `runtimeClass: {known}`, or leave it out"
        if given not in era.classes.values()
        else did_you_mean(known, (known,)),
    )
    return None


def _alias(kata: list[PoolPlan], era: KataEra, facts: Facts) -> str | None:
    """The one name of all GPUs; empty for the names of models, None where the plugin has no such thing."""
    offered = era.plugin.alias if era.plugin is not None else None
    if offered is None:
        for pool in kata:
            if pool.profile.spec.sandbox.resource_alias is not None:
                facts.report_pool(
                    codes.FIELD_WITHOUT_EFFECT,
                    pool,
                    _ALIAS,
                    f"the device plugin of {facts.need_release().tag} names GPUs by their models, and has no alias",
                    help="remove it",
                )
        return None
    told = [pool for pool in kata if pool.profile.spec.sandbox.resource_alias is not None]
    if not told:
        return offered.advised
    value, first, other = agreed(told, lambda pool: pool.profile.spec.sandbox.resource_alias)
    if other is not None:
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            other,
            _ALIAS,
            f"the device plugin has one {offered.variable} for the cluster, and pool `{first.name}` asks for `{value}`",
            help='write the same in both; with `resourceAlias: ""` each GPU is named by its model',
            related=((first, _ALIAS, "the other alias"),),
        )
    return str(value)


def _tell_operator(
    plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, alias: str | None, facts: Facts
) -> ClusterPlan:
    asked = tuple(facts.at_pool(pool, _WORKLOAD) for pool in kata)
    source = FromCatalog(f"sandbox/{era.name}", era.source)
    chart = facts.need_chart()
    settings: dict[ValuePath, ValueSetting] = {}
    wanted = [(era.values, "Kata pools of this era need it", asked)]
    if confidential := [pool for pool in kata if kind_of(pool) != PLAIN]:
        at = tuple(facts.at_pool(pool, _WORKLOAD) for pool in confidential)
        wanted.append((era.confidential_values, "confidential pools of this era need it", at))
    for tree, because, origins in wanted:
        for path, value in _differing(tree, chart, plan.cluster.spec.stack.values):
            settings[path] = ValueSetting(path, value, Derived("sandbox", because, (*origins, source)))
    if era.mode is not None:
        because = "the device plugin for Kata, and the CC manager; the other mode is for KubeVirt"
        path = ("sandboxWorkloads", "mode")
        settings[path] = ValueSetting(path, era.mode, Derived("sandbox", because, (*asked, source)))
        plan = with_singleton(plan, "sandbox mode", era.mode, kata, "sandboxWorkloads.mode")
    offered = era.plugin.alias if era.plugin is not None else None
    if era.plugin is not None and offered is not None and alias is not None and alias != offered.default:
        because = "one name for GPUs of all models" if alias else "GPUs are named by their models"
        told = tuple(
            facts.at_pool(pool, _ALIAS) for pool in kata if pool.profile.spec.sandbox.resource_alias is not None
        )
        path = (era.plugin.component, "env")
        value = [{"name": offered.variable, "value": alias}]
        settings[path] = ValueSetting(path, value, Derived("sandbox", because, (*(told or asked), source)))
    return with_values(plan, *settings.values())


def _differing(tree: dict[str, Any], chart: Chart, given: Any, path: ValuePath = ()) -> Iterator[tuple[ValuePath, Any]]:
    """What the chart or `given`, the user's own values, would have otherwise."""
    for key, value in tree.items():
        own = given.get(key) if isinstance(given, dict) else None
        if isinstance(value, dict):
            yield from _differing(value, chart, own, (*path, key))
        elif chart.default((*path, key)) != value or own not in (None, value):
            yield (*path, key), value
