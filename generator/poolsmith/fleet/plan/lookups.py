"""Pass: find the release, the distribution, and what each pool names, in the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import shape
from poolsmith.core.diagnostics.message_text import did_you_mean, listed, meant_one
from poolsmith.core.facts.versions import at_least, line_of
from poolsmith.core.record import replace
from poolsmith.fleet.plan.facts import map_pools
from poolsmith.fleet.profiles.cluster import StackKind
from poolsmith.fleet.profiles.driver import DriverSource
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.chart_workloads import chart_releases
from poolsmith.gpu.drivers.driver_image import UnreadableVersionError, has_containers, os_tag
from poolsmith.gpu.drivers.driver_support import carries_driver

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.fleet.profiles.node_pool import NodeSystem
    from poolsmith.gpu.catalog.gpus import Gpus
    from poolsmith.gpu.catalog.releases import Releases

RELEASE = "/spec/stack/release"
_NO_OPERATOR = "none"
_MOST_SYSTEMS = 8
_FEW_GPUS = 8
_MANAGED = (DriverSource.CONTAINER, DriverSource.PRECOMPILED)


def look_up(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Everything unknown is reported in one run."""
    _release(plan, facts)
    _distribution(plan, facts)
    for pool in plan.pools:
        _systems(pool, facts)
        for system in pool.profile.spec.systems:
            _operating_system(pool, system, facts)
            _operator_for_system(plan, pool, system, facts)
        _runtime(pool, facts)
    plan = map_pools(plan, lambda pool: _gpu(pool, facts))
    return replace(plan, line=facts.release.line) if facts.release else plan


def _release(plan: ClusterPlan, facts: Facts) -> None:
    stack = plan.cluster.spec.stack
    if stack.kind is StackKind.DEVICE_PLUGIN:
        known = chart_releases("nvidia-device-plugin")
        if stack.release not in known:
            facts.report_cluster(
                codes.UNKNOWN_RELEASE,
                RELEASE,
                f"the catalog does not know release `{stack.release}` of the device plugin",
                help=f"known: {listed(known)}",
            )
        return
    releases = facts.catalog.releases
    release = releases.by_tag.get(stack.release)
    chart = facts.catalog.chart(releases.chart_name, stack.release)
    if release is None or chart is None:
        facts.report_cluster(
            codes.UNKNOWN_RELEASE,
            RELEASE,
            f"the catalog does not know release `{stack.release}` of the gpu-operator",
            help=f"the nearest that is known: `{_nearest_release(stack.release, releases)}`; `poolsmith catalog import "
            "--pack` makes the facts of another one (see `docs/catalog-packs.md`)",
        )
        return
    facts.release, facts.chart = release, chart


def _nearest_release(tag: str, releases: Releases) -> str:
    """Of its line the newest, else the first that comes after it, else the newest of all."""
    line = [known for known in releases.by_tag if line_of(known) == line_of(tag)]
    later = [known for known in releases.by_tag if at_least(known, tag)]
    return (line[-1:] or later[:1] or [*releases.by_tag][-1:])[0]


def _distribution(plan: ClusterPlan, facts: Facts) -> None:
    name = plan.cluster.spec.kubernetes.distribution
    pointer = "/spec/kubernetes/distribution"
    distribution = facts.catalog.distributions.get(name)
    if distribution is None:
        known = [item.name for item in facts.catalog.distributions.values() if item.refused is None]
        facts.report_cluster(
            codes.UNKNOWN_DISTRIBUTION,
            pointer,
            f"the catalog does not know the distribution `{name}`",
            help=meant_one(name, known)
            or f"known: {listed(known, len(known))}; nodes of another one that are set up like kubeadm's: `kubeadm`",
        )
    elif distribution.refused is not None:
        facts.report_cluster(codes.UNKNOWN_DISTRIBUTION, pointer, distribution.refused)
    facts.distribution = distribution


