"""Which field of a delivery object does what when it changes: the table `data/delivery.yaml`, with its sources."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from poolsmith.change.delivery.outcomes import Evidence, Verb
from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import split, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.change.delivery.objects import DeliveryObject


@record
class FieldEffect:
    """What another value at `pointer` does; only the value `when`, where that is not None. `is_given`: only one that is
    there."""

    pointer: str
    verb: Verb
    words: str
    evidence: Evidence
    when: Any = None
    is_given: bool = False


@remembered
def read_field_effects() -> Mapping[str, tuple[FieldEffect, ...]]:
    """By kind, what is asked first first."""
    return {kind: tuple(map(_effect, entry["fields"])) for kind, entry in store.read_yaml("delivery.yaml").items()}


def _effect(row: Mapping[str, Any]) -> FieldEffect:
    return FieldEffect(
        pointer="/" + "/".join(row["path"]),
        verb=Verb(row["does"]),
        words=row["words"],
        evidence=Evidence(row["evidence"]),
        when=row.get("when"),
        is_given=row.get("given", False),
    )


def changed_fields(old: DeliveryObject, new: DeliveryObject) -> Iterator[FieldEffect]:
    """Of what differs, in the order of the table; of what it does not know nothing is told."""
    told: list[str] = []
    for effect in read_field_effects().get(new.kind, ()):
        was, now = (value_at(item.body, split(effect.pointer)) for item in (old, new))
        if was == now or (effect.when is not None and now != effect.when) or (effect.is_given and now is None):
            continue
        if not any(_overlap(effect.pointer, pointer) for pointer in told):
            told.append(effect.pointer)
            is_spelt = effect.pointer == _DESTINATION and old.destination == new.destination
            yield replace(effect, verb=Verb.UPDATE, words=_SPELT, evidence=Evidence.READ) if is_spelt else effect


_DESTINATION, _SPELT = "/spec/destination", "it is the same cluster in other words"


def _overlap(one: str, other: str) -> bool:
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
