"""Confidential pools: trusted execution environments of the hosts, and the CC mode of the GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.diagnostics.message_text import joined, listed
from poolsmith.core.facts.versions import is_older
from poolsmith.core.record import replace
from poolsmith.fleet.plan.facts import with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import PROVISIONER, LabelSetting, ValueSetting
from poolsmith.fleet.profiles.node_pool import CcMode, Workload
from poolsmith.gpu.catalog.node_labels import CC_MODE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.catalog.sandboxes import KataEra


_SANDBOX = "/spec/sandbox"
_TEE = "/spec/sandbox/tee"
_MODE = "/spec/sandbox/ccMode"
_WORKLOAD = "/spec/workload"
_ON = "on"
_OFF = "off"
_MANY = 8


def is_confidential(pool: PoolPlan) -> bool:
    return pool.profile.spec.workload is Workload.KATA_CONFIDENTIAL


def mode_of(pool: PoolPlan) -> str:
    """The CC mode of the pool's GPUs."""
    given = pool.profile.spec.sandbox.cc_mode
    return given.value if given is not None else _ON if is_confidential(pool) else _OFF


def check_confidential(plan: ClusterPlan, pool: PoolPlan, era: KataEra, facts: Facts) -> bool:
    """Whether TEE, mode, GPU and GPUs per pod fit together; what does not is reported."""
    found = list(_contradictions(pool, era, facts) if is_confidential(pool) else _of_plain(pool))
    for pointer, message, advice in found:
        facts.report_pool(gpu_use.SANDBOX_CONTRADICTION, pool, pointer, message, help=advice)
    if not found and is_confidential(pool):
        _note_untried(plan, pool, era, facts)
    return not found


def _of_plain(pool: PoolPlan) -> Iterator[tuple[str, str, str]]:
    sandbox = pool.profile.spec.sandbox
    confidential = "write `workload: kata-confidential`, or remove it"
    if sandbox.tee is not None:
        yield _TEE, "a trusted execution environment belongs to confidential pools", confidential


def _contradictions(pool: PoolPlan, era: KataEra, facts: Facts) -> Iterator[tuple[str, str, str]]:
    spec, known = pool.profile.spec, facts.catalog.sandboxes.confidential
    tag = facts.need_release().tag
    if spec.sandbox.tee is None:
        known_tees = listed(era.tees)
        yield (
            _WORKLOAD,
            f"pool `{pool.name}` does not say what protects it: {known_tees}",
            f"write `sandbox: {{tee: {era.tees[0]}}}`",
        )
    elif spec.sandbox.tee.value not in era.tees:
        yield (
            _TEE,
            f"{tag} has no runtime class for {spec.sandbox.tee}",
            f"use hosts with {listed(era.tees)}, or another release",
        )
    mode = mode_of(pool)
    if mode == _OFF:
        yield _MODE, "with CC mode off no confidential pod is scheduled", 'write `ccMode: "on"`, or leave it out'
    elif mode not in era.cc_modes:
        yield _MODE, f"{tag} has no CC mode `{mode}`", f"write one of {listed(era.cc_modes)}"
    architecture = pool.architecture
    if architecture not in known.architectures:
        yield (
            "/spec/gpu/product",
            f"{spec.gpu.product} can't compute confidentially; its architecture is {architecture}",
            f"use GPUs of {listed(known.architectures)}",
        )
        return
    entry = facts.catalog.gpus.find(spec.gpu.product)
    ids = {device.id for device in entry.devices} if entry is not None else set()
    if era.cc_devices and ids.isdisjoint(era.cc_devices):
        yield (
            "/spec/gpu/product",
            f"{tag} takes the PCI ids {listed(era.cc_devices)} for capable, and none is of {spec.gpu.product}",
            "use another GPU, or a release from v26.3.0 on",
        )
    yield from _of_whole_node(pool, era, facts)


