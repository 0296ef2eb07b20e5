"""Labels that NVIDIADriver objects select by, and that nothing writes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import join
from poolsmith.guard.rules.names.known_labels import is_well_known, labels_of_rules
from poolsmith.guard.rules.names.need import NODE_LABEL, Names, Need, Offer, State, Supply, judged, spelled
from poolsmith.guard.rules.names.spelling import Spelling
from poolsmith.guard.rules.setup.driver_setup import driver_setup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.driver_setup import DriverSetup
    from poolsmith.guard.rules.setup.setup_view import SetupView

RULE = RuleInfo.of("PSM264")
NEEDS: tuple[str, ...] = ()
_SELECTING = ("NVIDIADriver", "ClusterPolicy", "DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob", "Pod")
_RULES = ("NodeFeatureRule", "NodeFeatureGroup")
_DEEPEST, _FEW = 40, 3
_ASSIGNED = pattern(r"(?<![A-Za-z0-9./_-])[./_-]*+([A-Za-z0-9][A-Za-z0-9./_-]*+)=")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    setup = driver_setup(view)
    if setup.uses_objects is False:
        return
    written = _Labels(view, setup)
    for key, position in _keys(setup).items():
        item = setup.objects[position]
        pointer = join("/spec/nodeSelector", key)
        need = Need(kind=NODE_LABEL, name=key, who=item.shown, locate=item.at, pointer=pointer)
        verdict = judged(need, (), Supply(known=written, owns=bool, spelled=written.spelled))
        if verdict.state is not State.SUPPLIED:
            near = f"did you mean `{verdict.offer.name}`?" if verdict.offer is not None else None
            yield Finding(
                message=f"{item.shown} selects by the label `{key}`, which nothing here writes"
                + (", and no node has it" if view.nodes else ""),
                place=need.place,
                help=near,
            )
    yield from _of_values(view, setup, written)


def _of_values(view: SetupView, setup: DriverSetup, written: _Labels) -> Iterator[Finding[Location]]:
    """Of labels that rules alone write, each with values that they know."""
    of_rules = list(labels_of_rules(item for kind in _RULES for item in view.of_kind(kind)))
    judge = Names(of_rules, ()).verdict
    for item in setup.objects if of_rules else ():
        for key, value in (item.stated or {}).items():
            need = Need(
                kind=NODE_LABEL,
                name=key,
                locate=item.at,
                pointer=join("/spec/nodeSelector", key),
                values=(value,),
            )
            verdict = judge(need)
            if verdict.state is State.LACKS_KEY and verdict.offer is not None and not written.are_by_others(key):
                values = sorted(cast("frozenset[str]", verdict.offer.keys))
                yield Finding(
                    message=f"{item.shown} selects nodes with `{key}: {shorten(value)}`, and the rules here write "
                    f"{listed(map(shorten, values), _FEW)}",
                    place=need.place,
                    help=f"write `{shorten(values[0])}`",
                )


class _Labels:
    """What files and nodes say of labels; the files are read where no node and no well-known writer has one."""

    def __init__(self, view: SetupView, setup: DriverSetup) -> None:
        self._view, self._nodes = view, setup.nodes

    @cached_property
    def _written(self) -> set[str]:
        return _written(self._view) | self._view.labels_said

    def __contains__(self, key: object) -> bool:
        name = str(key)
        return is_well_known(name) or any(name in node.labels for node in self._nodes) or name in self._written

    def are_by_others(self, name: str) -> bool:
        """Whether something else than a rule may give it another value."""
        is_of_nodes = any(name in node.labels for node in self._nodes)
        return is_well_known(name) or is_of_nodes or name in self._view.labels_said

    @cached_property
    def _spelling(self) -> Spelling:
        return Spelling(sorted(self._written))

    def spelled(self, name: str) -> Offer | None:
        return spelled(NODE_LABEL, self._spelling, name)


def _keys(setup: DriverSetup) -> dict[str, int]:
    """Each label, with the first object that selects by it."""
    found: dict[str, int] = {}
    for position, item in enumerate(setup.objects):
        for key in item.stated or {}:
            found.setdefault(key, position)
    return found


def _written(view: SetupView) -> set[str]:
    """Labels that rules of NFD and templates of nodes write: keys of maps of labels, and those in flags of kubelets."""
    found: set[str] = set()
    pending: list[tuple[Any, bool, int]] = [
        (item.data.get("spec"), False, 0) for item in view.objects if item.kind not in _SELECTING
    ]
    while pending:
        node, are_labels, depth = pending.pop()
        if isinstance(node, dict) and depth < _DEEPEST:
            found.update(key for key in node if are_labels and isinstance(key, str))
            pending.extend(
                (value, isinstance(name, str) and name.lower().endswith("labels"), depth + 1)
                for name, value in node.items()
            )
        elif isinstance(node, list) and depth < _DEEPEST:
            pending.extend((value, False, depth + 1) for value in node)
        elif isinstance(node, str):
            found.update(_ASSIGNED.findall(node))
    return found
