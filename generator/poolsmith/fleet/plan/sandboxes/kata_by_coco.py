"""Kata by the Confidential Containers operator and the Kata manager, which brings the guests."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog, Origin
from poolsmith.fleet.plan.plan import GitSource, KubernetesObject, UnitPlan, ValueSetting
from poolsmith.fleet.plan.registry import MIRRORS, SECRETS, mirrored
from poolsmith.fleet.plan.sandboxes.cc_runtime import cc_runtime
from poolsmith.fleet.plan.sandboxes.confidential import is_confidential
from poolsmith.gpu.catalog.node_labels import WORKLOAD
from poolsmith.gpu.catalog.sandboxes import PLAIN

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.sandboxes import KataEra


def install_by_coco(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> ClusterPlan:
    """One runtime class for each name that pools have, with its guest; the operator's own objects as a unit."""
    classes: dict[str, tuple[str, dict[str, str]]] = {}
    for pool in kata:
        sandbox = pool.profile.spec.sandbox
        kind = sandbox.tee.value if is_confidential(pool) and sandbox.tee is not None else PLAIN
        guest = sandbox.artifacts or era.artifacts[kind], era.class_selectors.get(kind, {})
        name = pool.runtime_class or era.classes[kind]
        if classes.setdefault(name, guest) != guest:
            facts.report_pool(
                codes.SINGLETON_CONFLICT,
                pool,
                "/spec/sandbox/artifacts" if sandbox.artifacts else "/spec/sandbox",
                f"two pools give the runtime class `{name}` different guests",
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
    asked = tuple(facts.at_pool(pool, "/spec/workload") for pool in kata)
    source = FromCatalog(f"sandbox/{era.name}", era.source)
    origin = Derived(
        "sandbox", "Kata pools of this era get it from the Confidential Containers operator", (*asked, source)
    )
    setting = _classes(plan, kata, classes, source, facts)
    return replace(with_values(plan, setting), units=(*plan.units, _unit(facts, origin)))


def _classes(
    plan: ClusterPlan,
    kata: list[PoolPlan],
    classes: dict[str, tuple[str, dict[str, str]]],
    source: FromCatalog,
    facts: Facts,
) -> ValueSetting:
    registry = plan.cluster.spec.registry
    pulled = [facts.at_cluster(MIRRORS)] if registry.mirrors else []
    pulled += [facts.at_cluster(SECRETS)] if registry.pull_secrets else []
    secret = next(iter(registry.pull_secrets), "")
    entries: list[dict[str, Any]] = [
        {
            "name": name,
            "nodeSelector": selector,
            "artifacts": {"url": mirrored(url, registry.mirrors), "pullSecret": secret},
        }
        for name, (url, selector) in sorted(classes.items())
    ]
    names = Derived(
        "sandbox",
        "the documented class names; the list replaces the chart's, and has the classes that pools here use",
        (*(facts.at_pool(pool, "/spec/sandbox") for pool in kata), *pulled, source),
    )
    return ValueSetting(("kataManager", "config", "runtimeClasses"), entries, names)


def _unit(facts: Facts, origin: Origin) -> UnitPlan:
    coco = facts.catalog.sandboxes.coco_operator
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