def _systems(pool: PoolPlan, facts: Facts) -> None:
    """Lists that nobody can read together are refused; nothing else would say which kernel runs on which version."""
    versions, releases = pool.profile.spec.os.versions, pool.profile.spec.kernel.releases
    if len(versions) > 1 and len(releases) > 1 and len(versions) != len(releases):
        facts.report_pool(
            shape.INVALID_VALUE,
            pool,
            "/spec/kernel/releases",
            f"`os.versions` names {len(versions)} versions, and `kernel.releases` {len(releases)} kernels: which "
            "kernel runs on which version is not said",
            help="name as many of both, in the same order",
        )
    for name, given in (("/spec/os/versions", versions), ("/spec/kernel/releases", releases)):
        if len(given) > _MOST_SYSTEMS:
            facts.report_pool(
                shape.OUT_OF_RANGE,
                pool,
                name,
                f"a pool whose nodes are rolled has at most {_MOST_SYSTEMS} systems at a time, and this is "
                f"{len(given):,}",
                help="remove those that no node runs any more",
            )


def _operating_system(pool: PoolPlan, system: NodeSystem, facts: Facts) -> None:
    """Decides the driver image's tag; where no driver is installed it decides nothing, and is only noted."""
    spec = pool.profile.spec
    version, pointer = system.version, system.version_pointer
    os, managed = spec.os, spec.driver.source in _MANAGED and spec.workload is Workload.CONTAINER
    known = facts.catalog.operating_systems
    entry = known.get(os.id)
    try:
        tags = _possible_tags(os.id, version, facts)
    except UnreadableVersionError as error:
        facts.report_pool(
            codes.UNKNOWN_OPERATING_SYSTEM,
            pool,
            pointer,
            error.explanation,
            help="write the nodes' VERSION_ID, a version like 9.4",
        )
        return
    if os.image_tag is not None:
        _declared_tag(pool, version, os.image_tag, tags, facts)
        return
    declare = "declare another one with `os.imageTag`, what the operator makes of the nodes' ID and VERSION_ID"
    severity = None if managed else Severity.NOTE
    if entry is None:
        facts.report_pool(
            codes.UNKNOWN_OPERATING_SYSTEM,
            pool,
            "/spec/os/id",
            f"the catalog does not know the operating system `{os.id}`",
            help=f"{did_you_mean(os.id, known)}; {declare}",
            severity=severity,
        )
    elif not entry.knows(version):
        facts.report_pool(
            codes.UNKNOWN_OPERATING_SYSTEM,
            pool,
            pointer,
            f"the catalog does not know `{os.id}` version `{version}`",
            help=f'write "{meant}"; {declare}'
            if (meant := entry.meant(version))
            else f"known: {listed(entry.known_versions())}; {declare}",
            severity=severity,
        )
    elif managed and not carries_driver(entry) and not has_containers(entry) and spec.driver.repository is None:
        others = f"; drivers for it are published in {entry.repository}" if entry.repository else ""
        facts.report_pool(
            codes.UNKNOWN_OPERATING_SYSTEM,
            pool,
            "/spec/os/id",
            f"whether a driver image for {os.id} {version} exists is unknown",
            help=f"name the repository that holds one in `driver.repository`, or pre-install the driver{others}",
        )
    if entry is not None and version in entry.unsupported:
        facts.report_pool(
            codes.NO_SUPPORT_ROW,
            pool,
            pointer,
            entry.unsupported[version],
            help="use a system that the documentation lists",
            severity=Severity.WARNING,
        )


def _operator_for_system(plan: ClusterPlan, pool: PoolPlan, system: NodeSystem, facts: Facts) -> None:
    """Systems whose own guide has no operator, or none before some release."""
    stack, os = plan.cluster.spec.stack, pool.profile.spec.os
    version = system.version
    entry = facts.catalog.operating_systems.get(os.id)
    first = entry.at(version).operator if entry is not None else None
    if entry is None or first is None or stack.kind is StackKind.DEVICE_PLUGIN:
        return
    if first == _NO_OPERATOR:
        later = next((version for version, item in reversed(entry.later) if item.operator != _NO_OPERATOR), None)
        facts.report_pool(
            codes.STACK_CONTRADICTION,
            pool,
            system.version_pointer,
            f"the guide of {os.id} {version} installs the device plugin without the operator",
            help="write `stack: {kind: device-plugin, ...}`" + (f", or upgrade {os.id} to {later}" if later else ""),
        )
    elif not at_least(stack.release, first):
        facts.report_pool(
            codes.STACK_CONTRADICTION,
            pool,
            system.version_pointer,
            f"{os.id} {version} needs the operator {first} or later, and the cluster pins {stack.release}",
            help=f"pin {first} or a later release in `stack.release`",
        )


