"""MIG layouts of nodes that the one MIG strategy of the cluster can't tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.node_labels import MIG_CONFIG
from poolsmith.guard.rules.setup.node_label_values import layouts_of
from poolsmith.guard.rules.setup.setup_view import takes_operands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupView

RULE = RuleInfo.of("PSM151")
NEEDS = ("nodes", "values", "release")
_STRATEGY = "mig.strategy"
_SINGLE, _NONE = "single", "none"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    assert view.values is not None, "NEEDS says so"
    strategy = view.value(_STRATEGY)
    if view.is_generated or strategy not in (_SINGLE, _NONE) or (view.values.partial and not view.is_set(_STRATEGY)):
        return
    layouts = layouts_of(view)
    for node in view.nodes or ():
        layout = node.labels.get(MIG_CONFIG)
        if not layout or layouts is None or not takes_operands(node):
            continue
        groups = groups_of_node(node, layout, layouts, view)
        why = _why(groups or [], strategy)
        if why is not None:
            yield Finding(
                message=f"the layout `{layout}` of node `{node.name}` {why}, and `{_STRATEGY}` is `{strategy}`",
                place=node.location if node.is_pool else node.place(join("/metadata/labels", MIG_CONFIG)),
                help="write `mig: {strategy: mixed}`, or give the node a layout with one size",
                related=(view.value_location(_STRATEGY, "one for the cluster"),),
            )


def groups_of_node(
    node: SetupNode, layout: str, layouts: tuple[bool, Mapping[str, Any]], view: SetupView
) -> list[dict[str, Any]] | None:
    """The groups of GPUs of a node that are known."""
    from poolsmith.fleet.plan.sharing.mig_geometry import groups_for, groups_of  # on demand

    own, known = layouts
    entry = view.catalog.gpus.find(node.gpu) if node.gpu else None
    ids = sorted(device.id for device in entry.devices) if entry is not None else []
    if not own:
        assert view.operator is not None, "NEEDS says so"
        return groups_for(view.catalog, layout, view.operator.tag, entry, ids)
    groups = known.get(layout)
    if not isinstance(groups, list) or not all(isinstance(group, dict) and _is_read(group) for group in groups):
        return None
    return groups_of(groups, ids)


def _is_read(group: dict[str, Any]) -> bool:
    """Whether mig-parted reads its filter."""
    names = group.get("device-filter") or []
    return isinstance(names, str) or (isinstance(names, list) and all(isinstance(name, str) for name in names))


def _why(groups: list[dict[str, Any]], strategy: str) -> str | None:
    """What the strategy can't tell; GPUs that no group names are passed over, for nobody says how many there are."""
    enabled = [group for group in groups if group.get("mig-enabled") is True]
    made = [group for group in enabled if isinstance(group.get("mig-devices"), dict)]
    kinds = {profile for group in made for profile, count in group["mig-devices"].items() if count}
    if strategy == _NONE:
        return "makes slices" if kinds else None
    if len(kinds) > 1:
        return f"makes slices of {len(kinds)} sizes"
    listed = [gpu for group in made for gpu in _listed(group)]
    left = [gpu for group in groups if group.get("mig-enabled") is False for gpu in _listed(group) if gpu not in listed]
    return "leaves some GPUs whole" if kinds and left and listed else None


def _listed(group: dict[str, Any]) -> list[Any]:
    devices = group.get("devices")
    return devices if isinstance(devices, list) else []
