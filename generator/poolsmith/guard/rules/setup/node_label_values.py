"""Labels of nodes whose values nothing of the operator knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.fleet.plan.sharing.mig_placements import device_ids, misfit
from poolsmith.gpu.catalog.label_words import label_mistake
from poolsmith.gpu.catalog.node_labels import (
    CC_MODE,
    DEVICE_PLUGIN_CONFIG,
    GPU_COUNT,
    MIG_CONFIG,
    VGPU_CONFIG,
    WORKLOAD,
    WORKLOADS,
)
from poolsmith.guard.rules.setup.device_plugin_config import operator_configs
from poolsmith.guard.rules.setup.setup_view import takes_operands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.gpus import GpuEntry
    from poolsmith.gpu.catalog.label_words import LabelMistake
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM299")
NEEDS = ("nodes", "values", "release")
_SWITCH = "sandboxWorkloads.enabled"
_MIG_MAP = "migManager.config"
_OFF = ("", "all-disabled", "all-enabled")
_CONFIGURED = "devicePlugin.config.name"
_READERS = (
    (WORKLOAD, WORKLOADS[:1], (_SWITCH,), "it gets the operands for containers"),
    (MIG_CONFIG, ("all-disabled",), ("migManager.enabled",), "nothing of the operator partitions its GPUs"),
    (CC_MODE, ("off",), (_SWITCH, "ccManager.enabled"), "nothing of the operator sets the mode of its GPUs"),
    (VGPU_CONFIG, ("default",), (_SWITCH, "vgpuDeviceManager.enabled"), "nothing of the operator makes vGPUs there"),
    (DEVICE_PLUGIN_CONFIG, (), (_CONFIGURED,), "the device plugin reads no configuration by that label"),
)
"""A label, its values that ask for nothing, the settings without which nobody reads it, and what follows."""
_SIZE = pattern(r"\dg\.\d+gb")
_UNIFORM = pattern(r"all-(?P<profile>\d+g\..+)")
_SHIPPED = "default-mig-parted-config"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.is_generated:
        return  # labels and what they choose come from the same profiles
    configs = operator_configs(view)
    layouts = layouts_of(view)
    for node in view.nodes or ():
        yield from _words(node, view)
        if not takes_operands(node):
            continue
        yield from _unheard(node, view)
        if (layout := node.labels.get(MIG_CONFIG)) and layouts is not None:
            yield from _layout(node, layout, layouts, view)
        config = node.labels.get(DEVICE_PLUGIN_CONFIG)
        if config and configs is not None and configs.texts and config not in configs.texts:
            yield Finding(
                message=f"node `{node.name}` asks for the device plugin's configuration `{config}`, which is not in "
                f"{configs.shown}: the plugin does not start there, or goes on as before",
                place=_at(node, DEVICE_PLUGIN_CONFIG),
                help=did_you_mean(config, configs.texts),
                related=(configs.place("", "the configurations"),),
            )


def _words(node: SetupNode, view: SetupView) -> Iterator[Finding[Location]]:
    """Words that nobody knows, and labels that nothing reads."""
    for key in sorted(node.labels):
        mistake = label_mistake(key, node.labels[key], view.tag)
        if mistake is None:
            continue
        shown = f"the label `{shorten(key)}` of node `{node.name}` has the value `{shorten(node.labels[key])}`"
        yield Finding(
            message=f"{shown}, {_told(key, mistake, view)}",
            place=_at(node, key),
            help=mistake.help,
            severity=Severity.WARNING if mistake.is_dead or _is_unread(key, view) else None,
        )


def _is_unread(key: str, view: SetupView) -> bool:
    return key == WORKLOAD and view.flag(_SWITCH) is not True


def _told(key: str, mistake: LabelMistake, view: SetupView) -> str:
    """A workload that nobody knows counts as the default one of the values."""
    default = view.value("sandboxWorkloads.defaultWorkload")
    if key != WORKLOAD or not isinstance(default, str) or default not in WORKLOADS:
        return mistake.message
    return mistake.message.replace(f"`{WORKLOADS[0]}`", f"`{default}`")


def _unheard(node: SetupNode, view: SetupView) -> Iterator[Finding[Location]]:
    """Labels whose reader is off: what they ask for does not happen."""
    for key, harmless, switches, effect in _READERS:
        asked = node.labels.get(key, "")
        off = next((switch for switch in switches if _is_off(switch, view)), None) if asked else None
        if off is None or asked in harmless or label_mistake(key, asked, view.tag) is not None:
            continue
        yield Finding(
            message=f"node `{node.name}` has the label `{key}: {shorten(asked)}`, and `{off}` is "
            f"{'empty' if off == _CONFIGURED else 'off'}: {effect}",
            place=_at(node, key),
            help=f"write `{off}{'' if off == _CONFIGURED else ': true'}`, or remove the label",
            related=(view.value_location(off),) if view.is_set(off) else (),
            severity=Severity.WARNING,
        )


def _is_off(switch: str, view: SetupView) -> bool:
    """For certain; a name that a ClusterPolicy or whole values leave out is empty."""
    if switch != _CONFIGURED:
        return view.flag(switch) is False
    assert view.values is not None, "NEEDS says so"
    known = view.values.of_policy or not view.values.partial or view.is_set(switch)
    return known and view.flag("devicePlugin.enabled") is True and view.value(switch) in (None, "")


def _layout(
    node: SetupNode, layout: str, layouts: tuple[bool, Mapping[str, Any]], view: SetupView
) -> Iterator[Finding[Location]]:
    own, known = layouts
    entry = view.catalog.gpus.find(node.gpu) if node.gpu else None
    uniform = _UNIFORM.fullmatch(layout)
    if layout not in known and (own or uniform is None or not _is_generated(layout, entry, view)):
        yield Finding(
            message=f"there is no MIG layout `{layout}`, for which node `{node.name}` asks: nothing is partitioned",
            place=_at(node, MIG_CONFIG),
            help=did_you_mean(layout, sorted(known)),
        )
    elif entry is not None and layout not in _OFF and entry.mig is False:
        yield Finding(
            message=f"{entry.product} can't be partitioned with MIG, and node `{node.name}` asks for `{layout}`",
            place=_at(node, MIG_CONFIG),
            help=f"remove the label `{MIG_CONFIG}`",
        )
    elif entry is not None and own:
        groups = known[layout] if isinstance(known[layout], list) else []
        why = next((why for group in groups if (why := _misfit(group, entry)) is not None), None)
        why = why or _beyond(groups, node.labels.get(GPU_COUNT, ""))
        if why is not None:
            yield Finding(
                message=f"the MIG layout `{layout}` of node `{node.name}` can't be made on {entry.product}: {why}",
                place=_at(node, MIG_CONFIG),
                help="ask for fewer or smaller instances, or for another layout",
            )
    elif entry is not None and _is_for_others(layout, entry, view):
        yield Finding(
            message=f"the layout `{layout}` of the release is for other GPUs than {entry.product}: those of node "
            f"`{node.name}` stay as they are",
            place=_at(node, MIG_CONFIG),
            help="ask for another layout, or write one of your own",
        )
    elif entry is not None and uniform is not None and not _has(entry, uniform["profile"]):
        yield Finding(
            message=f"{entry.product} of node `{node.name}` has no MIG profile `{uniform['profile']}`",
            place=_at(node, MIG_CONFIG),
            help="its profiles: " + ", ".join(entry.mig_profiles),
        )


def _is_for_others(layout: str, entry: GpuEntry, view: SetupView) -> bool:
    """Whether a shipped layout filters a product's GPUs out; profiles that a GPU lacks are told by themselves."""
    uniform = _UNIFORM.fullmatch(layout)
    if layout in _OFF or not entry.mig_profiles or (uniform is not None and not _has(entry, uniform["profile"])):
        return False
    from poolsmith.fleet.plan.sharing.mig_geometry import groups_for  # on demand

    assert view.operator is not None, "NEEDS says so"
    ids = sorted(device.id for device in entry.devices)
    return groups_for(view.catalog, layout, view.operator.tag, entry, ids) == []


