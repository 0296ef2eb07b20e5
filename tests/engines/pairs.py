"""Random pairs of fleets: what somebody has, and what a change makes of it, for the real engines and for `diff`.

Both sides are choices of the fields by which a delivery can differ. A change gives one field or two another value,
whatever comes of that; each kind of change comes under either engine.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from change.diff.projects import cluster, pool
from engines.scenarios import ARGOCD, FLUX, Files, Scenario, Step
from engines.world import DELIVERY

_PREINSTALLED = "{source: preinstalled, version: 580.126.20}"
_DRIVER = "{{source: container, version: {}}}"
_OLD_DRIVER, _NEW_DRIVER = "580.126.20", "580.95.05"
_PLUGIN = {"kind": "device-plugin", "release": "v0.20.0"}
_MONITORED = {**_PLUGIN, "gpuFeatureDiscovery": "true", "dcgmExporter": "{release: 4.5.3-4.8.2}"}
_OPERATOR = {"release": "v26.3.3", "driverMode": "nvidia-driver"}
_REPOSITORY = '"https://git.example.com/gpu.git"'
BEFORE = ("installed", "the base, of what was installed")
OTHER_ENGINE = {FLUX: ARGOCD, ARGOCD: FLUX}


@dataclass(frozen=True)
class Fleet:
    """One cluster, in the words of its profiles. `pools` are versions of drivers by name, `kept` names that pools have on
    the cluster. `is_guarded`: its output says what must not go by accident, as it did not always.
    """

    engine: str
    name: str = "lab"
    delivery: Mapping[str, str] = field(default_factory=dict)
    stack: Mapping[str, str] = field(default_factory=lambda: _OPERATOR)
    pools: Mapping[str, str] = field(default_factory=dict)
    kept: Mapping[str, str] = field(default_factory=dict)
    is_guarded: bool = True

    @property
    def by_operator(self) -> bool:
        return "kind" not in self.stack

    @property
    def files(self) -> Files:
        given = {"engine": self.engine, "repoURL": _REPOSITORY, **self.delivery}
        text = re.sub(r"delivery: \{.*\}", f"delivery: {_flow(given)}", cluster(self.name))
        files = {f"profiles/{self.name}/cluster.yaml": re.sub(r"stack: \{.*\}", f"stack: {_flow(self.stack)}", text)}
        for name, version in self.pools.items():
            kept = f"spec:\n  objectName: {self.kept[name]}\n" if name in self.kept else "spec:\n"
            text = pool(name, driver=_DRIVER.format(version) if self.by_operator else _PREINSTALLED)
            files[f"profiles/{self.name}/{name}.yaml"] = text.replace("spec:\n", kept)
        return files

    @property
    def reads(self) -> str:
        """The folder of its delivery."""
        return DELIVERY.format(self.name).replace("output/", f"{self.delivery.get('path', 'output')}/", 1)


def _flow(given: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in given.items()) + "}"


def _field(place: str, name: str, *values: str) -> Callable[[Fleet], Fleet]:
    """The field gets the first of the values that it has not; an empty one takes it away."""

    def change(fleet: Fleet) -> Fleet:
        held = dict(getattr(fleet, place))
        value = next(value for value in values if value != held.get(name, ""))
        given = {key: text for key, text in {**held, name: value}.items() if text}
        return replace(fleet, delivery=given) if place == "delivery" else replace(fleet, stack=given)

    return change


def _renamed(fleet: Fleet, *, keeps: bool) -> Fleet:
    kept = {"name": fleet.delivery.get("name", fleet.name)} if keeps else {}
    return replace(fleet, name="rome", delivery={**fleet.delivery, **kept})


def _other_engine(fleet: Fleet) -> Fleet:
    return replace(fleet, engine=OTHER_ENGINE[fleet.engine])


def _other_kind(fleet: Fleet) -> Fleet:
    return replace(fleet, stack=_MONITORED if fleet.by_operator else _OPERATOR)


def _other_units(fleet: Fleet) -> Fleet:
    return replace(fleet, stack=_PLUGIN if fleet.stack == _MONITORED else _MONITORED)


def _pool_added(fleet: Fleet) -> Fleet:
    return replace(fleet, pools={**fleet.pools, "d": _OLD_DRIVER})


def _pool_removed(fleet: Fleet) -> Fleet:
    _, *others = fleet.pools.items()
    return replace(fleet, pools=dict(others or fleet.pools))


def _pool_renamed(fleet: Fleet, *, keeps: bool) -> Fleet:
    (name, version), *others = fleet.pools.items()
    kept = {"e": fleet.kept.get(name, name)} if keeps else {}
    return replace(fleet, pools={"e": version, **dict(others)}, kept={**fleet.kept, **kept})


def _other_driver(fleet: Fleet) -> Fleet:
    return replace(fleet, pools={**fleet.pools, next(iter(fleet.pools)): _NEW_DRIVER})


_Changes = Mapping[str, Callable[[Fleet], Fleet]]
_OF_ANY: _Changes = {
    "cluster renamed": lambda fleet: _renamed(fleet, keeps=False),
    "cluster renamed, names kept": lambda fleet: _renamed(fleet, keeps=True),
    "delivery.name": _field("delivery", "name", "kept", "other"),
    "delivery.namespace": _field("delivery", "namespace", "gitops", ""),
    "delivery.retiring": _field("delivery", "retiring", "keep", "remove"),
    "delivery.repoURL": _field("delivery", "repoURL", '"https://git.example.com/gpu-2.git"'),
    "delivery.revision": _field("delivery", "revision", "refs/heads/stable"),
    "delivery.path": _field("delivery", "path", "out"),
    "delivery.chartRepo": _field("delivery", "chartRepo", '"https://charts.example.com/mirror"'),
    "engine": _other_engine,
    "stack.kind": _other_kind,
    "stack.namespace": _field("stack", "namespace", "gpu-stack", "other-stack"),
    "pool added": _pool_added,
    "pool removed": _pool_removed,
    "pool renamed": lambda fleet: _pool_renamed(fleet, keeps=False),
    "pool renamed, names kept": lambda fleet: _pool_renamed(fleet, keeps=True),
}
_OF_OPERATOR: _Changes = {
    "driver": _other_driver,
    "stack.release": _field("stack", "release", "v26.7.0"),
    "stack.driverMode": _field("stack", "driverMode", "cluster-policy", "nvidia-driver"),
    "stack.values": _field("stack", "values", "{dcgmExporter: {enabled: false}}"),
}
_OF_PLUGIN: _Changes = {"units": _other_units}
_ALL = {**_OF_ANY, **_OF_OPERATOR, **_OF_PLUGIN}


@dataclass(frozen=True)
class Pair:
    """`what` are the changes; `first` is what is installed before the base, where the base itself installs nothing."""

    name: str
    what: tuple[str, ...]
    base: Fleet
    head: Fleet

    @property
    def words(self) -> str:
        """What is there before, as far as it is not by default."""
        base = self.base
        kind = (
            "the operator"
            if base.by_operator
            else "device plugin" + (", monitored" if base.stack == _MONITORED else "")
        )
        given = {key: value for key, value in base.stack.items() if key not in _MONITORED} | base.delivery
        parts = [f"`{key}: {value}`" for key, value in given.items() if value not in _OPERATOR.values()]
        return ", ".join([kind, *parts, *([] if base.is_guarded else ["without guards"])])

    @property
    def scenario(self) -> Scenario:
        base, head = self.base, self.head
        install = Step(BEFORE[0], _running(base).files, hold=base.reads, unguarded=not base.is_guarded)
        steps = [install]
        if base != _running(base):
            steps.append(Step(BEFORE[1], base.files))
        moves = {"hold": head.reads} if head.reads != base.reads else {}
        if moves and base.engine == ARGOCD:
            steps += [Step("merged", head.files), Step("what holds the delivery reads the new folder", **moves)]
        else:
            steps.append(Step("merged", head.files, **moves))
        engines = (base.engine,) if head.engine == base.engine else (base.engine, head.engine)
        return Scenario(self.name, base.engine, ", ".join(self.what), tuple(steps), engines)


def _running(fleet: Fleet) -> Fleet:
    return replace(fleet, delivery={key: value for key, value in fleet.delivery.items() if key != "retiring"})


def _base(rng: random.Random, engine: str, change: str) -> Fleet:
    plugin = change in _OF_PLUGIN or (change in _OF_ANY and rng.random() < 0.25)
    stack = rng.choice((_PLUGIN, _MONITORED)) if plugin else {**_OPERATOR}
    delivery = {}
    if not plugin and rng.random() < 0.3:
        stack["driverMode"] = "cluster-policy"
    if rng.random() < 0.25:
        stack = {**stack, "namespace": "gpu-stack"}
    if rng.random() < 0.25:
        delivery["name"] = "kept"
    if rng.random() < 0.2:
        delivery["retiring"] = rng.choice(("keep", "remove"))
    pools = dict.fromkeys(sorted(rng.sample("abc", rng.randint(1, 2))), _OLD_DRIVER)
    return Fleet(engine, delivery=delivery, stack=stack, pools=pools, is_guarded=rng.random() < 0.7)


def pair(engine: str, number: int) -> Pair:
    """Of a seed: each kind of change in its turn, every other time with a second one."""
    name = f"{engine}-pair-{number:02}"
    rng = random.Random(f"{engine}-{number}")
    first = list(_ALL)[number % len(_ALL)]
    base = _base(rng, engine, first)
    others = {**_OF_ANY, **(_OF_OPERATOR if base.by_operator else _OF_PLUGIN)}
    beside = sorted(name for name in others if name.split(",")[0] != first.split(",")[0] and name != "stack.kind")
    what = [first] + ([rng.choice(beside)] if rng.random() < 0.5 else [])
    return _changed(name, base, what)


_MOVES_AT_ONCE = (
    ("cluster renamed", "stack.namespace"),
    ("engine", "cluster renamed"),
    ("engine", "stack.namespace"),
    ("stack.kind", "cluster renamed"),
    ("pool renamed", "cluster renamed"),
)
"""Where the second hides the first: what is there under another name is hardly known again."""


def moves_at_once(engine: str, number: int) -> Pair:
    name, what = f"{engine}-at-once-{number:02}", _MOVES_AT_ONCE[number]
    return _changed(name, replace(_base(random.Random(name), engine, "driver"), delivery={}), what)


def _changed(name: str, base: Fleet, what: Sequence[str]) -> Pair:
    head = replace(base, is_guarded=True)
    for change in what:
        head = _ALL[change](head)
    return Pair(name, tuple(what), base, head)


_ENGINES = (FLUX, ARGOCD)
PAIRS = (
    *(pair(engine, number) for number in range(len(_ALL)) for engine in _ENGINES),
    *(moves_at_once(engine, number) for number in range(len(_MOVES_AT_ONCE)) for engine in _ENGINES),
)
