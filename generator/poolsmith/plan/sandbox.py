"""Pass: Kata and passthrough pools, by the era of the release."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.catalog.node_labels import WORKLOAD
from poolsmith.diagnostics.codes import compatibility as codes
from poolsmith.diagnostics.codes import gpu_use
from poolsmith.plan.coco import cc_runtime, refuse_unfit
from poolsmith.plan.facts import map_pools, with_singleton, with_values
from poolsmith.plan.origin import Derived, FromCatalog, Origin
from poolsmith.plan.plan import ClusterPlan, GitSource, KubernetesObject, LabelSetting, PoolPlan, UnitPlan, ValueSetting
from poolsmith.plan.registry import MIRRORS, SECRETS, mirrored
from poolsmith.profiles.node_pool import Workload

if TYPE_CHECKING:
    from poolsmith.plan.facts import Facts

_LEAVE_OUT = "leave the pool out for now"
_WORKLOAD = "/spec/workload"
_NOT_YET = {
    Workload.VM_VGPU: "vGPU hosts need a vGPU manager image of your own, and are not generated yet",
    Workload.KATA_CONFIDENTIAL: "confidential Kata pools are not generated yet",
}


def plan_sandboxes(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Sandbox mode of the cluster, labels and resources of the pools, units of other operators."""
    sandboxed = [pool for pool in plan.pools if pool.profile.spec.workload is not Workload.CONTAINER]
    if not sandboxed:
        return plan
    for pool in sandboxed:
        if (reason := _NOT_YET.get(pool.profile.spec.workload)) is not None:
            facts.report_pool(codes.NOT_GENERATED_YET, pool, _WORKLOAD, reason, help=_LEAVE_OUT)
    kata = [pool for pool in sandboxed if pool.profile.spec.workload is Workload.KATA]
    passthrough = [pool for pool in sandboxed if pool.profile.spec.workload is Workload.VM_PASSTHROUGH]
    if kata and passthrough:
        facts.report_pool(
            gpu_use.SANDBOX_CONTRADICTION,
            passthrough[0],
            _WORKLOAD,
            f"pool `{passthrough[0].name}` passes GPUs to virtual machines, pool `{kata[0].name}` to Kata; "
            "both have one workload label, so each would get the other's components",
            help="move one of the pools to a cluster of its own",
            related=((kata[0], _WORKLOAD, "the Kata pool"),),
        )
        return plan
    if kata and not _era_generated(kata, facts):
        return plan
    for pool in sandboxed:
        _check_host(pool, facts)
    plan = _switch_on(plan, sandboxed, facts)
    plan = map_pools(plan, lambda pool: _pass_through(pool, facts) if pool in sandboxed else pool)
    return _kata(plan, kata, facts) if kata else plan


def _era(facts: Facts) -> dict[str, Any]:
    era: dict[str, Any] = facts.catalog.sandbox["eras"][facts.need_release().sandbox_era]
    return era


def _era_generated(kata: list[PoolPlan], facts: Facts) -> bool:
    release, era = facts.need_release(), _era(facts)
    if era["generated"]:
        return True
    rule = gpu_use.SANDBOX_ERA if release.sandbox_era == "unknown" else codes.NOT_GENERATED_YET
    releases, eras = facts.catalog.releases, facts.catalog.sandbox["eras"]
    known = [
        tag
        for tag, item in releases.by_tag.items()
        if eras[item.sandbox_era]["generated"] and releases.is_supported(tag)
    ]
    facts.report_pool(
        rule,
        kata[0],
        _WORKLOAD,
        f"Kata with {release.tag}: {era['says']}" + ("" if rule is gpu_use.SANDBOX_ERA else "; not generated yet"),
        help="pin one of " + ", ".join(known) + " for Kata pools" if known else _LEAVE_OUT,
    )
    return False


def _check_host(pool: PoolPlan, facts: Facts) -> None:
    spec = pool.profile.spec
    said = {item.fact for item in spec.acknowledge}
    missing = [
        fact
        for fact, proofs in facts.catalog.sandbox["hostFacts"].items()
        if fact not in said and not any(proof in spec.kernel.args for proof in proofs)
    ]
    if missing:
        facts.report_pool(
            gpu_use.HOST_FACTS_UNDECLARED,
            pool,
            _WORKLOAD,
            f"nothing says that {', '.join(missing)} is set on the hosts of pool `{pool.name}`",
            help="declare the kernel argument, or acknowledge it: "
            + ", ".join(f"`acknowledge: [{{fact: {fact}}}]`" for fact in missing[:1]),
        )


def _switch_on(plan: ClusterPlan, sandboxed: list[PoolPlan], facts: Facts) -> ClusterPlan:
    asked = tuple(facts.at_pool(pool, _WORKLOAD) for pool in sandboxed)
    because = "a pool runs sandboxed workloads; without it the workload label does nothing"
    settings = [ValueSetting(("sandboxWorkloads", "enabled"), True, Derived("sandbox", because, asked))]
    if facts.need_release().cc_manager_default:
        because = "without confidential pools the validator would wait for a manager that is not deployed"
        settings.append(ValueSetting(("ccManager", "enabled"), False, Derived("sandbox", because, asked)))
    plan = with_singleton(plan, "sandboxed workloads", "enabled", sandboxed, "sandboxWorkloads.enabled")
    managed = [pool for pool in plan.pools if pool.driver is not None and pool.driver.managed]
    if managed:
        facts.report_pool(
            gpu_use.AUTO_UPGRADE_OFF,
            sandboxed[0],
            _WORKLOAD,
            f"because of pool `{sandboxed[0].name}` the operator upgrades no drivers in this cluster, "
            f"also not on pool `{managed[0].name}`",
            help="delete driver pods by hand after a driver change, or move the pool to a cluster of its own",
            related=((managed[0], "/spec/driver", "upgraded by hand from now on"),),
        )
    return with_values(plan, *settings)