def _is_generated(layout: str, entry: GpuEntry | None, view: SetupView) -> bool:
    """From some release on the MIG manager makes layouts of what the node's driver lists."""
    assert view.operator is not None, "NEEDS says so"
    if is_older(view.operator.tag, store.table("mig_layouts.yaml")["generatedSince"]):
        return False
    return entry is None or _has(entry, layout.removeprefix("all-"))


def _has(entry: GpuEntry, profile: str) -> bool:
    """Whether a GPU has the profile; True where its profiles are unknown."""
    known = {_plain(item) for item in entry.mig_profiles}
    return not known or _plain(profile) in known


def _has_size(entry: GpuEntry, profile: str) -> bool:
    """Whether a GPU has instances of that size, whatever engines and compute instances; True where nobody knows."""
    size = _SIZE.search(profile)
    return size is None or not entry.mig_profiles or any(size[0] in known for known in entry.mig_profiles)


def _plain(profile: str) -> str:
    return profile.replace("+", ".").replace("-", ".")


def _misfit(group: Any, entry: GpuEntry) -> str | None:
    """Why GPUs of a kind can't be partitioned as a group of somebody's own layout says."""
    devices = group.get("mig-devices") if isinstance(group, dict) else None
    if not isinstance(devices, dict) or not devices or not _is_for(group, entry):
        return None
    if group.get("mig-enabled") is False:
        return "it has devices of GPUs for which MIG is off"
    counts = {name: count for name, count in devices.items() if isinstance(count, int) and count > 0}
    if (lacking := next((name for name in counts if not _has_size(entry, name)), None)) is not None:
        return f"it has no profile `{shorten(lacking)}`"
    if len(counts) < len(devices) or not set(counts) <= set(entry.mig_profiles):
        return None
    return misfit(counts, entry.mig_profiles)


