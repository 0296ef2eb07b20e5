"""What leaves the delivery of a cluster: the engine then deletes, uninstalls or forgets it, whatever the profiles say.

An object is the same for the engine while kind, namespace and name are the same. Both what the base would generate and
what its folder has count, whoever wrote that. An engine looks at the object that was applied last.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from poolsmith.change.delivery.effects import Leaving, effect_of, moved_effect
from poolsmith.change.delivery.objects import APPLICATION, ELEMENT, HELM_RELEASE, SOURCES
from poolsmith.change.delivery.outcomes import Departure, DepartureOutcome, Verb, departure_words
from poolsmith.core.record import record
from poolsmith.fleet.profiles.acknowledged_facts import RELEASE, gone_fact
from poolsmith.project.output.delivery_units import delivery_namespace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.delivery.effects import DepartureEffect
    from poolsmith.change.delivery.objects import DeliveryObject, Identity
    from poolsmith.change.review.seen_cluster import SeenCluster
    from poolsmith.core.diagnostics import Location


_ORDER = tuple(DepartureOutcome)


class DepartureCause(Enum):
    """Why something leaves; the pointer leads to the line of the cluster's profile that says so."""

    REMOVED = ""
    RENAMED = "/metadata/name"
    DELIVERY_NAME = "/spec/delivery/name"
    ENGINE = "/spec/delivery/engine"
    NAMESPACE = "/spec/delivery/namespace"
    PROJECT = "/spec/delivery/project"
    RETIRING = "/spec/delivery/retiring"
    DESTINATION = "/spec/delivery/destination"
    KIND = "/spec/stack/kind"
    STACK_NAMESPACE = "/spec/stack/namespace"
    SOURCE = "/spec/delivery/sourceRef"
    UNIT = "/spec"
    BY_HAND = "/"
    """The base holds it, and no profile of the base generates it."""
    TAKEN_OUT = "//"
    """The profiles generate it as before, and the change's output lacks it."""
    EDITED = "///"
    """The profiles ask for it as before, and the change's output has another one."""


@record
class Handed:
    """What one side hands to the engine: as its profiles come to, and as stands in its folder (None: nothing does)."""

    generated: Mapping[Identity, DeliveryObject]
    held: Mapping[Identity, DeliveryObject] | None = None


@record
class DeliveryChange:
    """A cluster of both sides; None of `after` and `now` where it is gone. A renamed one is the same cluster.

    `drivers` are the pools that have driver pods before, `edited` the lines of the cluster's profile that the change
    touches.
    """

    before: SeenCluster
    after: SeenCluster | None
    was: Handed
    now: Handed | None
    drivers: tuple[str, ...] = ()
    edited: tuple[Location, ...] = ()

    @property
    def coming(self) -> dict[Identity, DeliveryObject]:
        """What the engine gets: as the change's output has it where that differs from the base's, whoever wrote it;
        else as its profiles ask for it."""
        if self.now is None:
            return {}
        old, new = self.was.held or {}, self.now.held or {}
        found = {identity: self._merged(identity, item) for identity, item in self.now.generated.items()}
        return found | {key: item for key, item in new.items() if key not in found and old.get(key) != item}

    def _merged(self, identity: Identity, asked: DeliveryObject) -> DeliveryObject:
        old, new = ((side.held or {}).get(identity) for side in (self.was, self.now) if side is not None)
        if new is not None and new != old:
            return new
        return old if old is not None and self.was.generated.get(identity) == asked else asked


def departures(change: DeliveryChange) -> tuple[Departure, ...]:
    """The worst first."""
    found = [*_leaving(change), *_moved(change)]
    return tuple(sorted(found, key=lambda item: (_ORDER.index(item.outcome), item.kind, item.namespace, item.name)))


