"""Rings that a change turns round, and clusters that would get what is new earlier than in the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose, whole_file
from poolsmith.core.diagnostics.codes.outside import SWITCHED_OFF
from poolsmith.fleet.profiles.fleet import RINGS_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.review.change import ClusterChange
    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.fleet.profiles.rings import Rings


def reordered_rings(before: Rings | None, after: Rings | None) -> Iterator[Diagnostic]:
    """Whether rings that both sides have stand in another order, or the order is gone. New rings change nothing."""
    if before is None or before.order is None:
        return
    if after is None or after.order is None:
        if after is None:
            message = "the order of rings that the base has would be gone, and with it what holds later rings back"
            yield diagnose(SWITCHED_OFF, message, whole_file(RINGS_FILE))
        return
    had, has = before.order.order, after.order.order
    if [ring for ring in had if ring in has] != [ring for ring in has if ring in had] and after.file is not None:
        message = f"the rings would be in another order than in the base, which has {' → '.join(had)}"
        yield diagnose(SWITCHED_OFF, message, after.file.locate("/spec/order"))


def left_ring(change: ClusterChange, rings: Rings | None) -> Iterator[Diagnostic]:
    """A cluster that leaves its ring, or goes to an earlier one; `rings` are those of the base."""
    before, after = change.before, change.after
    if before is None or after is None or after.loaded.file is None or rings is None or rings.order is None:
        return
    order = rings.order.order
    had, has = before.plan.cluster.spec.ring, after.plan.cluster.spec.ring
    if had not in order or had == has or (has in order and order.index(has) > order.index(had)):
        return
    told = "would be outside of the rings" if has is None else f"would get what is new in ring `{has}`"
    message = f"`{change.name}` {told}; in the base it is in ring `{had}`"
    place = after.loaded.file.locate("/spec/ring" if has is not None else "/spec")
    yield diagnose(SWITCHED_OFF, message, place, subject=change.name)
