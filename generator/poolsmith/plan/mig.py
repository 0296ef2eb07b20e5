"""Pass: MIG layouts, and the one MIG strategy of the cluster."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.catalog.node_labels import MIG_CONFIG
from poolsmith.diagnostics.codes import compatibility as codes
from poolsmith.diagnostics.codes import gpu_use
from poolsmith.diagnostics.suggest import did_you_mean
from poolsmith.plan.facts import map_pools, with_singleton, with_values
from poolsmith.plan.mig_placements import misfit
from poolsmith.plan.origin import Derived
from poolsmith.plan.plan import ClusterPlan, KubernetesObject, LabelSetting, PoolPlan, ValueSetting
from poolsmith.profiles.node_pool import Workload
from poolsmith.sources.yaml_writer import emit

if TYPE_CHECKING:
    from poolsmith.catalog.gpus import GpuEntry
    from poolsmith.plan.facts import Facts
    from poolsmith.profiles.gpu import Mig, MigDevices

WHOLE_GPU = "nvidia.com/gpu"
MIG_STRATEGY = "MIG strategy"
LAYOUT = "/spec/gpu/mig/layout"
DEVICES = "/spec/gpu/mig/devices"
_UNIFORM = re.compile(r"all-(?P<profile>\d+g\..+)\Z")
_WITHOUT_DEVICES = ("all-disabled", "all-enabled")


def partition_gpus(plan: ClusterPlan, facts: Facts) -> ClusterPlan:
    """Layouts become node labels; layouts of one's own a MIG manager configuration for the cluster."""
    plan = map_pools(plan, lambda pool: _partition(pool, facts))
    users = [pool for pool in plan.pools if pool.profile.spec.gpu.mig is not None]
    mixed = [pool for pool in users if pool.mig_strategy == "mixed"]
    if mixed:
        origin = Derived(
            "mig",
            "a layout with several profiles needs the strategy `mixed`, which is one for the cluster",
            tuple(facts.at_pool(pool, LAYOUT) for pool in mixed),
        )
        plan = with_values(plan, ValueSetting(("mig", "strategy"), "mixed", origin))
    plan = map_pools(plan, lambda pool: _advertise(pool, facts, mixed=bool(mixed)))
    if users:
        strategy = "mixed" if mixed else "single"
        plan = with_singleton(plan, MIG_STRATEGY, strategy, mixed or users, "mig.strategy is one for the cluster")
    own = [pool for pool in users if pool.profile.spec.gpu.mig and pool.profile.spec.gpu.mig.devices]
    return _own_layouts(plan, users, own, facts) if own else plan


def _partition(pool: PoolPlan, facts: Facts) -> PoolPlan:
    mig = pool.profile.spec.gpu.mig
    if mig is None:
        return pool
    if pool.profile.spec.workload is not Workload.CONTAINER:
        facts.report_pool(
            gpu_use.SANDBOX_CONTRADICTION,
            pool,
            LAYOUT,
            f"a pool of workload `{pool.profile.spec.workload}` passes whole GPUs through; MIG does not apply",
            help="remove `gpu.mig`",
        )
        return pool
    _check_gpu(pool, facts)
    if mig.devices:
        _check_own(pool, mig, facts)
        profiles = {profile for group in mig.devices for profile in group.mig_devices}
        several = len(profiles) > 1 or any(group.devices != "all" for group in mig.devices)
    else:
        _check_known(pool, mig, facts)
        several = _UNIFORM.match(mig.layout) is None and mig.layout not in _WITHOUT_DEVICES
    label = LabelSetting(MIG_CONFIG, mig.layout, "provisioner", facts.at_pool(pool, LAYOUT))
    return replace(pool, labels=(*pool.labels, label), mig_strategy="mixed" if several else "single")


def _check_gpu(pool: PoolPlan, facts: Facts) -> None:
    entry = facts.catalog.gpus.find(pool.profile.spec.gpu.product)
    if entry is not None and entry.mig is False:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"{entry.product} can't be partitioned with MIG",
            help="remove `gpu.mig`; time slicing shares this GPU: `sharing: {timeSlicing: {replicas: 4}}`",
        )


def _check_known(pool: PoolPlan, mig: Mig, facts: Facts) -> None:
    known = facts.need_chart().mig_layouts
    if mig.layout not in known:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"{facts.need_release().tag} has no MIG layout `{mig.layout}`",
            help=did_you_mean(mig.layout, known) + " A layout of your own goes into `gpu.mig.devices`",
        )
        return
    entry = facts.catalog.gpus.find(pool.profile.spec.gpu.product)
    match = _UNIFORM.match(mig.layout)
    if entry is None or not entry.mig_profiles or match is None:
        return
    profile = _plain(match["profile"])
    if profile not in {_plain(known_profile) for known_profile in entry.mig_profiles}:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"{entry.product} has no MIG profile `{match['profile']}`",
            help="its profiles: " + ", ".join(entry.mig_profiles),
        )


