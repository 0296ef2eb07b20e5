"""What the nodes of a setup are, with its values and objects, as the record that rules of every surface look at.

Nodes that are alike are one record, so that a pool of a thousand nodes is told of once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import join, value_at
from poolsmith.core.sources.yaml_reader import read_if_yaml
from poolsmith.gpu.catalog.node_labels import (
    CC_MODE,
    DEVICE_PLUGIN_CONFIG,
    MIG_CONFIG,
    VGPU_CONFIG,
    WORKLOAD,
    WORKLOADS,
)
from poolsmith.gpu.drivers.driver_support import carries_driver
from poolsmith.gpu.pools.pool_record import PoolRecord, Said, Shared
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.setup.device_plugin_config import operator_configs
from poolsmith.guard.rules.setup.node_label_values import layouts_of
from poolsmith.guard.rules.setup.setup_view import takes_operands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.diagnostics.rule_engine import Finding
    from poolsmith.gpu.pools.pool_record import At, PoolRule
    from poolsmith.guard.rules.setup.device_plugin_config import PluginConfigs
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

_SWITCH = "sandboxWorkloads.enabled"
_MODE = "sandboxWorkloads.mode"
_STRATEGY = "mig.strategy"
_OFF = "all-disabled"
_WHOLE = "nvidia.com/gpu"
_LARGEST = 1 << 20
_READ = (WORKLOAD, MIG_CONFIG, DEVICE_PLUGIN_CONFIG, VGPU_CONFIG, CC_MODE)


def judged(rule: PoolRule, view: SetupView) -> Iterator[Finding[Location]]:
    """What a rule says of the nodes of files; pools of profiles are judged where they are planned."""
    if view.is_generated:
        return
    for record in pool_records(view):
        for finding in rule.check(record):
            if not view.is_told(finding.place):
                yield finding


@kept_all
def pool_records(view: SetupView) -> Iterator[PoolRecord]:
    alike: dict[tuple[Any, ...], list[SetupNode]] = {}
    for node in view.nodes or ():
        if takes_operands(node):
            labels = tuple(node.labels.get(key) for key in _READ)
            alike.setdefault((labels, node.runtime, node.arch, node.os_id, node.gpu, node.workload), []).append(node)
    for nodes in alike.values():
        yield _record(nodes, view)


def _record(nodes: list[SetupNode], view: SetupView) -> PoolRecord:
    node = nodes[0]
    at = _Places(node)
    entry = view.catalog.gpus.find(node.gpu) if node.gpu else None
    system = view.catalog.operating_systems.get(node.os_id)
    architecture = view.catalog.gpus.architectures.get(node.architecture or "")
    release = view.operator
    groups = _groups(node, view)
    return PoolRecord(
        name=node.name if len(nodes) == 1 else f"{node.name} and {len(nodes) - 1} like it",
        word=node.word,
        at=at.itself,
        release=view.tag,
        era=None if release is None else view.catalog.sandboxes.eras[release.sandbox_era],
        workload=_workload(node, view, at),
        runtime=Said(node.runtime, at.itself, "the runtime") if node.runtime else None,
        arch=Said(node.arch, at.itself, "the processor") if node.arch else None,
        system=Said(node.os_id, at.itself, "the system") if node.os_id else None,
        own_driver=carries_driver(system) if system is not None else None,
        gpu=None if entry is None else Said(entry, at.itself, "the GPU"),
        capability=None if architecture is None else architecture.capability,
        mig=at.label(MIG_CONFIG),
        partitioned=_is_partitioned(node, groups),
        strategy=_strategy(view),
        sharing=_sharing(node, view),
        advertised=_advertised(groups, view),
        cc_mode=at.label(CC_MODE),
        vgpu=None if view.value("vgpuDeviceManager.config.name") else at.label(VGPU_CONFIG),
    )


class _Places:
    def __init__(self, node: SetupNode) -> None:
        self._node = node

    def itself(self, note: str | None = None, /) -> Location:
        return self._node.place("/metadata/name", note)

    def label(self, key: str) -> Said[str] | None:
        value = self._node.labels.get(key)
        if not value:
            return None

        def at(note: str | None = None, /) -> Location:
            return self.itself(note) if self._node.is_pool else self._node.place(join("/metadata/labels", key), note)

        return Said(value, at, key)


def _workload(node: SetupNode, view: SetupView, at: _Places) -> Said[str] | None:
    """As the operator takes it; Kata where its mode says so."""
    if node.workload is not None:
        return Said(node.workload, at.itself, "workload")
    if view.flag(_SWITCH) is False:
        return Said(WORKLOADS[0], at.itself, "the workload")
    if view.flag(_SWITCH) is None:
        return None
    label, default = at.label(WORKLOAD), view.value("sandboxWorkloads.defaultWorkload")
    known = label if label is not None and label.value in WORKLOADS else None
    asked = known.value if known is not None else default if default in WORKLOADS else WORKLOADS[0]
    if asked == WORKLOADS[1] and view.value(_MODE) == "kata":
        asked = "kata-confidential" if node.labels.get(CC_MODE, "off") not in ("", "off") else "kata"
    return Said(str(asked), at.itself if known is None else known.at, "the workload")


def _strategy(view: SetupView) -> Said[str] | None:
    asked = view.value(_STRATEGY)
    if not isinstance(asked, str) or view.values is None:
        return None

    def at(note: str | None = None, /) -> Location:
        return view.value_location(_STRATEGY, note)

    return Said(asked, at, f"`{_STRATEGY}` says")


def _groups(node: SetupNode, view: SetupView) -> list[dict[str, Any]] | None:
    """The groups of its layout, none where MIG is off; None where nobody can tell."""
    layout = node.labels.get(MIG_CONFIG, "")
    if layout in ("", _OFF):
        return [] if layout or view.flag("migManager.enabled") is not None else None
    layouts = layouts_of(view)
    if layouts is None:
        return None
    from poolsmith.guard.rules.setup.mig_strategy import groups_of_node  # which asks for layouts, too

    return groups_of_node(node, layout, layouts, view)


def _is_partitioned(node: SetupNode, groups: list[dict[str, Any]] | None) -> bool | None:
    """Where nobody can tell which groups its GPUs get, or none is theirs, each layout but one turns MIG on for some."""
    layout = node.labels.get(MIG_CONFIG)
    if not groups:
        return None if layout is None else layout not in ("", _OFF)
    return any(group.get("mig-enabled") is True for group in groups)


def _advertised(groups: list[dict[str, Any]] | None, view: SetupView) -> tuple[str, ...] | None:
    """The resources of its GPUs under the strategy of the values; None where nobody can tell."""
    if groups is None:
        return None
    made = [group for group in groups if group.get("mig-enabled") is True]
    if not made:
        return (_WHOLE,)
    if view.value(_STRATEGY) != "mixed":
        return None
    devices = [group["mig-devices"] for group in made if isinstance(group.get("mig-devices"), dict)]
    names = {"nvidia.com/mig-" + str(profile).replace("+", ".") for profiles in devices for profile in profiles}
    everywhere = all(group.get("devices") == "all" for group in made) and len(made) == len(groups)
    return tuple(sorted(names)) if everywhere else (*sorted(names), _WHOLE)


def _sharing(node: SetupNode, view: SetupView) -> Said[Shared] | None:
    configs = operator_configs(view)
    name = node.labels.get(DEVICE_PLUGIN_CONFIG, configs.default if configs is not None else "")
    text = (configs.texts or {}).get(name) if configs is not None and name else None
    if configs is None or not isinstance(text, str) or len(text) > _LARGEST:
        return None
    sharing = value_at(next(iter(read_if_yaml(text)), None), ("sharing",))
    slicing, mps = (_replicas(sharing, way) for way in ("timeSlicing", "mps"))
    if not slicing and not mps:
        return None
    shared = Shared(
        time_slicing=slicing,
        mps=mps,
        time_slicing_at=_inside(configs, name, text, "sharing.timeSlicing"),
        mps_at=_inside(configs, name, text, "sharing.mps"),
        is_own=False,
    )
    return Said(shared, _inside(configs, name, text, "sharing"), DEVICE_PLUGIN_CONFIG)


def _inside(configs: PluginConfigs, name: str, text: str, path: str) -> At:
    def at(note: str | None = None, /) -> Location:
        from dataclasses import replace  # start-up: only mistakes need it

        found = configs.inside(name, text, path)
        return found if note is None else replace(found, note=note)

    return at


def _replicas(sharing: Any, way: str) -> Mapping[str, int]:
    from poolsmith.gpu.values.device_plugin_config import resource_of  # on demand

    shared = sharing.get(way) if isinstance(sharing, dict) else None
    resources = shared.get("resources") if isinstance(shared, dict) else None
    return {
        resource_of(item.get("name")): item["replicas"]
        for item in (resources if isinstance(resources, list) else ())
        if isinstance(item, dict) and isinstance(item.get("replicas"), int) and isinstance(item.get("name"), str)
    }
