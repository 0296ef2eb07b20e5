"""What the profile of a pool says it is, as the record that rules of every surface look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.pools.pool_record import PoolRecord, Said, Shared

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.gpu.pools.pool_record import At, PoolRule

_SHARING = "/spec/sharing"
_SLICING = f"{_SHARING}/timeSlicing"
_MIG = "/spec/gpu/mig/layout"
_STRATEGY = ("mig", "strategy")
_MIXED = "mixed"
_WHOLE = "nvidia.com/gpu"


def report_on(rules: tuple[PoolRule, ...], plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> bool:
    """Report what the rules find of a pool; whether they find nothing."""
    record = pool_record(plan, pool, facts)
    found = [(rule.RULE, finding) for rule in rules for finding in rule.check(record)]
    for rule, finding in found:
        facts.report_found(rule, pool, finding)
    return not found


def pool_record(plan: ClusterPlan, pool: PoolPlan, facts: Facts) -> PoolRecord:
    """As far as the passes before have come."""
    spec, release = pool.profile.spec, facts.release
    entry = facts.catalog.gpus.find(spec.gpu.product)
    system = facts.catalog.operating_systems.get(spec.os.id)
    architecture = facts.catalog.gpus.architectures.get(pool.architecture or "")
    at = _Places(pool, facts)
    return PoolRecord(
        name=pool.name,
        word="pool",
        at=at("/metadata/name"),
        release=release.tag if release is not None else None,
        era=facts.catalog.sandboxes.eras[release.sandbox_era] if release is not None else None,
        workload=Said(spec.workload.value, at("/spec/workload"), "workload"),
        runtime=Said(spec.runtime.name, at("/spec/runtime/name"), "runtime.name"),
        arch=Said(spec.arch, at("/spec/arch"), "arch"),
        system=Said(spec.os.id, at("/spec/os/id"), "os.id"),
        own_driver=system is not None and system.driver == "os",
        gpu=None if entry is None else Said(entry, at("/spec/gpu/product"), "gpu.product"),
        capability=None if architecture is None else architecture.capability,
        mig=None if spec.gpu.mig is None else Said(spec.gpu.mig.layout, at(_MIG), "gpu.mig"),
        partitioned=spec.gpu.mig is not None and spec.gpu.mig.turns_on,
        strategy=_strategy(plan, facts),
        sharing=_sharing(pool, at),
        advertised=pool.resources or None,
        cc_mode=_said(spec.sandbox.cc_mode, at("/spec/sandbox/ccMode"), "sandbox.ccMode"),
        vgpu=_vgpu(pool, at),
    )


class _Places:
    """From a pointer of a pool's profile to the line that says it."""

    def __init__(self, pool: PoolPlan, facts: Facts) -> None:
        self._layers = facts.layers[pool.name]

    def __call__(self, pointer: str) -> At:
        def at(note: str | None = None, /) -> Location:
            return self._layers.locate(pointer, note)

        return at


def _said(value: Any, at: At, name: str) -> Said[str] | None:
    return None if value is None else Said(str(value.value), at, name)


def _strategy(plan: ClusterPlan, facts: Facts) -> Said[str] | None:
    """Asked for by a pool's layout, or by `stack.values` of a cluster with the operator."""
    asking = next((pool for pool in plan.pools if pool.mig_strategy == _MIXED), None)
    if asking is not None:
        return Said(_MIXED, _Places(asking, facts)(_MIG), f"pool `{asking.name}` needs")
    asked = value_at(plan.cluster.spec.stack.values, _STRATEGY) if facts.release is not None else None
    if not isinstance(asked, str):
        return None

    def at(note: str | None = None, /) -> Location:
        return facts.file.locate(f"/spec/stack/values/{'/'.join(_STRATEGY)}", note)

    return Said(asked, at, "`stack.values` asks for")


def _sharing(pool: PoolPlan, at: _Places) -> Said[Shared] | None:
    sharing = pool.profile.spec.sharing
    slicing, mps = sharing.time_slicing, sharing.mps
    if slicing is None and mps is None:
        return None
    places = {} if mps is None else {"mps": at(f"{_SHARING}/mps/replicas")}
    for index, name in enumerate(slicing.shared if slicing is not None else ()):
        pointer = f"{_SLICING}/resources/{index}/resource" if slicing and slicing.resources else f"{_SLICING}/resource"
        places[name] = at(pointer if (slicing and slicing.resources) or name != _WHOLE else _SHARING)
    shared = Shared(
        time_slicing=dict(slicing.shared) if slicing is not None else {},
        mps={_WHOLE: mps.replicas} if mps is not None else {},
        time_slicing_at=at(_SLICING),
        mps_at=at(f"{_SHARING}/mps"),
        at=places,
    )
    return Said(shared, at(_SHARING), "sharing")


def _vgpu(pool: PoolPlan, at: _Places) -> Said[str] | None:
    layout = pool.profile.spec.gpu.vgpu
    return None if layout is None or layout.devices else Said(layout.layout, at("/spec/gpu/vgpu/layout"), "gpu.vgpu")
