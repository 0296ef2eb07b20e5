"""Passes: MIG layouts, the one MIG strategy of the cluster, and nodes that reboot before they can be partitioned.

A virtual machine can't reset a GPU that is passed through to it, and MIG mode takes a reset.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import compatibility as codes
from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.record import replace
from poolsmith.core.sources.pointer import value_at
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.fleet.plan.facts import map_pools, with_singleton, with_values
from poolsmith.fleet.plan.origin import Derived, FromCatalog
from poolsmith.fleet.plan.plan import ClusterPlan, KubernetesObject, LabelSetting, PoolPlan, ValueSetting
from poolsmith.fleet.plan.sharing.mig_checks import DEVICES, LAYOUT, check_gpu, check_known, check_own, release_tag
from poolsmith.fleet.plan.sharing.mig_geometry import UNIFORM, groups_for, of_each_gpu
from poolsmith.fleet.plan.sharing.mig_placements import device_ids
from poolsmith.fleet.profiles.acknowledged_facts import offers_fact
from poolsmith.fleet.profiles.node_pool import Workload
from poolsmith.gpu.catalog.node_labels import MIG_CONFIG

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.profiles.gpu import Mig


WHOLE_GPU = "nvidia.com/gpu"
MIG_STRATEGY = "MIG strategy"
MIXED = "mixed"
_ALL_WHOLE = "all-disabled"
_WITHOUT_DEVICES = (_ALL_WHOLE, "all-enabled")
_STRATEGY = ("mig", "strategy")
_ASKED = "/spec/stack/values/mig/strategy"
_NO_STRATEGY = "none"


def partition_gpus(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Layouts become node labels; layouts of one's own a MIG manager configuration for the cluster."""
    plan = map_pools(plan, lambda pool: _partition(pool, facts))
    users = [pool for pool in plan.pools if pool.profile.spec.gpu.mig is not None]
    mixed = [pool for pool in users if pool.mig_strategy == MIXED]
    if mixed:
        origin = Derived(
            "mig",
            "a layout with several profiles needs the strategy `mixed`, which is one for the cluster",
            tuple(facts.at_pool(pool, LAYOUT) for pool in mixed),
        )
        plan = with_values(plan, ValueSetting(_STRATEGY, MIXED, origin))
    asked = strategy_of_values(plan, facts)
    sliced = [pool for pool in users if is_partitioned(pool)]
    if sliced and asked == _NO_STRATEGY:
        facts.report_cluster(
            gpu_use.MIG_LAYOUT,
            _ASKED,
            f"under the strategy `{_NO_STRATEGY}` nobody gets slices, and pool `{sliced[0].name}` makes them",
            help=f"remove it, or write `{MIXED}` for slices that have names of their own",
        )
    is_mixed = bool(mixed) or asked == MIXED
    plan = map_pools(plan, lambda pool: _advertise(pool, facts, mixed=is_mixed))
    if mixed and asked is None:
        _tell_renamed(plan, mixed[0], facts)
    if users:
        strategy = MIXED if is_mixed else "single"
        plan = with_singleton(plan, MIG_STRATEGY, strategy, mixed or users, "mig.strategy is one for the cluster")
    own = [pool for pool in users if pool.profile.spec.gpu.mig and pool.profile.spec.gpu.mig.devices]
    return _own_layouts(plan, users, own, facts) if own else plan


def _tell_renamed(plan: ClusterPlan, asking: PoolPlan, facts: Facts) -> None:
    """Pools whose slices would be `nvidia.com/gpu`, and have names of their own because of another pool."""
    for pool in plan.pools:
        known = {item.fact for item in pool.profile.spec.acknowledge}
        fact = offers_fact(pool.resources)
        slicing = pool.profile.spec.sharing.time_slicing
        known |= {offers_fact((name,)) for name in (slicing.shared if slicing is not None else ())}
        if pool.mig_strategy == MIXED or not is_partitioned(pool) or not pool.resources or fact in known:
            continue
        facts.report_pool(
            codes.SINGLETON_CONFLICT,
            pool,
            LAYOUT,
            f"pool `{asking.name}` needs the MIG strategy `{MIXED}`, which is one for the cluster: pool `{pool.name}` "
            f"offers {listed(pool.resources)} because of it, and pods that ask for `{WHOLE_GPU}` find none there",
            help=f"see that its pods ask for these names, and write `mig: {{strategy: {MIXED}}}` in `stack.values`, or "
            f"`acknowledge: [{{fact: {fact}}}]` in the pool; or move one of the pools to another cluster",
            related=((asking, LAYOUT, "makes slices of several sizes"),),
        )


