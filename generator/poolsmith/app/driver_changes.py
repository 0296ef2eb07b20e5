"""The driver pods of each pool, as a prediction has them, and what becomes of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from poolsmith.operands.installation import Maker
from poolsmith.plan.driver_change import POLICY, PoolDriver, driver_changes
from poolsmith.sources.nested import value_at
from poolsmith.sources.pod_template import pod_template_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.catalog import Catalog
    from poolsmith.ledger.prediction import Prediction
    from poolsmith.operands.installation import Made
    from poolsmith.plan.driver_change import DriverChange

_OBJECT = "NVIDIADriver/"
_POLICY_APPS = ("nvidia-driver-daemonset", "nvidia-vgpu-manager-daemonset")
_APP = ("metadata", "labels", "app")
_CONTAINERS = ("spec", "template", "spec", "containers")


def pool_drivers(prediction: Prediction) -> dict[str, PoolDriver]:
    """By pool; a pool without driver pods is not there."""
    pools = {pool.name for pool in prediction.plan.pools}
    found: dict[str, PoolDriver] = {}
    for item in prediction.installation.made:
        if item.maker is not Maker.OPERATOR or item.body["kind"] != "DaemonSet" or not _is_driver(item):
            continue
        owner = item.through if item.through.startswith(_OBJECT) else POLICY
        driver = PoolDriver(owner=owner, image=_image(item), template=_digest(pod_template_of(item.body)))
        found.update((pool, driver) for pool in prediction.ledger.landing.get(item.key, ()) if pool in pools)
    return found


def changed_drivers(before: Prediction | None, after: Prediction | None, catalog: Catalog) -> tuple[DriverChange, ...]:
    """Between two states of a cluster; None where it does not exist."""
    release = catalog.releases.near(after.installation.release) if after is not None else None
    return driver_changes(
        pool_drivers(before) if before is not None else {},
        pool_drivers(after) if after is not None else {},
        hands_over=release is not None and release.driver_object.hands_over,
    )


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


def _is_driver(item: Made) -> bool:
    return item.through.startswith(_OBJECT) or str(value_at(item.body, _APP)).startswith(_POLICY_APPS)


def _image(item: Made) -> str:
    containers = value_at(item.body, _CONTAINERS)
    return str(containers[0].get("image", "")) if containers else ""


def _digest(template: Any) -> str:
    return hashlib.sha256(repr(template).encode()).hexdigest()[:16]