def _check_own(pool: PoolPlan, mig: Mig, facts: Facts) -> None:
    if mig.layout in facts.need_chart().mig_layouts:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"`{mig.layout}` is a layout of the operator; one of your own needs another name",
            help=f"call it `{pool.name}`",
        )
    entry = facts.catalog.gpus.find(pool.profile.spec.gpu.product)
    for index, group in enumerate(mig.devices):
        devices = group.devices
        indices = isinstance(devices, list) and all(isinstance(item, int) and item >= 0 for item in devices)
        if devices != "all" and not (indices and devices):
            facts.report_pool(
                gpu_use.MIG_LAYOUT,
                pool,
                f"{DEVICES}/{index}/devices",
                "`devices` is neither `all` nor a list of GPU indices",
                help="write `devices: all`, or `devices: [0, 1]`",
            )
        elif isinstance(devices, list) and max(devices) >= pool.profile.spec.gpu.count:
            facts.report_pool(
                gpu_use.MIG_LAYOUT,
                pool,
                f"{DEVICES}/{index}/devices",
                f"GPU {max(devices)} does not exist; the nodes have {pool.profile.spec.gpu.count}, counted from 0",
                help="use indices below `gpu.count`",
            )
        _check_counts(pool, index, group, entry, facts)
        for profile in group.mig_devices:
            if entry is not None and entry.mig_profiles and profile not in entry.mig_profiles:
                facts.report_pool(
                    gpu_use.MIG_LAYOUT,
                    pool,
                    f"{DEVICES}/{index}/migDevices/{profile}",
                    f"{entry.product} has no MIG profile `{profile}`",
                    help="its profiles: " + ", ".join(entry.mig_profiles),
                )


def _check_counts(pool: PoolPlan, index: int, group: MigDevices, entry: GpuEntry | None, facts: Facts) -> None:
    """Whether a GPU has places for so many instances; profiles that it lacks are told by themselves."""
    pointer = f"{DEVICES}/{index}/migDevices"
    if not group.mig_enabled and group.mig_devices:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            pointer,
            "MIG is off for these GPUs (`migEnabled: false`), and they are to have instances",
            help="remove `migDevices`, or write `migEnabled: true`",
        )
        return
    known = entry.mig_profiles if entry is not None else ()
    if not known or not set(group.mig_devices) <= set(known):
        return
    if (why := misfit(group.mig_devices, known)) is not None:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            pointer,
            f"{why} ({pool.profile.spec.gpu.product})",
            help="ask for fewer or smaller instances",
        )


def _plain(profile: str) -> str:
    return profile.replace("+", ".").replace("-", ".")


def _advertise(pool: PoolPlan, facts: Facts, *, mixed: bool) -> PoolPlan:
    """What the pool's GPUs and their parts are called; nothing where the catalog can't say."""
    mig = pool.profile.spec.gpu.mig
    if mig is None or pool.mig_strategy is None:
        return replace(pool, resources=(WHOLE_GPU,))
    if not mixed:
        return replace(pool, resources=(WHOLE_GPU,) if mig.layout != "all-enabled" else ())
    groups = [(group.mig_enabled, tuple(group.mig_devices)) for group in mig.devices] or _geometry(pool, mig, facts)
    found = {WHOLE_GPU for enabled, _ in groups if not enabled}
    found |= {
        f"nvidia.com/mig-{_resource_name(profile)}" for enabled, profiles in groups if enabled for profile in profiles
    }
    return replace(pool, resources=tuple(sorted(found, key=lambda name: (name == WHOLE_GPU, name))))


def _geometry(pool: PoolPlan, mig: Mig, facts: Facts) -> list[tuple[bool, tuple[str, ...]]]:
    """What one of the operator's layouts makes of the pool's GPUs."""
    if (match := _UNIFORM.match(mig.layout)) is not None:
        return [(True, (match["profile"],))]
    entry = facts.catalog.gpus.find(pool.profile.spec.gpu.product)
    wanted = pool.profile.spec.gpu.pci_device_id
    ids = {device.id for device in entry.devices if wanted in (None, device.id)} if entry else set()
    found = [
        (bool(group["mig-enabled"]), tuple(group.get("mig-devices", ())))
        for group in facts.catalog.mig_geometry.get(mig.layout, ())
        if "device-filter" not in group or ids & _device_ids(group["device-filter"])
    ]
    return found if len(set(found)) == 1 else []


def _device_ids(device_filter: str | list[str]) -> set[str]:
    """`0x233110DE`, or a list of such, as device ids of the catalog."""
    entries = [device_filter] if isinstance(device_filter, str) else device_filter
    return {entry.lower().removeprefix("0x").removesuffix("10de") for entry in entries}


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
            layouts[mig.layout] = facts.catalog.mig_geometry.get(mig.layout, [])
            continue
        geometry = [
            {
                "devices": group.devices,
                "mig-enabled": group.mig_enabled,
                "mig-devices": dict(group.mig_devices),
            }
            for group in mig.devices
        ]
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


def config_map(name: str, namespace: str, data: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }
