"""What becomes of each object of a pair: as `poolsmith diff` says before the merge, and as the real engine did.

A prediction names every object that goes, comes again or appears, whether a hook of a chart runs, and which new objects of
the delivery do nothing. What it does not name stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from engines.judged import Happened, Report, is_of_stack
from engines.pairs import BEFORE, Fleet

_CHARTS = {
    "gpu-operator": ("gpu-operator", "cluster-policy", "clusterpolicies.", "nvidiadrivers."),
    "device-plugin": ("nvidia-device-plugin",),
    "node-feature-discovery": ("node-feature-discovery",),
    "dcgm-exporter": ("dcgm-exporter",),
}
"""How the names of the objects of each chart begin, by the unit that installs it."""
_INSTALL = ("HelmRelease", "Application")
_DEFINITION = "CustomResourceDefinition"
_OF_CHARTS = ("Deployment", "DaemonSet", "ClusterPolicy", _DEFINITION)
_HOOK, _CASCADE = "post-delete hook", "resources-finalizer"
_UNLESS = "unless the old folder is gone before"
"""As it is on Argo CD 3.2.0, where what holds the delivery is pointed at the new folder after the merge."""


@dataclass(frozen=True)
class Fates:
    """`gone`: not there in the end. `again`: there in the end, and not in between. `made`: was not there before.

    `refused` are new objects of the delivery that install nothing.
    """

    gone: frozenset[str]
    again: frozenset[str]
    made: frozenset[str]
    refused: frozenset[str]
    has_hook: bool

    @property
    def words(self) -> str:
        """One line for people."""
        some = (
            ("gone", self.gone),
            ("gone, and there again", self.again),
            ("made", self.made),
            ("refused or without effect", self.refused),
        )
        parts = [f"{what}: {', '.join(f'`{name}`' for name in sorted(names))}" for what, names in some if names]
        return "; ".join(parts + (["a post-delete hook runs"] if self.has_hook else [])) or "all is kept"


@dataclass(frozen=True)
class Stack:
    """Names of what stood before a merge, and of what is there after it."""

    stood: frozenset[str]
    there: frozenset[str]


def seen_fates(run: Mapping[str, Any]) -> tuple[Stack, Fates]:
    """Of all steps of a merge together; those before it made what is its base."""
    steps = [step for step in run["steps"] if step["name"] not in BEFORE]
    first, last = steps[0], steps[-1]
    stood = _of_stack(first["kept"], first["deleted"], first["replaced"])
    there, went, new = stood, frozenset[str](), frozenset[str]()
    for step in steps:
        gone = _of_stack(step["deleted"], step["replaced"], step["leaving"])
        went, new = went | gone, new | {*step["made"], *step["replaced"]}
        there = (there - {*step["deleted"]}) | _of_stack(step["made"])
    unwell = {name for name in Happened(last).unwell if name.startswith(_INSTALL) and name in new}
    fates = Fates(
        gone=went & stood - there,
        again=went & stood & there,
        made=there - stood,
        refused=frozenset(unwell),
        has_hook=any(step["jobs"] for step in steps),
    )
    return Stack(stood, there), fates


def _of_stack(*names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for some in names for name in some if is_of_stack(name))


def told_fates(report: Report, base: Fleet, stack: Stack) -> Fates:
    """`stack` only says how the objects of charts are called."""
    found = [item for cluster in report["clusters"] for item in cluster["delivery"]]
    inner, outer = _fates_of_objects(found), list(_fates_of_charts(found, base, stack))
    told: dict[str, set[str]] = {key: set() for key in ("gone", "again", "made")}
    for fate, name in (*inner, *outer):
        told[fate].add(name)
    return Fates(
        **{key: frozenset(names) for key, names in told.items()},
        refused=frozenset(f"{item['kind']}/{item['name']}" for item in found if _does_nothing(item)),
        has_hook=any(
            _HOOK in item["words"] and _UNLESS not in item["words"]
            for item in found
            if item["verb"] in ("uninstall", "replace")
        ),
    )


def _does_nothing(item: Mapping[str, Any]) -> bool:
    return not item["within"] and (item["verb"] == "refuse" or item["words"].startswith(_LEFT_ALONE))


_LEFT_ALONE = "it is made, Argo CD leaves it alone"
_OF_VERBS = {"delete": "gone", "replace": "again", "create": "made"}
_OBSERVED = ("Namespace", "NVIDIADriver", "DaemonSet", "Deployment")


def _fates_of_objects(found: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [
        (_OF_VERBS[item["verb"]], "/".join(filter(None, (item["kind"], item["namespace"], item["name"]))))
        for item in found
        if item["within"] and item["verb"] in _OF_VERBS and item["kind"] in _OBSERVED
    ]


def _fates_of_charts(found: Iterable[Mapping[str, Any]], base: Fleet, stack: Stack) -> Iterator[tuple[str, str]]:
    found = [item for item in found if not item["within"]]
    made = {_unit(item) for item in found if item["verb"] == "create"}
    for item in found:
        unit = _unit(item)
        if not unit:
            continue
        there = {name for name in stack.stood if _is_of(name, unit)}
        old = {name for name in there if not name.startswith(_DEFINITION)}
        new = {name for name in stack.there if _is_of(name, unit)} - there
        if item["verb"] == "uninstall" and (item["kind"] == "HelmRelease" or _CASCADE in item["words"]):
            yield from (("again" if unit in made else "gone", name) for name in old)
        elif item["verb"] == "replace":
            yield from (("gone", name) for name in old if name.count("/") == 2)
            yield from (("again", name) for name in old if name.count("/") == 1 and item["kind"] == "HelmRelease")
            yield from (("made", name) for name in new)
        elif item["verb"] == "create":
            yield from (("made", name) for name in new)


def _unit(item: Mapping[str, Any]) -> str:
    """Of an object that installs a chart; empty for others."""
    name = item["name"].removesuffix("-chart")
    return next((unit for unit in _CHARTS if item["kind"] in _INSTALL and name.endswith(f"-{unit}")), "")


def _is_of(name: str, unit: str) -> bool:
    kind, _, rest = name.partition("/")
    return kind in _OF_CHARTS and rest.rpartition("/")[2].startswith(_CHARTS[unit])
