"""What the MIG manager makes of a GPU that asks for one of the operator's layouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern
from poolsmith.fleet.plan.sharing.mig_placements import device_ids, most_instances, profile_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.gpu.catalog import Catalog
    from poolsmith.gpu.catalog.gpus import GpuEntry


UNIFORM = pattern(r"all-(?P<profile>\d+g\..+)\Z")
_BALANCED = "all-balanced"
_SHARES = {7: {1: 2, 2: 1, 3: 1}, 4: {1: 2, 2: 1}}
"""How many instances of which slices, by the compute slices of a GPU. NVIDIA/mig-parted@bd7160f4:pkg/mig/builder."""


def is_generated(release: str) -> bool:
    """Whether the MIG manager of a release makes layouts of what the driver of a node lists."""
    return not is_older(release, store.table("mig_layouts.yaml")["generatedSince"])


def groups_for(
    catalog: Catalog, layout: str, release: str | None, entry: GpuEntry | None, ids: Iterable[str]
) -> list[dict[str, Any]] | None:
    """The groups of a layout that GPUs of a product get, without the filter; [] where it leaves them as they are.

    `ids` are the PCI device ids that they may have; without a release, layouts are those of the newest. None where
    nobody knows: ids that get different things, a GPU that the catalog does not have.
    """
    if entry is not None and release is not None and is_generated(release):
        made = _made_of(layout, entry)
        if made is not None:
            return made
    shipped = catalog.mig_geometry.get(layout) if release is None else catalog.mig_layout(layout, release)
    if shipped is None:
        return [] if entry is not None and entry.mig_profiles else None
    return groups_of(shipped, ids)


def groups_of(groups: list[dict[str, Any]], ids: Iterable[str]) -> list[dict[str, Any]] | None:
    """Those groups of a layout that are for GPUs with the ids, without their filters; None where ids differ in that."""
    if not any(group.get("device-filter") for group in groups):
        return groups
    of_each = [_groups_of(groups, device) for device in ids]
    if not of_each or any(found != of_each[0] for found in of_each):
        return None
    return of_each[0]


def of_each_gpu(groups: Iterable[dict[str, Any]], count: int) -> list[dict[str, Any] | None]:
    """The group that decides for each GPU of a node: the last that names it; None where it keeps what it has."""
    found: list[dict[str, Any] | None] = [None] * count
    for group in groups:
        devices = group["devices"]
        for index in range(count) if devices == "all" else devices if isinstance(devices, list) else ():
            if isinstance(index, int) and 0 <= index < count:
                found[index] = group if group.get("mig-devices") else {**group, "mig-devices": {}}
    return found


def _groups_of(groups: list[dict[str, Any]], device: str) -> list[dict[str, Any]]:
    return [
        {key: value for key, value in group.items() if key != "device-filter"}
        for group in groups
        if not group.get("device-filter") or device in device_ids(group["device-filter"])
    ]


def _made_of(layout: str, entry: GpuEntry) -> list[dict[str, Any]] | None:
    """A layout that the MIG manager makes of the profiles that the driver lists."""
    known = entry.mig_profiles
    if (match := UNIFORM.match(layout)) is not None:
        profile = profile_named(match["profile"], known)
        most = most_instances(profile, known) if profile is not None else None
        return [_group({profile: most})] if profile is not None and most else None
    if layout != _BALANCED or not known:
        return None
    # the profiles without attributes, of each number of slices the one of which a GPU has most
    plain = [(int(profile.split("g.")[0]), profile) for profile in known if profile.endswith("gb")]
    shares = _SHARES.get(max(slices for slices, _ in plain))
    if shares is None:
        return None
    best: dict[int, str] = {}
    for slices, profile in plain:
        held = most_instances(profile, known)
        if held is None:
            return None
        if slices not in best or held > (most_instances(best[slices], known) or 0):
            best[slices] = profile
    return [_group({best[slices]: count for slices, count in shares.items()})] if shares.keys() <= best.keys() else []


def _group(devices: dict[str, int]) -> dict[str, Any]:
    return {"devices": "all", "mig-enabled": True, "mig-devices": devices}