def _pass_through(pool: PoolPlan, facts: Facts) -> PoolPlan:
    resource = _resource(pool, facts)
    label = LabelSetting(WORKLOAD, "vm-passthrough", "provisioner", facts.at_pool(pool, _WORKLOAD))
    return replace(pool, labels=(*pool.labels, label), passthrough_resource=resource)


def _resource(pool: PoolPlan, facts: Facts) -> str | None:
    """What one passed-through GPU is advertised as; the smoke test and every user need the name."""
    gpu = pool.profile.spec.gpu
    if gpu.passthrough_resource is not None:
        return gpu.passthrough_resource
    entry = facts.catalog.gpus.find(gpu.product)
    devices = [device for device in entry.devices if gpu.pci_device_id in (None, device.id)] if entry else []
    raw = facts.need_release().passthrough_raw_ids
    names = {f"nvidia.com/{device.id}" if device.id in raw else device.resource for device in devices}
    if len(names) == 1 and None not in names:
        return names.pop()
    ids = ", ".join(device.id for device in entry.devices) if entry else ""
    facts.report_pool(
        codes.UNKNOWN_GPU,
        pool,
        "/spec/gpu/product",
        f"the passthrough resource of `{gpu.product}` is "
        + (f"one of several; its PCI ids are {ids}" if names else "unknown"),
        help="add `gpu.pciDeviceId`" if names else "add `gpu.passthroughResource`",
    )
    return None


def _kata(plan: ClusterPlan, kata: list[PoolPlan], facts: Facts) -> ClusterPlan:
    era = _era(facts)
    refuse_unfit(plan, kata, era, facts)
    for pool in kata:
        runtime = pool.profile.spec.runtime.name
        if runtime not in era["runtimes"]:
            facts.report_pool(
                gpu_use.SANDBOX_CONTRADICTION,
                pool,
                "/spec/runtime/name",
                f"Kata with {facts.need_release().tag} needs containerd, and the pool runs {runtime}",
                help="write `runtime: {name: containerd}`",
            )
        if pool.profile.spec.sandbox.tee is not None or pool.profile.spec.sandbox.cc_mode is not None:
            facts.report_pool(
                codes.NOT_GENERATED_YET,
                pool,
                "/spec/sandbox",
                "confidential Kata pools are not generated yet",
                help="remove `sandbox.tee` and `sandbox.ccMode`",
            )
    classes: dict[str, str] = {}
    for pool in kata:
        sandbox = pool.profile.spec.sandbox
        name = sandbox.runtime_class or era["runtimeClass"]
        artifacts = sandbox.artifacts or era["artifacts"]
        if classes.setdefault(name, artifacts) != artifacts:
            facts.report_pool(
                codes.SINGLETON_CONFLICT,
                pool,
                "/spec/sandbox/artifacts",
                f"two pools give the runtime class `{name}` different guest artifacts",
                help="give one of them another `sandbox.runtimeClass`",
            )
    if facts.need_chart().default(("operator", "runtimeClass")) in classes:
        facts.report_pool(
            gpu_use.SANDBOX_CONTRADICTION,
            kata[0],
            "/spec/sandbox/runtimeClass",
            "the runtime class of Kata can't be the operator's own",
            help="choose another name, like kata-qemu-nvidia-gpu",
        )
    asked = tuple(facts.at_pool(pool, _WORKLOAD) for pool in kata)
    source = FromCatalog("sandbox/coco-operator", era["source"])
    registry = plan.cluster.spec.registry
    pulled = [facts.at_cluster(MIRRORS)] if registry.mirrors else []
    pulled += [facts.at_cluster(SECRETS)] if registry.pull_secrets else []
    secret = next(iter(registry.pull_secrets), "")
    entries = [
        {"name": name, "nodeSelector": {}, "artifacts": {"url": mirrored(url, registry.mirrors), "pullSecret": secret}}
        for name, url in sorted(classes.items())
    ]
    manager = Derived("sandbox", "Kata pools of this era get their guest from the Kata manager", (*asked, source))
    names = Derived(
        "sandbox",
        "the documented class names; the list replaces the chart's, and each entry names its guest",
        (*(facts.at_pool(pool, "/spec/sandbox") for pool in kata), *pulled, source),
    )
    plan = with_values(
        plan,
        ValueSetting(("kataManager", "enabled"), True, manager),
        ValueSetting(("kataManager", "config", "runtimeClasses"), entries, names),
    )
    note = f"Kata: {era['says']}."
    return replace(plan, units=(*plan.units, _coco_unit(facts, manager)), notes=(*plan.notes, note))


def _coco_unit(facts: Facts, origin: Origin) -> UnitPlan:
    coco = facts.catalog.sandbox["cocoOperator"]
    return UnitPlan(
        name="coco-operator",
        folder="units/coco-operator",
        namespace=coco["namespace"],
        title=f"Confidential Containers operator {coco['release']}: installs Kata on the labelled nodes",
        objects=(
            KubernetesObject(
                file="ccruntime.yaml",
                body=cc_runtime(coco, {WORKLOAD: "vm-passthrough"}),
                origin=Derived("sandbox", "restricted to the nodes of the Kata pools", (origin,)),
            ),
        ),
        source=GitSource(
            repository=coco["repository"],
            revision=f"refs/tags/{coco['release']}",
            path=coco["path"],
            level="privileged",
            image_hosts=tuple(coco["imageHosts"]),
        ),
        before_platform=True,
    )