def strategy_of_values(plan: ClusterPlan, facts: Facts) -> Any:
    """What `stack.values` of a cluster with the operator ask for."""
    return value_at(plan.cluster.spec.stack.values, _STRATEGY) if facts.release is not None else None


def _partition(pool: PoolPlan, facts: Facts) -> PoolPlan:
    mig = pool.profile.spec.gpu.mig
    if mig is None:
        return pool
    if pool.profile.spec.workload is not Workload.CONTAINER:
        return pool  # told where sandboxes are planned
    check_gpu(pool, facts)
    if mig.devices:
        check_own(pool, mig, facts)
    else:
        check_known(pool, mig, facts)
    label = LabelSetting(MIG_CONFIG, mig.layout, "provisioner", facts.at_pool(pool, LAYOUT))
    strategy = "single" if _is_uniform(pool, mig, facts) else MIXED
    return replace(pool, labels=(*pool.labels, label), mig_strategy=strategy)


def is_partitioned(pool: PoolPlan) -> bool:
    """Whether any of its GPUs are to have MIG on."""
    mig = pool.profile.spec.gpu.mig
    return mig is not None and mig.turns_on


def _is_uniform(pool: PoolPlan, mig: Mig, facts: Facts) -> bool:
    """Whether the strategy `single` can tell a node's GPUs: all whole, or all in slices of one size."""
    groups = _groups(pool, mig, facts)
    if mig.layout in _WITHOUT_DEVICES and not mig.devices:
        return True
    if groups is None:
        return UNIFORM.match(mig.layout) is not None
    gpus = of_each_gpu(groups, pool.profile.spec.gpu.count)
    if all(gpu is None or not gpu["mig-enabled"] for gpu in gpus):
        return True
    kinds = {tuple(gpu["mig-devices"]) for gpu in gpus if gpu is not None and gpu["mig-enabled"]}
    whole = any(gpu is None or not gpu["mig-enabled"] for gpu in gpus)
    return not whole and len(kinds) == 1 and all(len(kind) == 1 for kind in kinds)


def _groups(pool: PoolPlan, mig: Mig, facts: Facts) -> list[dict[str, Any]] | None:
    """The groups of GPUs of a pool's layout, as the MIG manager reads them; None where nobody knows."""
    if mig.devices:
        return [
            {"devices": group.devices, "mig-enabled": group.mig_enabled, "mig-devices": dict(group.mig_devices)}
            for group in mig.devices
        ]
    entry = facts.catalog.gpus.find(pool.profile.spec.gpu.product)
    return groups_for(facts.catalog, mig.layout, release_tag(facts), entry, sorted(_ids(pool, facts)))


def _advertise(pool: PoolPlan, facts: Facts, *, mixed: bool) -> PoolPlan:
    """What the pool's GPUs and their parts are called; nothing where the catalog can't say."""
    mig = pool.profile.spec.gpu.mig
    if mig is None or pool.mig_strategy is None:
        return replace(pool, resources=(WHOLE_GPU,))
    groups = _groups(pool, mig, facts) or []
    gpus = of_each_gpu(groups, pool.profile.spec.gpu.count) if groups else []
    pool = replace(pool, slices=_counts(gpus, mixed=mixed))
    if not mixed:
        return replace(pool, resources=(WHOLE_GPU,) if mig.layout != "all-enabled" else ())
    found = {WHOLE_GPU for gpu in gpus if gpu is None or not gpu["mig-enabled"]}
    found |= {
        f"nvidia.com/mig-{_resource_name(profile)}"
        for gpu in gpus
        if gpu is not None and gpu["mig-enabled"]
        for profile in gpu["mig-devices"]
    }
    return replace(pool, resources=tuple(sorted(found, key=lambda name: (name == WHOLE_GPU, name))))


def _counts(gpus: list[dict[str, Any] | None], *, mixed: bool) -> tuple[tuple[str, int], ...]:
    found: Counter[str] = Counter()
    for gpu in gpus:
        if gpu is None or not gpu["mig-enabled"]:
            found[WHOLE_GPU] += 1
        else:
            for profile, count in gpu["mig-devices"].items():
                found[f"nvidia.com/mig-{_resource_name(profile)}" if mixed else WHOLE_GPU] += count
    return tuple(sorted(found.items()))


def _resource_name(profile: str) -> str:
    return profile.replace("+", ".")


