"""Whether MIG instances fit on one GPU, by the places where each profile can start."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from poolsmith.catalog import store

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PROFILE = re.compile(r"(?P<slices>\d+)g\.(?P<memory>\d+)gb(?P<more>.*)", re.ASCII)
_MEDIA = ("+me", ".me", "+me.all", ".me.all")
_MOST = 8
"""No GPU has more instances."""


def misfit(counts: Mapping[str, int], known: Sequence[str]) -> str | None:
    """Why a GPU with the profiles `known` can't hold `counts` instances of each; None where it can, or nobody knows."""
    table = _table(known)
    if table is None or not all(_PROFILE.fullmatch(profile) for profile in counts):
        return None
    media = [profile for profile in counts if _more(profile) in _MEDIA]
    if sum(counts[profile] for profile in media) > 1:
        return f"a GPU holds one instance with media extensions, and these are {_told(counts, media)}"
    wanted = [kind for profile, count in counts.items() for kind in [_kind(profile, known)] * min(count, _MOST + 1)]
    places = table["profiles"]
    if any(kind not in places for kind in wanted):
        return None
    if len(wanted) <= _MOST and _fits(sorted(wanted, key=lambda kind: -places[kind]["size"]), places, frozenset()):
        return None
    return f"{_told(counts, counts)} do not fit on one GPU"


def _told(counts: Mapping[str, int], profiles: Any) -> str:
    return ", ".join(f"{counts[profile]} x {profile}" for profile in profiles)


def _fits(wanted: list[str], places: Mapping[str, Any], taken: frozenset[int]) -> bool:
    """Whether the instances find places beside the memory slices that are taken; at most 8 of them."""
    if not wanted:
        return True
    kind, *others = wanted
    for start in places[kind]["starts"]:
        slices = frozenset(range(start, start + places[kind]["size"]))
        if slices.isdisjoint(taken) and _fits(others, places, taken | slices):
            return True
    return False


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
