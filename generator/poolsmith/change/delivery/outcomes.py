"""What an engine does with something that leaves its delivery, and how that is known; in one sentence, too."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from poolsmith.change.delivery.objects import ARGO_CD
from poolsmith.core.diagnostics.message_text import joined, plural, shorten
from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from poolsmith.core.diagnostics import Location


class Verb(StrEnum):
    """What an engine does with one object."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    """What it installed goes, and is installed again."""
    ADOPT = "adopt"
    """What is there gets this owner in the place of another, and stays."""
    WAIT = "wait"
    REFUSE = "refuse"
    DELETE = "delete"
    UNINSTALL = "uninstall"
    LEAVE = "leave behind"


@record
class Action:
    """One thing that the engine does between base and change, in one sentence.

    `within` is the unit of the delivery that does it, empty for what holds the delivery. `fields` are pointers of what
    changes and causes it, `place` the line of a profile that does.
    """

    verb: Verb
    kind: str
    namespace: str
    name: str
    within: str
    words: str
    evidence: Evidence
    fields: tuple[str, ...] = ()
    place: Location | None = None


class DepartureOutcome(StrEnum):
    """What happens to something that leaves the delivery; the worst first."""

    UNINSTALLED = "uninstalled"
    """What it installed goes."""
    CONTESTED = "contested"
    """Two owners hold what it installed, or it is unknown what happens to it."""
    DELETED = "deleted"
    """What it applied goes."""
    LEFT = "left"
    """What it installed or applied stays, and nothing updates it any more."""


class Evidence(StrEnum):
    """How an outcome is known."""

    SEEN = "seen"
    """On the real engine."""
    READ = "read"
    """In the engine's source; nobody has tried it."""
    UNKNOWN = "unknown"


@record
class Departure:
    """An object that the base hands to the delivery engine and the change does not, or not in the same place.

    `words` are one sentence of all of it: `headline` says what it means, `cause` why, `effect` what the engine does.
    `drivers` are the pools whose drivers go. `fact` is what an acknowledgement of it names, where it takes one.
    """

    kind: str
    namespace: str
    name: str
    outcome: DepartureOutcome
    verb: Verb
    evidence: Evidence
    headline: str
    leaves: bool
    """Whether the object itself goes; else it stays and installs elsewhere."""
    cause: str
    effect: str
    words: str
    drivers: tuple[str, ...] = ()
    is_chart: bool = False
    fact: str = ""
    acknowledged_by: str = ""
    is_intended: bool = False
    """The base says that it ends so: `delivery.retiring`."""
    place: Location | None = None
    """The line of a profile that causes it, where one is known."""


_FEW, _SHOWN = 3, 6
_DEPARTS = "{headline}{at}: {names} {verb}, {cause}; {effect}{drivers}{evidence}"


def departure_words(found: Sequence[Departure], where: str = "", drivers: str | None = None) -> str:
    """Of departures that are alike but for their names: what it means, what leaves and why, what the engine does, and
    how that is known. `drivers` says where drivers go, if that is on other pools than those of the first."""
    first = found[0]
    names = [f"{item.kind} `{shorten(_full_name(item))}`" for item in found]
    gone = _on_pools(first.drivers) if drivers is None else drivers
    leaves = "leaves the delivery" if len(found) == 1 else "leave the delivery"
    return _DEPARTS.format(
        headline=first.headline,
        at=_spaced(where),
        names=joined(names, _FEW),
        verb=leaves if first.leaves else "stays, and moves",
        cause=first.cause,
        effect=first.effect,
        drivers=f"; the drivers{_spaced(gone)} go with it" if first.drivers else "",
        evidence=_evidence(first),
    )


def action_words(found: Sequence[Action], where: str = "") -> str:
    """Of actions that are alike but for their names."""
    first = found[0]
    names = joined([f"{item.kind} `{shorten(_full_name(item))}`" for item in found], _FEW)
    return f"{names}{where}: {first.words}{_evidence(first)}"


def _full_name(item: Departure | Action) -> str:
    return f"{item.namespace}/{item.name}" if item.namespace else item.name


def _evidence(item: Departure | Action) -> str:
    is_argo = item.kind in ARGO_CD
    if item.evidence is Evidence.SEEN:
        return " (seen on Argo CD 3.2.0 or 3.5.1)" if is_argo else " (seen on Flux 2.9)"
    if item.evidence is Evidence.READ:
        return f" (by the source of {'Argo CD' if is_argo else 'Flux'}, not tried)"
    return " (unknown: not tried)"


def _spaced(text: str) -> str:
    return f" {text}" if text else ""


def _on_pools(pools: Iterable[str]) -> str:
    named = [f"`{shorten(pool)}`" for pool in pools]
    return f"on {plural(len(named), 'pool')} {joined(named, _SHOWN)}" if named else ""