def _own_layouts(plan: ClusterPlan, users: list[PoolPlan], own: list[PoolPlan], facts: Facts) -> ClusterPlan:
    """One configuration replaces the operator's, so it holds every layout that a pool of the cluster uses."""
    layouts: dict[str, Any] = {"all-disabled": facts.catalog.mig_geometry["all-disabled"]}
    defined: dict[str, PoolPlan] = {}
    for pool in users:
        mig = pool.profile.spec.gpu.mig
        assert mig is not None
        if not mig.devices:
            layouts[mig.layout] = _named(mig.layout, users, facts)
            continue
        geometry = _groups(pool, mig, facts)
        other = defined.setdefault(mig.layout, pool)
        if other is not pool and layouts[mig.layout] != geometry:
            facts.report_pool(
                codes.SINGLETON_CONFLICT,
                pool,
                LAYOUT,
                f"pools `{other.name}` and `{pool.name}` give the layout `{mig.layout}` different devices",
                help="give one of the layouts another name",
                related=((other, LAYOUT, "the other layout"),),
            )
        layouts[mig.layout] = geometry
    text = emit({"version": "v1", "mig-configs": {name: layouts[name] for name in sorted(layouts)}})
    name = f"poolsmith-mig-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    origin = Derived(
        "mig",
        "your own layouts replace the operator's file; the name has a hash, so that a change restarts its pods",
        tuple(facts.at_pool(pool, DEVICES) for pool in own),
    )
    body = config_map(name, plan.namespace, {"config.yaml": text})
    plan = replace(
        plan,
        config_maps=(*plan.config_maps, KubernetesObject(file="mig-layouts.yaml", body=body, origin=origin)),
    )
    return with_values(plan, ValueSetting(("migManager", "config", "name"), name, origin))


def _named(layout: str, users: list[PoolPlan], facts: Facts) -> list[dict[str, Any]]:
    """One of the operator's layouts: as the release ships it, or as its MIG manager would make it for GPUs beside."""
    shipped = _shipped(layout, facts)
    beside: list[dict[str, Any]] = []
    for pool in users:
        mig = pool.profile.spec.gpu.mig
        if mig is None or mig.layout != layout or mig.devices:
            continue
        made = _groups(pool, mig, facts) or []
        ids = _ids(pool, facts)
        if not made or any("device-filter" not in group for group in shipped) or ids <= _filtered(shipped):
            continue
        wanted = [f"0x{device.upper()}10DE" for device in sorted(ids - _filtered(shipped) - _filtered(beside))]
        beside.extend({"device-filter": wanted, **group} for group in made if wanted)
    return [*shipped, *beside]


def _shipped(layout: str, facts: Facts) -> list[dict[str, Any]]:
    tag = release_tag(facts)
    return (facts.catalog.mig_layout(layout, tag) if tag else facts.catalog.mig_geometry.get(layout)) or []


def _ids(pool: PoolPlan, facts: Facts) -> set[str]:
    entry = facts.catalog.gpus.find(pool.profile.spec.gpu.product)
    wanted = pool.profile.spec.gpu.pci_device_id
    return {wanted} if wanted is not None else {device.id for device in entry.devices} if entry is not None else set()


def _filtered(groups: list[dict[str, Any]]) -> set[str]:
    return {device for group in groups if "device-filter" in group for device in device_ids(group["device-filter"])}


def config_map(name: str, namespace: str, data: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


ALWAYS = "always"
VARIABLE = "WITH_REBOOT"
_PATH = ("migManager", "env")
_LAYOUT = "/spec/gpu/mig/layout"


def reboot_nodes(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Where the platform always needs it; who gives the variables of the MIG manager decides by oneself."""
    users = [pool for pool in plan.pools if pool.profile.spec.gpu.mig is not None]
    distribution = facts.distribution
    if not users or distribution is None or distribution.mig_reboot != ALWAYS:
        return plan
    if value_at(plan.cluster.spec.stack.values, _PATH) is not None:
        return plan
    asked = (
        facts.at_cluster("/spec/kubernetes/distribution"),
        *(facts.at_pool(pool, _LAYOUT) for pool in users),
        FromCatalog(f"distributions/{distribution.name}", distribution.source),
    )
    why = f"on {distribution.name} MIG mode changes only when the node reboots"
    value = [{"name": VARIABLE, "value": "true"}]
    return with_values(plan, ValueSetting(_PATH, value, Derived("mig_reboot", why, asked)))