def _possible_tags(os_id: str, version: str, facts: Facts) -> tuple[str, ...]:
    """What an image can end in: one thing where the release is known. Raises UnreadableVersionError."""
    if facts.release is not None:
        return (os_tag(os_id, version, facts.release.tag),)
    return tuple(dict.fromkeys((f"{os_id}{version}", f"{os_id}{version.split('.', maxsplit=1)[0]}")))


def _declared_tag(pool: PoolPlan, version: str, tag: str, possible: tuple[str, ...], facts: Facts) -> None:
    """The operator makes the suffix itself, from what the node says about its system, by the rules of its release."""
    os = pool.profile.spec.os
    if tag not in possible:
        facts.report_pool(
            codes.UNKNOWN_OPERATING_SYSTEM,
            pool,
            "/spec/os/imageTag",
            f"on nodes of {os.id} {version} the operator asks for an image that ends in {listed(possible)}, "
            f"never in `{tag}`",
            help=f"write `imageTag: {possible[0]}`, and push the image under that name",
        )


def _runtime(pool: PoolPlan, facts: Facts) -> None:
    name = pool.profile.spec.runtime.name
    known = facts.catalog.runtimes.by_name
    if name not in known:
        facts.report_pool(
            codes.UNKNOWN_RUNTIME,
            pool,
            "/spec/runtime/name",
            f"the operator does not recognise the container runtime `{name}`",
            help=meant_one(name, known) or f"the operator knows {listed(known)} and no way to declare another",
        )


def _gpu(pool: PoolPlan, facts: Facts) -> PoolPlan:
    gpu = pool.profile.spec.gpu
    gpus = facts.catalog.gpus
    entry = gpus.find(gpu.product)
    if gpu.architecture is not None and gpu.architecture not in gpus.architectures:
        facts.report_pool(
            codes.UNKNOWN_GPU,
            pool,
            "/spec/gpu/architecture",
            f"the catalog does not know the architecture `{gpu.architecture}`",
            help=did_you_mean(gpu.architecture, gpus.architectures),
        )
        return pool
    if gpu.architecture is not None:
        return replace(pool, architecture=gpu.architecture)
    if entry is None:
        facts.report_pool(
            codes.UNKNOWN_GPU,
            pool,
            "/spec/gpu/product",
            _unknown_product(gpu.product, gpus),
            help=_other_product(gpu.product, gpus),
        )
        return pool
    accelerators = facts.distribution.accelerators if facts.distribution is not None else {}
    return replace(pool, architecture=entry.architecture, accelerator=accelerators.get(entry.product))


def _unknown_product(product: str, gpus: Gpus) -> str:
    if (family := gpus.family(product)) is None:
        return f"the catalog does not know the GPU `{product}`"
    if family.architecture is None:
        return f"`{product}` is no GPU of NVIDIA, and the operator serves no others"
    return f"`{product}` is a GPU of architecture {family.architecture} that the operator's documentation does not list"


def _other_product(product: str, gpus: Gpus) -> str:
    family = gpus.family(product)
    if family is not None and family.architecture is None:
        return "take these nodes out of the project"
    if family is not None:
        return f"if it is to be tried all the same, add `gpu.architecture: {family.architecture}`"
    similar = gpus.similar(product)
    meant = f"did you mean {listed(similar)}? Else" if similar else f"known: {listed(gpus.names(), _FEW_GPUS)};"
    return f"{meant} declare it with `gpu.architecture`: {listed(gpus.architectures)}"
