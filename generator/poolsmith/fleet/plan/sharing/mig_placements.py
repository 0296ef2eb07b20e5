"""Whether MIG instances fit on one GPU: a search over the places where each profile can start."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_PROFILE = pattern(r"(?P<slices>\d+)g\.(?P<memory>\d+)gb(?P<more>.*)", re.ASCII)
_EXTENDED = ("+me", "+me.all")
"""Media extensions, of which a GPU has one set."""
_ALL_ENGINES, _NO_ENGINES = "+me.all", "-me"
_MOST = 8
"""No GPU has more instances."""


def misfit(counts: Mapping[str, int], known: Sequence[str]) -> str | None:
    """Why a GPU with the profiles `known` can't hold `counts` instances of each; None where it can, or nobody knows."""
    table = _table(known)
    if table is None or not all(_PROFILE.fullmatch(profile) for profile in counts):
        return None
    places = table["profiles"]
    if any(_kind(profile, known) not in places for profile in counts):
        return None
    extended = [profile for profile in counts if _more(profile) in _EXTENDED]
    if sum(counts[profile] for profile in extended) > 1:
        return f"a GPU holds one instance with media extensions, and these are {_counted(counts, extended)}"
    wanted = [kind for profile, count in counts.items() for kind in [_kind(profile, known)] * min(count, _MOST + 1)]
    sizes = sorted(wanted, key=lambda kind: (-places[kind]["size"], kind))
    if len(wanted) > _MOST or not _fits(sizes, places, 0, (None, 0)):
        return f"{_counted(counts, counts)} do not fit on one GPU"
    return _engines(counts, known, table)


def misfit_everywhere(counts: Mapping[str, int], devices: Iterable[str] | None) -> tuple[str, tuple[str, ...]] | None:
    """Why no GPU can hold the instances, and the GPUs that have such profiles; None where one can, or nobody knows.

    `devices` are the PCI device ids that a filter names: then each of their GPUs has to hold them.
    """
    from poolsmith.gpu.catalog.gpus import gpus_from  # on demand

    every = gpus_from(store.read_yaml("gpus.yaml")).entries
    entries = [entry for entry in every if set(counts) <= set(entry.mig_profiles)]
    if devices is not None:
        wanted = set(devices)
        entries = [entry for entry in entries if any(device.id in wanted for device in entry.devices)]
    found = [(why, entry) for entry in entries if (why := misfit(counts, entry.mig_profiles)) is not None]
    if not found or (devices is None and len(found) < len(entries)):
        return None
    return found[0][0], tuple(entry.product for _, entry in found)


@cache
def known_profiles() -> dict[tuple[int, int], tuple[str, ...]]:
    """The GPUs by slices and gigabytes of a profile that they have; none where only vendors' layouts have it."""
    from poolsmith.gpu.catalog.gpus import gpus_from  # on demand

    found: dict[tuple[int, int], dict[str, None]] = {}
    for entry in gpus_from(store.read_yaml("gpus.yaml")).entries:
        for profile in entry.mig_profiles:
            found.setdefault(_size(profile), {})[entry.product] = None
    for profile in store.read_yaml("mig_layouts.yaml")["otherProfiles"]:
        found.setdefault(_size(profile), {})
    return {size: tuple(products) for size, products in found.items()}


def _size(profile: str) -> tuple[int, int]:
    match = _PROFILE.fullmatch(profile)
    assert match is not None, "the catalog's profiles are all of this form"
    return int(match["slices"]), int(match["memory"])


def device_ids(device_filter: str | list[str]) -> set[str]:
    """`0x233110DE`, or a list of such, as device ids of the catalog."""
    entries = [device_filter] if isinstance(device_filter, str) else device_filter
    return {entry.lower().removeprefix("0x").removesuffix("10de") for entry in entries if isinstance(entry, str)}


@cache
def most_instances(profile: str, known: tuple[str, ...]) -> int | None:
    """How many instances of one profile a GPU holds; None where nobody knows."""
    if _table(known) is None or misfit({profile: _MOST + 1}, known) is None:
        return None
    return max((count for count in range(1, _MOST + 1) if misfit({profile: count}, known) is None), default=0)


def profile_named(name: str, known: Iterable[str]) -> str | None:
    """The profile that the name of a layout means (`1g.24gb.me` is 1g.24gb+me); None where a GPU has none such."""
    return next((profile for profile in known if profile == name or profile.replace("+", ".") == name), None)


def _counted(counts: Mapping[str, int], profiles: Any) -> str:
    return ", ".join(f"{counts[profile]} x {profile}" for profile in profiles)


def _fits(wanted: list[str], places: Mapping[str, Any], taken: int, before: tuple[str | None, int]) -> bool:
    """Whether the instances find places beside the slices of memory that are taken (one bit for each).

    Of equal instances, which stand together, each starts after the one before: their order makes no difference.
    """
    if not wanted:
        return True
    kind, *others = wanted
    last, least = before
    for start in places[kind]["starts"]:
        slices = ((1 << places[kind]["size"]) - 1) << start
        if kind == last and start < least:
            continue
        if not slices & taken and _fits(others, places, taken | slices, (kind, start)):
            return True
    return False


def _engines(counts: Mapping[str, int], known: Sequence[str], table: Mapping[str, Any]) -> str | None:
    """Why a GPU has too few engines for media, where its profiles say who has them."""
    if not any(_more(profile) in (_ALL_ENGINES, _NO_ENGINES) for profile in known):
        return None
    there: int = table["engines"]
    taken = sum(_engines_of(profile, there) * count for profile, count in counts.items())
    if taken <= there:
        return None
    return f"{_counted(counts, counts)} want {taken} engines of a kind for media, and a GPU has {there}"


def _engines_of(profile: str, there: int) -> int:
    found = _PROFILE.fullmatch(profile)
    assert found is not None, "only profiles of this form come here"
    return {_NO_ENGINES: 0, _ALL_ENGINES: there}.get(found["more"], int(found["slices"]))


def _kind(profile: str, known: Sequence[str]) -> str:
    """The row of the table: its compute slices, and whether it has more memory than the least of one slice."""
    found = _PROFILE.fullmatch(profile)
    assert found is not None, "only profiles of this form come here"
    if found["slices"] != "1":
        return f"{found['slices']}g"
    least = min(int(item["memory"]) for item in map(_PROFILE.fullmatch, known) if item and item["slices"] == "1")
    return "1g" if int(found["memory"]) <= least else "1g.wide"


def _more(profile: str) -> str:
    found = _PROFILE.fullmatch(profile)
    return found["more"] if found else ""


def _table(known: Sequence[str]) -> dict[str, Any] | None:
    slices = [int(found["slices"]) for found in map(_PROFILE.fullmatch, known) if found]
    if not slices or min(slices) != 1:
        return None
    found: dict[str, Any] | None = _placements().get(str(max(slices)))
    return found


@cache
def _placements() -> dict[str, Any]:
    return {str(slices): table for slices, table in store.read_yaml("mig_layouts.yaml")["placements"].items()}