def _of_whole_node(pool: PoolPlan, era: KataEra, facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Several GPUs in one sandbox are all of the node; on Hopper their switches belong to it, by a mode of its own."""
    spec = pool.profile.spec
    asked, count = spec.sandbox.gpus_per_pod, spec.gpu.count
    mode, switched = mode_of(pool), CcMode.PPCIE.value
    whole = facts.catalog.sandboxes.confidential.whole_node_mode.get(pool.architecture or "")
    if 1 < asked < count:
        yield (
            "/spec/sandbox/gpusPerPod",
            f"a confidential pod gets one GPU, or all {count} of its node; not {asked}",
            f"write `gpusPerPod: 1` or `gpusPerPod: {count}`",
        )
    elif asked > 1 and whole == switched and switched in era.cc_modes and mode != switched:
        yield (
            _MODE if spec.sandbox.cc_mode is not None else _SANDBOX,
            f"several {pool.architecture} GPUs in one confidential pod need CC mode {switched}",
            f"write `ccMode: {switched}`",
        )
    elif mode == switched and (whole != switched or asked != count or count == 1):
        yield (
            _MODE,
            f"CC mode {switched} is for hopper nodes all of whose GPUs go to one pod",
            f'write `ccMode: "on"`, or on hopper `gpusPerPod: {count}`',
        )


def _note_untried(plan: ClusterPlan, pool: PoolPlan, era: KataEra, facts: Facts) -> None:
    spec, tried = pool.profile.spec, era.validated
    if tried is None:
        return
    untried = []
    entry = facts.catalog.gpus.find(spec.gpu.product)
    if tried.gpus and (entry is None or entry.product not in tried.gpus):
        untried.append(spec.gpu.product)
    for system in spec.systems:
        if system.version not in tried.os.get(spec.os.id, ()):
            untried.append(f"{spec.os.id} {system.version}")
        if tried.kernel is not None and system.kernel is not None and is_older(system.kernel, tried.kernel):
            untried.append(f"kernel {system.kernel}")
    if spec.runtime.version is not None and tried.containerd and is_older(spec.runtime.version, tried.containerd):
        untried.append(f"containerd {spec.runtime.version}")
    kubernetes = plan.cluster.spec.kubernetes.version
    if tried.kubernetes is not None and is_older(kubernetes, tried.kubernetes):
        untried.append(f"Kubernetes {kubernetes}")
    if untried:
        facts.report_pool(
            codes.NO_SUPPORT_ROW,
            pool,
            _WORKLOAD,
            f"confidential pools with {facts.need_release().tag} are not documented for {joined(untried, _MANY)}",
            help="nothing to do, if it works for you",
        )


def label_mode(pool: PoolPlan, era: KataEra, facts: Facts) -> PoolPlan:
    """A confidential node says its mode itself, so that another pool's can't change it."""
    if not is_confidential(pool):
        return pool
    at = facts.at_pool(pool, _MODE if pool.profile.spec.sandbox.cc_mode is not None else _WORKLOAD)
    labels = {**era.confidential_labels, CC_MODE: mode_of(pool)}
    settings = (LabelSetting(key, value, PROVISIONER, at) for key, value in labels.items())
    return replace(pool, labels=(*pool.labels, *settings))


def set_default_mode(plan: ClusterPlan, kata: list[PoolPlan], era: KataEra, facts: Facts) -> ClusterPlan:
    """Off as soon as a pool runs plain Kata: on a host that could, the GPUs would be taken from its class."""
    plain = [pool for pool in kata if not is_confidential(pool)]
    if not era.manages_plain and len(plain) == len(kata):
        return plan
    mode = _OFF if plain else _ON
    path = ("ccManager", "defaultMode")
    if facts.need_chart().default(path) == mode:
        return plan
    because = (
        "the class of plain Kata selects nodes whose CC mode is off" if plain else "all Kata pools are confidential"
    )
    source = FromCatalog(f"sandbox/{era.name}", era.source)
    origins = tuple(facts.at_pool(pool, _WORKLOAD) for pool in plain or kata)
    return with_values(plan, ValueSetting(path, mode, Derived("sandbox", because, (*origins, source))))