def _leaving(change: DeliveryChange) -> Iterator[Departure]:
    before, after, was, now = change.before, change.after, change.was, change.now
    generated, held = (now.generated, now.held or {}) if now is not None else ({}, {})
    stood = was.held or {}
    for identity in sorted({*was.generated, *stood}):
        is_taken_out = bool(held) and identity in stood and identity not in held
        if (identity in generated and not is_taken_out) or (identity not in was.generated and identity in held):
            continue
        item = stood.get(identity) or was.generated[identity]
        cause = _cause(before, after, item, by_hand=identity not in was.generated)
        cause = DepartureCause.TAKEN_OUT if identity in generated else cause
        leaving = Leaving(
            item=item,
            before=before,
            after=after,
            instead=_instead(item, generated),
            is_known=identity in stood or item.kind == ELEMENT,
            cause=cause.name,
        )
        yield _departure(change, leaving, cause, effect_of(leaving))


def _instead(item: DeliveryObject, generated: Mapping[Identity, DeliveryObject]) -> DeliveryObject | None:
    """What is to install the same release from now on."""
    for other in generated.values():
        if other.kind == item.kind and other.release is not None and other.release == item.release:
            return other
    return None


def _moved(change: DeliveryChange) -> Iterator[Departure]:
    """What stays for the engine, and would install its chart elsewhere."""
    before, after, was, now = change.before, change.after, change.was, change.now
    if after is None or now is None:
        return
    for identity, new in sorted(change.coming.items()):
        old = (was.held or {}).get(identity, was.generated.get(identity))
        if old is None or old.kind not in (HELM_RELEASE, APPLICATION) or not (old.is_chart or old.destination):
            continue
        target, place = _is_elsewhere(old, new), old.destination != new.destination
        if (old.is_chart and target) or place:
            cause = DepartureCause.DESTINATION if place else DepartureCause.STACK_NAMESPACE
            if cause is DepartureCause.STACK_NAMESPACE and before.plan.namespace == after.plan.namespace:
                cause = DepartureCause.UNIT
            leaving = Leaving(item=old, before=before, after=after, instead=new, is_known=True, cause=cause.name)
            told = cause if new == now.generated.get(identity) else DepartureCause.EDITED
            yield _departure(change, leaving, told, moved_effect(leaving), leaves=False)


def _is_elsewhere(old: DeliveryObject, new: DeliveryObject) -> bool:
    """Whether it is another release to helm-controller; of an Application by its namespace and release name. Which
    chart it is, another object may say."""
    return old.release != new.release or (old.chart != new.chart and bool(old.chart and new.chart))


def _departure(
    change: DeliveryChange, leaving: Leaving, cause: DepartureCause, effect: DepartureEffect, *, leaves: bool = True
) -> Departure:
    item, after = leaving.item, leaving.after
    fact = ""
    drivers = change.drivers if effect.takes_drivers else ()
    is_contested = effect.outcome is DepartureOutcome.CONTESTED
    if (item.is_chart or drivers or is_contested) and effect.outcome is not DepartureOutcome.LEFT and after is not None:
        release = item.release
        fact = (
            gone_fact(item.kind, item.name) if leaves or release is None else gone_fact(RELEASE, "/".join(release[1:]))
        )
    departure = Departure(
        kind=item.kind,
        namespace=item.namespace,
        name=item.name,
        outcome=effect.outcome,
        verb=_verb(effect, leaves=leaves),
        evidence=effect.evidence,
        headline=effect.headline,
        leaves=leaves,
        cause=_cause_words(leaving, cause),
        effect=effect.words,
        words="",
        drivers=drivers,
        is_chart=item.is_chart,
        fact=fact,
        acknowledged_by=_acknowledged_by(leaving, fact),
        is_intended=leaves and leaving.is_intended(effect.outcome),
        place=_place(change, leaving, cause),
    )
    return replace(departure, words=departure_words([departure]))


def _verb(effect: DepartureEffect, *, leaves: bool) -> Verb:
    if effect.outcome is DepartureOutcome.DELETED:
        return Verb.DELETE
    if effect.outcome is DepartureOutcome.UNINSTALLED or effect.may_go:
        return Verb.UNINSTALL if leaves else Verb.REPLACE
    return Verb.LEAVE


