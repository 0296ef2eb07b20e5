"""One need, one offer, and the verdict: supplied, or not, and in which way not."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import field
from enum import Enum
from functools import cached_property
from posixpath import commonprefix
from typing import TYPE_CHECKING, Any, Protocol

from poolsmith.core.diagnostics.flat_words import flatten
from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.record import record
from poolsmith.guard.rules.names.spelling import Spelling, goes_on

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.core.sources.source_file import SourceFile

_DIGITS = str.maketrans("", "", "0123456789")
_LEAST, _FEWEST = 6, 4
DEVICE_CLASS = "DeviceClass"
NODE_LABEL, RESOURCE = "NodeLabel", "Resource"
"""Kinds of what has a name, and is no object: what nodes are labelled with, and what a device plugin gives out."""
_DECLARED_TOGETHER = frozenset(
    (
        "ResourceFlavor",
        "ClusterQueue",
        "EC2NodeClass",
        "PersistentVolumeClaim",
        "PriorityClass",
        "ResourceClaimTemplate",
    )
)
"""Kinds that stand beside who names them: one whose name goes on may be the one that is meant."""
_OF_ONE_TABLE = frozenset(("ResourceFlavor", "ClusterQueue", "EC2NodeClass"))
"""Those of which few are there, so that short names tell enough."""
_BESIDE = frozenset(("ServiceAccount", "NIMCache", "ServingRuntime", "LocalQueue", "ResourceClaimTemplate"))
"""Kinds that are made for who names them: the only one that nobody asks for is meant where it is called after it."""
BUILT_IN = frozenset(
    (
        ("ServiceAccount", "default"),
        ("PriorityClass", "system-cluster-critical"),
        ("PriorityClass", "system-node-critical"),
        ("ConfigMap", "kube-root-ca.crt"),
        *(("Namespace", name) for name in ("default", "kube-system", "kube-public", "kube-node-lease")),
    )
)
"""What Kubernetes makes by itself, in each namespace or for the cluster."""
_RESERVED = "system-"
"""Classes of priority that are called so are Kubernetes' own: the API server takes no others."""


