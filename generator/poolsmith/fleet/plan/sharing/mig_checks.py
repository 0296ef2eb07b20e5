"""Whether a pool's GPUs can be partitioned as its layout says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics.codes import gpu_use
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.fleet.plan.sharing.mig_geometry import UNIFORM, groups_for, is_generated
from poolsmith.fleet.plan.sharing.mig_placements import misfit, profile_named

if TYPE_CHECKING:
    from poolsmith.fleet.plan.facts import Facts
    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.fleet.profiles.gpu import Mig, MigDevices
    from poolsmith.gpu.catalog.gpus import GpuEntry


LAYOUT = "/spec/gpu/mig/layout"
DEVICES = "/spec/gpu/mig/devices"
_OFF = "all-disabled"


def check_gpu(pool: PoolPlan, facts: Facts) -> None:
    entry = _entry(pool, facts)
    if entry is not None and entry.mig is False:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"{entry.product} can't be partitioned with MIG",
            help="remove `gpu.mig`; time slicing shares this GPU: `sharing: {timeSlicing: {replicas: 4}}`",
        )


def check_known(pool: PoolPlan, mig: Mig, facts: Facts) -> None:
    """One of the operator's layouts: whether the release has it, and it makes something of these GPUs."""
    known = facts.chart.mig_layouts if facts.chart is not None else tuple(facts.catalog.mig_geometry)
    tag, entry = release_tag(facts), _entry(pool, facts)
    match = UNIFORM.match(mig.layout)
    profiles = entry.mig_profiles if entry is not None else ()
    profile = profile_named(match["profile"], profiles) if match is not None else None
    if mig.layout not in known and not (profile is not None and tag is not None and is_generated(tag)):
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"{tag or 'nvidia-mig-parted'} has no MIG layout `{mig.layout}`",
            help=did_you_mean(mig.layout, known) + " A layout of your own goes into `gpu.mig.devices`",
        )
        return
    if entry is None or not profiles or mig.layout == _OFF:
        return
    if match is not None and profile is None:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"{entry.product} has no MIG profile `{match['profile']}`",
            help="its profiles: " + ", ".join(profiles),
        )
        return
    if tag is None:
        return  # which file the hosts have is not known
    wanted = pool.profile.spec.gpu.pci_device_id
    ids = [wanted] if wanted is not None else [device.id for device in entry.devices]
    groups = groups_for(facts.catalog, mig.layout, tag, entry, ids)
    if groups == [] or any(not set(group.get("mig-devices") or ()) <= set(profiles) for group in groups or ()):
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"the layout `{mig.layout}` of {tag} is for other GPUs than {entry.product}: these stay as they are",
            help="give the layout another name, and its devices in `gpu.mig.devices`",
        )


def check_own(pool: PoolPlan, mig: Mig, facts: Facts) -> None:
    if facts.chart is not None and mig.layout in facts.chart.mig_layouts:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            LAYOUT,
            f"`{mig.layout}` is a layout of the operator; one of your own needs another name",
            help=f"call it `{pool.name}`",
        )
    entry = _entry(pool, facts)
    for index, group in enumerate(mig.devices):
        _check_indices(pool, index, group.devices, facts)
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
    _check_each_gpu(pool, mig, facts)


def release_tag(facts: Facts) -> str | None:
    """The operator's; None where none is installed."""
    return facts.release.tag if facts.release is not None else None


def _entry(pool: PoolPlan, facts: Facts) -> GpuEntry | None:
    return facts.catalog.gpus.find(pool.profile.spec.gpu.product)


def _indices(devices: Any) -> list[int] | None:
    """The GPUs that a group names; None where it is no such list."""
    if not isinstance(devices, list) or not devices:
        return None
    if not all(isinstance(item, int) and not isinstance(item, bool) and item >= 0 for item in devices):
        return None
    return devices


def _check_indices(pool: PoolPlan, index: int, devices: Any, facts: Facts) -> None:
    named = _indices(devices)
    if devices != "all" and named is None:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            f"{DEVICES}/{index}/devices",
            "`devices` is neither `all` nor a list of GPU indices",
            help="write `devices: all`, or `devices: [0, 1]`",
        )
    elif named and max(named) >= pool.profile.spec.gpu.count:
        facts.report_pool(
            gpu_use.MIG_LAYOUT,
            pool,
            f"{DEVICES}/{index}/devices",
            f"GPU {max(named)} does not exist; the nodes have {pool.profile.spec.gpu.count}, counted from 0",
            help="use indices below `gpu.count`",
        )


def _check_each_gpu(pool: PoolPlan, mig: Mig, facts: Facts) -> None:
    """mig-parted goes through the groups in order, and holds the modes of the GPUs against each of them afterwards."""
    count = pool.profile.spec.gpu.count
    decided: dict[int, int] = {}
    for index, group in enumerate(mig.devices):
        for gpu in range(count) if group.devices == "all" else _indices(group.devices) or ():
            first = mig.devices[decided.setdefault(gpu, index)]
            if first.mig_enabled == group.mig_enabled and first.mig_devices == group.mig_devices:
                continue
            is_mode = first.mig_enabled != group.mig_enabled
            facts.report_pool(
                gpu_use.MIG_LAYOUT if is_mode else gpu_use.MIG_GPU_GROUPS,
                pool,
                f"{DEVICES}/{index}/devices",
                f"GPU {gpu} is in two groups, "
                + ("with MIG on and off" if is_mode else "with other instances in each: the last of them counts"),
                help="name each GPU in one group",
            )
            return
    left = [gpu for gpu in range(count) if gpu not in decided]
    if left and all(group.devices == "all" or _indices(group.devices) for group in mig.devices):
        told = ", ".join(map(str, left))
        facts.report_pool(
            gpu_use.MIG_GPU_GROUPS,
            pool,
            DEVICES,
            f"no group of the layout `{mig.layout}` names GPU {told} of {count}: what is there stays",
            help=f"add `- {{devices: [{told}], migEnabled: false}}`",
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
