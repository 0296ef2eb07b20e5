"""Departures in one sentence: what it means, what leaves and why, what the engine does, and how that is known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import Evidence
from poolsmith.change.diff.delivery_objects import APPLICATION, ELEMENT
from poolsmith.change.diff.pool_words import on_pools
from poolsmith.core.diagnostics.listing import joined
from poolsmith.core.diagnostics.printable import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.change.diff.change_report import Departure

_FEW = 3


def sentence(found: Sequence[Departure], where: str | None = None, drivers: str | None = None) -> str:
    """Of departures that are alike but for their names. `where` is put behind what it means; `drivers` says where
    drivers go, if it is told otherwise than of one cluster."""
    first = found[0]
    names = joined([f"{item.kind} `{shorten(_full_name(item))}`" for item in found], _FEW)
    verb = ("leaves the delivery" if len(found) == 1 else "leave the delivery") if first.leaves else "stays, and moves"
    at = f" {where}" if where else ""
    gone = on_pools(first.drivers) if drivers is None else drivers
    takes = f"; the drivers {gone} go with it" if first.drivers and gone else ""
    takes = takes or ("; the drivers go with it" if first.drivers else "")
    return f"{first.headline}{at}: {names} {verb}, {first.cause}; {first.effect}{takes}{_known(first)}"


def _full_name(item: Departure) -> str:
    return f"{item.namespace}/{item.name}" if item.namespace else item.name


def _known(item: Departure) -> str:
    is_argo = item.kind in (APPLICATION, ELEMENT)
    if item.evidence is Evidence.SEEN:
        return " (seen on Argo CD 3.5.1)" if is_argo else " (seen on Flux 2.9)"
    if item.evidence is Evidence.READ:
        return f" (by the source of {'Argo CD' if is_argo else 'Flux'}, not tried)"
    return " (unknown: not tried)"
