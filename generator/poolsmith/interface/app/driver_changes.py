"""What becomes of the driver pods of each pool, for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.fleet.plan.driver_change import DriverChange, PoolDriver


def driver_changes_json(changes: Iterable[DriverChange]) -> list[dict[str, Any]]:
    """Kind, pool, what was and what is, and what happens on the nodes."""

    def side(driver: PoolDriver | None) -> dict[str, str] | None:
        return None if driver is None else {"owner": driver.owner, "image": driver.image}

    return [
        {
            "change": str(change.kind),
            "pool": change.pool,
            "old": side(change.old),
            "new": side(change.new),
            "what": change.told,
        }
        for change in changes
    ]
