"""What differs between two installations, once for all clusters that are installed alike before and after a change."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.change.diff.object_changes import differing, made_objects, object_changes
from poolsmith.core.record import record

if TYPE_CHECKING:
    from poolsmith.change.diff.change_report import ObjectChange
    from poolsmith.change.diff.object_changes import Key, StandingObject
    from poolsmith.guard.ledger.prediction import Shared

_REMEMBERED = 32


@record
class InstallationPair:
    """`made` are changes of what charts and the operator make, `differing` what of it both sides have. Without
    `has_ledger_changes` nobody may do more or less; `is_delivered_alike`: the same is applied, to whatever nodes. The
    installations are kept: as long as they live, no other has their identity.
    """

    before: Shared
    after: Shared
    made: tuple[ObjectChange, ...]
    differing: tuple[tuple[Key, StandingObject, StandingObject], ...]
    has_ledger_changes: bool
    is_delivered_alike: bool

    @property
    def is_same(self) -> bool:
        return self.before is self.after


class InstallationPairs:
    """Remembers the last ones."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], InstallationPair] = {}

    def of(self, before: Shared, after: Shared) -> InstallationPair:
        key = (id(before), id(after))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _compared(before, after)
            while len(self._known) > _REMEMBERED:
                del self._known[next(iter(self._known))]
        return found


def _compared(before: Shared, after: Shared) -> InstallationPair:
    if before is after:
        return InstallationPair(
            before=before, after=after, made=(), differing=(), has_ledger_changes=False, is_delivered_alike=True
        )
    then, now = made_objects(before.installation), made_objects(after.installation)
    applied = (replace(side.given, nodes=()).key for side in (before, after))
    return InstallationPair(
        before=before,
        after=after,
        made=object_changes(then, now),
        differing=tuple(differing(then, now)),
        has_ledger_changes=before.ledger != after.ledger,
        is_delivered_alike=len(set(applied)) == 1,
    )