class NamedObject(Protocol):
    """What is needed of a Kubernetes object here."""

    @property
    def data(self) -> dict[str, Any]: ...
    @property
    def kind(self) -> str: ...
    @property
    def group(self) -> str: ...
    @property
    def metadata(self) -> dict[str, Any]: ...
    @property
    def own_name(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def source(self) -> SourceFile | None: ...
    def place(self, pointer: str, note: str | None = None, /) -> Location:
        """Where a pointer leads in the file."""


@record
class Need:
    """`where` is the field as people write it, `who` the object that has it. Without a namespace it is the cluster's,
    or nobody knows. `keys` have to be there, of `values` one (a star: however it begins). `refused` says
    which lines its texts may not have. `or_else` are names that do as well.
    `may_be_absent`: its reader starts without it. `is_sole`: of all that supply it, only one may. `follows`: what is of
    that namespace has its new name written here.

    `pointer` leads to the name, and each key's to the key: `locate` is asked only where something is wrong, for it
    reads the file again.
    """

    kind: str
    name: str
    locate: Callable[[str], Location]
    pointer: str
    where: str = ""
    who: str = ""
    namespace: str | None = None
    keys: Mapping[str, str] = field(default_factory=dict)
    values: tuple[str, ...] = ()
    refused: Mapping[str, str] | None = None
    or_else: tuple[str, ...] = ()
    may_be_absent: bool = False
    follows: str | None = None
    is_sole: bool = False

    @property
    def place(self) -> Location:
        return self.locate(self.pointer)


@record
class Offer:
    """`calls` are names that it does not arrive under: those that it had before something changed it. `keys`, or values
    of a label, are None where nobody can look into it. What is no object of its own is told by `via`, and stands where
    `at` leads."""

    kind: str
    name: str
    namespace: str = ""
    item: NamedObject | None = None
    calls: tuple[str, ...] = ()
    keys: Container[str] | None = None
    via: object = None
    at: Callable[[], Location] | None = None


@record
class Supply:
    """What is known of a kind beside its offers.

    `known` are names that are there. `owns` tells names that nothing else can supply. `spelled` finds what a name is a
    slip of the pen for; without it, that is an offer that nobody asks for.
    """

    known: Container[str] = ()
    owns: Callable[[str], bool] | None = None
    spelled: Callable[[str], Offer | None] | None = None


def spelled(kind: str, names: Spelling, name: str) -> Offer | None:
    """What a name is a slip of the pen for, among all names of a kind."""
    right = names.nearest(name)
    return None if right is None else Offer(kind=kind, name=right)


OPEN = Supply()
WHOLE = Supply(owns=bool, spelled=lambda _: None)
"""Of a kind of which all is known: its names are made up for it, and resemble nothing."""


class State(Enum):
    """How a need stands. The first and the last are good, the one before may be, the others are mistakes."""

    SUPPLIED = "supplied"
    TWICE = "supplied by more than one, where only one may"
    LACKS_KEY = "lacks a key"
    CHANGED = "changed on the way"
    ELSEWHERE = "in another namespace"
    NEAR = "undefined, and another one is near"
    UNDEFINED = "undefined, and all that could supply it is known"
    OUTSIDE = "undefined here"
    EXTERNAL = "from outside, as somebody says"


@record(kw_only=False)
class Verdict:
    """`offer` is what there is instead; `missing` the keys that it lacks; `others` supply it too. `is_guess`: it is
    no plain misspelling of what is asked for."""

    need: Need
    state: State
    offer: Offer | None = None
    missing: tuple[str, ...] = ()
    is_guess: bool = False
    others: tuple[Offer, ...] = ()


class Names:
    """Everything that one cluster is given under a name, and everything that is asked for: each is looked up once.

    `needs` are read once, and later.
    """

    def __init__(
        self, offers: Iterable[Offer], needs: Iterable[Need], supplies: Mapping[str, Supply] | None = None
    ) -> None:
        self._needs = needs
        self._supplies = supplies or {}
        self._by_name: dict[tuple[str, str], list[Offer]] = defaultdict(list)
        self._by_call: dict[tuple[str, str], list[Offer]] = defaultdict(list)
        self._by_place: dict[tuple[str, str], list[Offer]] = defaultdict(list)
        self._verdicts: dict[int, Verdict] = {}
        self._free: dict[tuple[str, str], tuple[dict[str, Offer], Spelling]] = {}
        self._nearest: dict[tuple[str, str, str | None], Offer | None] = {}
        for offer in offers:
            self._by_name[offer.kind, offer.name].append(offer)
            self._by_place[offer.kind, offer.namespace].append(offer)
            for name in offer.calls:
                self._by_call[offer.kind, name].append(offer)

    @cached_property
    def _asked(self) -> set[tuple[str, str, str | None]]:
        """Read where something is not supplied: then others may be what is meant."""
        return {(need.kind, need.name, need.namespace) for need in self._needs}

    def verdict(self, need: Need) -> Verdict:
        """The same need is judged once: the verdict keeps it, so that its identity stays its own."""
        known = self._verdicts.get(id(need))
        if known is None:
            known = self._verdicts[id(need)] = self._judged(need)
        return known

    def _judged(self, need: Need) -> Verdict:
        supply = self._supplies.get(need.kind, OPEN)
        names = (need.name, *need.or_else)
        if (need.kind, need.name) in BUILT_IN or any(name in supply.known for name in names):
            return Verdict(need, State.SUPPLIED)
        if need.kind == "PriorityClass" and need.name.startswith(_RESERVED):
            own = [name for kind, name in sorted(BUILT_IN) if kind == need.kind]
            return Verdict(need, State.NEAR, Offer(kind=need.kind, name=nearest(need.name, own) or own[-1]))
        named = [offer for name in names for offer in self._by_name.get((need.kind, name), ())]
        here = [offer for offer in named if need.namespace is None or offer.namespace in ("", need.namespace)]
        if here:
            return self._opened(need, here)
        changed = self._by_call.get((need.kind, need.name))
        if changed and not named:
            if need.follows == (changed[0].namespace or "default"):
                return self._opened(need, changed)
            return Verdict(need, State.CHANGED, changed[0])
        elsewhere = [offer for offer in named if not self._is_asked(offer)]
        if elsewhere and len(elsewhere) == len(named):
            return Verdict(need, State.ELSEWHERE, elsewhere[0])
        near = None if named else self._near(need)
        if near is not None:
            return Verdict(need, State.NEAR, near, is_guess=not _is_slip(near.name, need.name))
        is_known = supply.owns is not None and supply.owns(need.name)
        return Verdict(need, State.UNDEFINED if is_known else State.OUTSIDE)

    def _opened(self, need: Need, here: list[Offer]) -> Verdict:
        if need.is_sole and len(here) > 1:
            return Verdict(need, State.TWICE, here[0], others=tuple(here[1:]))
        missing = [_missing(need, offer.keys) for offer in here if offer.keys is not None]
        if len(missing) < len(here) or not all(missing):
            return Verdict(need, State.SUPPLIED, here[0])
        return Verdict(need, State.LACKS_KEY, here[0], missing[0])

    def _is_asked(self, offer: Offer) -> bool:
        return (offer.kind, offer.name, offer.namespace) in self._asked

    def _near(self, need: Need) -> Offer | None:
        """One that nobody asks for, and that differs by a slip of the pen; never by a number alone."""
        key = need.kind, need.name, need.namespace
        if key not in self._nearest:
            self._nearest[key] = self._nearest_of(need)
        return self._nearest[key]

    def _nearest_of(self, need: Need) -> Offer | None:
        spelled = self._supplies.get(need.kind, OPEN).spelled
        if spelled is not None:
            return spelled(need.name)
        free, spelling = self._free_in(need.kind, need.namespace or "")
        name = spelling.nearest(need.name) if free else None
        if name is not None and name.translate(_DIGITS) == need.name.translate(_DIGITS):
            name = None
        elif name is None and need.kind in _DECLARED_TOGETHER:
            found = spelling.longer(need.name)
            is_short = min(len(found or ""), len(need.name)) < _LEAST and need.kind not in _OF_ONE_TABLE
            name = None if is_short else found
        elif name is None and need.kind == "ServiceAccount":
            name = next((own for own, offer in free.items() if offer.item is None and _is_of(own, need.name)), None)
        elif name is None and need.kind == "ConfigMap" and free:
            name = spelling.alike(need.name)
        if name is None and need.kind in _BESIDE and len(free) == 1:
            name = next((own for own in free if _is_for(own, need)), None)
        return None if name is None else free[name]

    def _free_in(self, kind: str, namespace: str) -> tuple[dict[str, Offer], Spelling]:
        place = kind, namespace
        if place not in self._free:
            there = [
                offer for where in dict.fromkeys((namespace, "")) for offer in self._by_place.get((kind, where), ())
            ]
            free = {offer.name: offer for offer in there if not self._is_asked(offer)}
            self._free[place] = free, Spelling(free)
        return self._free[place]


def there(place: Location) -> Callable[[str], Location]:
    """Of a need whose place is known."""
    return lambda _: place


def judged(need: Need, offers: Iterable[Offer], supply: Supply = OPEN) -> Verdict:
    """The verdict over one need by itself."""
    return Names(offers, (need,), {need.kind: supply}).verdict(need)


def _is_slip(name: str, said: str) -> bool:
    """Whether one is surely the other, misspelt."""
    is_numbered = name.translate(_DIGITS) == said.translate(_DIGITS)
    return not goes_on(name, said) and not is_numbered and nearest(said, (name,), certain=True) is not None


def _is_for(name: str, need: Need) -> bool:
    """Whether it is called after who needs it, and begins as what is asked for."""
    owner = need.who.partition("/")[2]
    return len(owner) >= _FEWEST and owner in name and len(commonprefix([name, need.name])) >= _FEWEST


def _is_of(account: str, guessed: str) -> bool:
    """Whether a name is that of a chart's account without a part in the middle, as people make one up."""
    name, part = flatten(account), flatten(guessed)
    before = next((index for index, both in enumerate(zip(name, part, strict=False)) if both[0] != both[1]), 0)
    return before >= _LEAST and len(part) - before >= _LEAST and name.endswith(part[before:])


def _missing(need: Need, held: Container[str]) -> tuple[str, ...]:
    if need.values:
        return () if any(_is_held(value, held) for value in need.values) else need.values
    return tuple(key for key in need.keys if key not in held)


def _is_held(value: str, held: Container[str]) -> bool:
    if value.startswith("*") and isinstance(held, frozenset):
        return any(key.endswith(value[1:]) for key in held)
    return value in held