def _beyond(groups: list[Any], count: str) -> str | None:
    """What a layout says of GPUs by number that the node does not have."""
    listed = (group.get("devices") for group in groups if isinstance(group, dict))
    numbers = [index for devices in listed if isinstance(devices, list) for index in devices if isinstance(index, int)]
    if not count.isdecimal() or max(numbers, default=0) < int(count):
        return None
    return f"it names GPU {max(numbers)} of {int(count)}, which begin with 0"


def _is_for(group: dict[str, Any], entry: GpuEntry) -> bool:
    """Whether the filter of a group names every GPU of a product."""
    names = group.get("device-filter") or None
    if names is None:
        return True
    texts = [names] if isinstance(names, str) else names
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return False
    ids = {device.id for device in entry.devices}
    return bool(ids) and ids <= device_ids(texts)


def layouts_of(view: SetupView) -> tuple[bool, Mapping[str, Any]] | None:
    """Whether somebody wrote them, and their groups by name; None where nobody can tell, or nothing reads the label."""
    if view.flag("migManager.enabled") is False or view.operator is None:
        return None
    assert view.values is not None, "NEEDS says so"
    name = view.value(f"{_MIG_MAP}.name")
    if not isinstance(name, str) or name in ("", _SHIPPED):
        known_unset = view.values.of_policy or not view.values.partial or name is not None
        chart = view.catalog.chart(view.catalog.releases.chart_name, view.operator.tag)
        return (False, dict.fromkeys(chart.mig_layouts)) if chart is not None and known_unset else None
    data = view.value(f"{_MIG_MAP}.data") if view.value(f"{_MIG_MAP}.create") is True else _data_of(view, name)
    text = data.get("config.yaml") if isinstance(data, dict) else None
    if not isinstance(text, str):
        return None
    layouts = value_at(next(iter(read_if_yaml(text)), None), ("mig-configs",))
    return (
        (True, {str(key): value for key, value in layouts.items()}) if isinstance(layouts, dict) and layouts else None
    )


def _data_of(view: SetupView, name: str) -> Mapping[str, Any] | None:
    item = next((item for item in view.of_kind("ConfigMap", "") if item.own_name == name), None)
    data = item.data.get("data") if item is not None else None
    return data if isinstance(data, dict) else None


def _at(node: SetupNode, key: str) -> Location:
    """The label's own line in a file of nodes; the name of a pool."""
    return node.location if node.is_pool else node.place(join("/metadata/labels", key))
