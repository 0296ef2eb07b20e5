"""The driver pods of each pool, as a prediction has them, and what becomes of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.nested import value_at
from poolsmith.core.sources.pod_template import pod_template_of
from poolsmith.fleet.operands.installation import Maker
from poolsmith.fleet.plan.driver_change import POLICY, PoolDriver, driver_changes
from poolsmith.gpu.catalog.node_labels import KERNEL, OS_ID, OS_VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping

    from poolsmith.fleet.operands.installation import Made
    from poolsmith.fleet.plan.driver_change import DriverChange
    from poolsmith.gpu.catalog import Catalog
    from poolsmith.guard.ledger.prediction import Prediction

OBJECT = "NVIDIADriver/"
_POLICY_APPS = ("nvidia-driver-daemonset", "nvidia-vgpu-manager-daemonset")
_APP = ("metadata", "labels", "app")
_SELECTOR = ("spec", "template", "spec", "nodeSelector")
_SYSTEM = (KERNEL, OS_ID, OS_VERSION)
_CONTAINERS = ("spec", "template", "spec", "containers")


def pool_drivers(prediction: Prediction, renamed: Mapping[str, str] | None = None) -> dict[str, tuple[PoolDriver, ...]]:
    """By pool, of the names that `renamed` gives; a pool without driver pods is not there."""
    pools = {pool.name for pool in prediction.plan.pools}
    names = renamed or {}
    found: dict[str, tuple[PoolDriver, ...]] = {}
    for item in prediction.installation.made:
        if is_driver(item):
            owner = item.through if item.through.startswith(OBJECT) else POLICY
            driver = PoolDriver(
                owner=owner,
                image=_image(item),
                template=_digest(pod_template_of(item.body)),
                key=item.key,
                system=_system(item),
            )
            for pool in prediction.ledger.landing.get(item.key, ()):
                if pool in pools:
                    name = names.get(pool, pool)
                    found[name] = (*found.get(name, ()), driver)
    return found


def _system(item: Made) -> tuple[tuple[str, str], ...]:
    selector = value_at(item.body, _SELECTOR) or {}
    return tuple((key, str(selector[key])) for key in _SYSTEM if key in selector)


def changed_drivers(
    before: Prediction | None, after: Prediction | None, catalog: Catalog, renamed: Mapping[str, str] | None = None
) -> tuple[DriverChange, ...]:
    """Between two states of a cluster; None where it does not exist. `renamed` are new names of pools by old ones."""
    release = catalog.releases.near(after.installation.release) if after is not None else None
    return driver_changes(
        pool_drivers(before, renamed) if before is not None else {},
        pool_drivers(after) if after is not None else {},
        hands_over=release is not None and release.driver_object.hands_over,
    )


def is_driver(item: Made) -> bool:
    """Whether these are pods that install a driver on their nodes."""
    if item.maker is not Maker.OPERATOR or item.body["kind"] != "DaemonSet":
        return False
    return item.through.startswith(OBJECT) or str(value_at(item.body, _APP)).startswith(_POLICY_APPS)


def _image(item: Made) -> str:
    containers = value_at(item.body, _CONTAINERS)
    return str(containers[0].get("image", "")) if containers else ""


def _digest(template: Any) -> str:
    return hashlib.sha256(repr(template).encode()).hexdigest()[:16]
