"""Layouts for the MIG manager: what mig-parted stops at, and what no GPU can hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, nearest, shorten
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.gpu.values.text_mistake import TextMistake

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.guard.rules.texts.stack_text import StackText

RULE = RuleInfo.of("PSM540")
_FIELDS = ("devices", "device-filter", "mig-enabled", "mig-devices")
_PROFILE = pattern(
    r"(?:(?P<parts>[1-7])c\.)?(?P<slices>[1-9])g\.[1-9]\d{0,3}gb(?P<more>(?:[+-][a-z](?:[a-z.]|[+-][a-z])*+)?)",
    re.ASCII,
)
_FEW, _NEAREST = 3, 2
_SLICES = 7
"""Compute slices of the largest GPU."""
_POSSIBLE = ("1", "2", "3", "4", "7")


def check(texts: tuple[StackText, ...]) -> Iterator[Finding[Location]]:
    from poolsmith.guard.rules.texts.stack_text import Shape  # on demand

    for item in texts:
        if item.shape is Shape.MIG_LAYOUTS:
            yield from item.told(layout_mistakes(item.text) if item.text is not None else mistakes_of(item.data))


def layout_mistakes(text: str) -> Iterator[TextMistake]:
    try:
        documents = read_documents(text)
    except YamlProblem as problem:
        line = problem.position.line - 1 if problem.position else None
        yield TextMistake((), f"it is no YAML: {problem.in_text}", line=line)
        return
    yield from mistakes_of(documents[0] if documents else None)


def mistakes_of(body: Any) -> Iterator[TextMistake]:
    """Of a configuration that is read already."""
    if body is None:
        return
    if not isinstance(body, dict):
        yield TextMistake((), "mig-parted reads a mapping only", "write `version: v1`, and `mig-configs` below it")
        return
    if body.get("version") != "v1":
        yield TextMistake(("version",), "mig-parted reads `version: v1` only", "write `version: v1` at the top")
    for key in body:
        if key not in ("version", "mig-configs"):
            yield TextMistake(
                (key,), f"mig-parted does not know `{shorten(key)}` here", did_you_mean(key, ("mig-configs",))
            )
    layouts = body.get("mig-configs")
    if "mig-configs" in body and (not isinstance(layouts, dict) or not layouts):
        yield TextMistake(("mig-configs",), "`mig-configs` has no layouts", "write layouts by their names")
    for name, entries in layouts.items() if isinstance(layouts, dict) else ():
        if not isinstance(entries, list) or not entries:
            yield TextMistake(("mig-configs", name), f"layout `{shorten(name)}` is no list of groups of GPUs")
            continue
        for index, entry in enumerate(entries):
            place = ("mig-configs", name, index)
            if isinstance(entry, dict):
                yield from _of_entry(entry, place, f"layout `{shorten(name)}`")
            else:
                yield TextMistake(place, f"layout `{shorten(name)}` has an entry that is no mapping")
        yield from _both_modes(entries, ("mig-configs", name), f"layout `{shorten(name)}`")


def _of_entry(entry: dict[str, Any], place: tuple[str | int, ...], layout: str) -> Iterator[TextMistake]:
    for key in entry:
        if key not in _FIELDS:
            yield TextMistake(
                (*place, key), f"{layout}: mig-parted does not know `{shorten(key)}`", did_you_mean(key, _FIELDS)
            )
    misspelt = {nearest(key, _FIELDS) for key in entry if key not in _FIELDS}
    for key in ("devices", "mig-enabled"):
        if key not in entry and key not in misspelt:
            yield TextMistake(place, f"{layout} lacks `{key}`", f"add `{key}`")
    devices, enabled, wanted = (entry.get(key) for key in ("devices", "mig-enabled", "mig-devices"))
    if "devices" in entry and devices != "all" and not _are_numbers(devices):
        yield TextMistake((*place, "devices"), f"{layout}: `devices` is neither `all` nor a list of numbers")
    if entry.get("device-filter") is not None and not _are_texts(entry["device-filter"]):
        yield TextMistake(
            (*place, "device-filter"),
            f"{layout}: `device-filter` is neither a text nor a list of texts",
            'write it in quotes: `device-filter: ["0x20B710DE"]`',
        )
    if enabled is not None and not isinstance(enabled, bool):
        yield TextMistake((*place, "mig-enabled"), f"{layout}: `mig-enabled` is no boolean")
    if enabled is True and wanted is None:
        yield TextMistake(place, f"{layout} switches MIG on and has no `mig-devices`", "add `mig-devices: {}`")
    if "mig-enabled" in entry and not enabled and wanted:
        yield TextMistake((*place, "mig-devices"), f"{layout} has instances, and `mig-enabled` is false")
    if wanted is not None and not isinstance(wanted, dict):
        yield TextMistake((*place, "mig-devices"), f"{layout}: `mig-devices` is no mapping of profiles to numbers")
    elif wanted:
        yield from _of_instances(wanted, (*place, "mig-devices"), layout, entry.get("device-filter"))


def _both_modes(entries: list[Any], place: tuple[str | int, ...], layout: str) -> Iterator[TextMistake]:
    """A GPU of two entries: the manager looks for the mode of each of them when it has set both."""
    modes: dict[Any, bool] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict) or "device-filter" in entry or not isinstance(entry.get("mig-enabled"), bool):
            continue
        devices = entry.get("devices")
        named: list[Any] = ["all"] if devices == "all" else entry["devices"] if _are_numbers(devices) else []
        enabled: bool = entry["mig-enabled"]
        for gpu in named:
            others = modes.items() if gpu == "all" else [(key, modes[key]) for key in ("all", gpu) if key in modes]
            if any(mode is not enabled for _, mode in others):
                told = "every GPU" if gpu == "all" else f"GPU {gpu}"
                yield TextMistake(
                    (*place, index, "devices"),
                    f"{layout} has MIG on and off for the same GPU: an entry before this one says otherwise of {told}",
                    "name each GPU in one entry",
                )
                return
            modes[gpu] = enabled


def _of_instances(
    wanted: dict[str, Any], place: tuple[str | int, ...], layout: str, device_filter: Any
) -> Iterator[TextMistake]:
    from poolsmith.fleet.plan.sharing.mig_placements import lacking, misfit_everywhere  # on demand

    taken, is_counted, filtered = 0, True, _filtered(device_filter)
    for profile, count in wanted.items():
        found = _PROFILE.fullmatch(profile)
        if found is None or found["slices"] not in _POSSIBLE:
            yield TextMistake((*place, profile), f"{layout}: `{shorten(profile)}` is no profile of a GPU instance")
            return
        if count is not None and (isinstance(count, bool) or not isinstance(count, int) or count < 0):
            yield TextMistake((*place, profile), f"{layout}: the number of `{profile}` is no whole number")
            return
        if (nearest := _of_no_gpu(profile)) is not None:
            yield TextMistake(
                (*place, profile),
                f"{layout}: no GPU that is known has `{profile}`",
                f"did you mean {nearest}?",
                Severity.WARNING,
            )
            return
        if found["parts"] is None and filtered and (products := lacking(profile, filtered)):
            yield TextMistake(
                (*place, profile),
                f"{layout}: no GPU of the filter has `{profile}` ({', '.join(products[:_FEW])})",
                "name the GPUs that have it, or write a profile of these",
                Severity.WARNING,
            )
            return
        is_counted = is_counted and found["parts"] is None
        taken += int(found["slices"]) * (count or 0)
    if is_counted and taken > _SLICES:
        yield TextMistake(
            place, f"{layout}: its instances have {taken} compute slices, and a GPU has {_SLICES} at most"
        )
    elif is_counted:
        counts = {profile: count for profile, count in wanted.items() if count}
        nowhere = misfit_everywhere(counts, filtered)
        if nowhere is not None:
            why, products = nowhere
            yield TextMistake(place, f"{layout}: {why} ({', '.join(products)})", "ask for fewer or smaller instances")


def _of_no_gpu(profile: str) -> str | None:
    """The nearest profiles, where no GPU has this one: those with as many slices, and of memory the closest."""
    from poolsmith.fleet.plan.sharing.mig_placements import known_profiles  # on demand

    products = known_profiles()
    slices, memory = _numbers(profile)
    if (slices, memory) in products:
        return None
    near = sorted(
        (size for size in products if size[0] == slices and products[size]), key=lambda size: abs(size[1] - memory)
    )
    told = [f"`{slices}g.{there}gb` ({', '.join(products[slices, there][:_FEW])})" for _, there in near[:_NEAREST]]
    return " or ".join(told) or None


def _numbers(profile: str) -> tuple[int, int]:
    """Compute slices and gigabytes, whatever stands around them."""
    slices, _, memory = (profile.partition("c.")[2] or profile).partition("g.")
    return int(slices), int(memory.partition("gb")[0])


def _filtered(device_filter: Any) -> set[str] | None:
    """The device ids of a filter; an empty one is none."""
    from poolsmith.fleet.plan.sharing.mig_placements import device_ids  # on demand

    return device_ids(device_filter) if device_filter and _are_texts(device_filter) else None


def _are_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str | None) for item in value))


def _are_numbers(devices: Any) -> bool:
    """A number that is empty is 0."""
    return isinstance(devices, list) and all(
        isinstance(item, int | None) and not isinstance(item, bool) for item in devices
    )