def _cause(before: SeenCluster, after: SeenCluster | None, item: DeliveryObject, *, by_hand: bool) -> DepartureCause:
    if after is None:
        return DepartureCause.REMOVED
    old, new = before.plan, after.plan
    was, now = old.cluster.spec, new.cluster.spec
    if old.delivery_name != new.delivery_name:
        return DepartureCause.RENAMED if old.name != new.name else DepartureCause.DELIVERY_NAME
    if by_hand:
        return DepartureCause.BY_HAND
    if was.delivery.engine is not now.delivery.engine:
        return DepartureCause.ENGINE
    if delivery_namespace(old) != delivery_namespace(new):
        return DepartureCause.NAMESPACE
    if item.kind == ELEMENT:
        is_given_up = now.delivery.retiring is not None and was.delivery.retiring is None
        return DepartureCause.RETIRING if is_given_up else DepartureCause.PROJECT
    if was.stack.kind is not now.stack.kind:
        return DepartureCause.KIND
    return (
        DepartureCause.SOURCE
        if item.kind in SOURCES and was.delivery.source_ref != now.delivery.source_ref
        else DepartureCause.UNIT
    )


def _cause_words(leaving: Leaving, cause: DepartureCause) -> str:
    before, after = leaving.before.plan, leaving.after.plan if leaving.after is not None else None
    if after is None:
        return f"because cluster `{before.name}` is gone"
    was, now = before.cluster.spec, after.cluster.spec
    match cause:
        case DepartureCause.RENAMED:
            return f"because cluster `{before.name}` is called `{after.name}` from now on"
        case DepartureCause.DELIVERY_NAME:
            old, new = before.delivery_name, after.delivery_name
            return f"because the delivery is called `{new}` and no longer `{old}`"
        case DepartureCause.ENGINE:
            return f"because the engine is `{now.delivery.engine.value}` and no longer `{was.delivery.engine.value}`"
        case DepartureCause.NAMESPACE:
            old, new = delivery_namespace(before), delivery_namespace(after)
            return f"because the delivery objects are in namespace `{new}` and no longer in `{old}`"
        case DepartureCause.PROJECT:
            return f"because the project is `{now.delivery.project}` and no longer `{was.delivery.project}`"
        case DepartureCause.RETIRING:
            return "because the delivery is given up"
        case DepartureCause.DESTINATION:
            return "because the destination is another one"
        case DepartureCause.KIND:
            return f"because the kind of stack is `{now.stack.kind.value}` and no longer `{was.stack.kind.value}`"
        case DepartureCause.STACK_NAMESPACE:
            return f"because the stack's namespace is `{after.namespace}` and no longer `{before.namespace}`"
        case DepartureCause.SOURCE:
            return "because the delivery reads another source"
        case DepartureCause.TAKEN_OUT:
            return "because the change takes it out of the output by hand, while the profiles ask for it as before"
        case DepartureCause.EDITED:
            return "because the change edits it by hand, while the profiles ask for it as before"
        case DepartureCause.BY_HAND:
            return "because the base holds it, no profile generates it, and the change takes it away"
    return "because nothing in the profiles asks for it any more"


def _place(change: DeliveryChange, leaving: Leaving, cause: DepartureCause) -> Location | None:
    after = leaving.after
    if (
        after is None
        or after.loaded.file is None
        or cause in (DepartureCause.BY_HAND, DepartureCause.TAKEN_OUT, DepartureCause.EDITED, DepartureCause.REMOVED)
    ):
        return None
    if cause is DepartureCause.UNIT:
        return next(iter(change.edited), None)
    return after.loaded.file.locate(cause.value)


def _acknowledged_by(leaving: Leaving, fact: str) -> str:
    """Who has acknowledged it with this change. What stood there before given nothing of it."""
    if not fact or leaving.after is None:
        return ""
    return acknowledged_with(leaving.before, leaving.after, fact)


def acknowledged_with(before: SeenCluster, after: SeenCluster, fact: str) -> str:
    """Who has acknowledged something of the cluster with the change; empty for nobody."""
    known = before.plan.cluster.spec.acknowledge
    given = (item for item in after.plan.cluster.spec.acknowledge if item not in known)
    return next((item.by for item in given if item.fact == fact and item.by and item.date), "")
