"""The order in which nodes go from one kernel or system to the next, for a pool that has several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.guard.rules.prediction.driver_images import driver_images

if TYPE_CHECKING:
    from poolsmith.fleet.plan.plan import PoolPlan
    from poolsmith.guard.ledger.prediction import Prediction

_DRIVER = "nvidia-driver-ctr"


def roll_order(pool: PoolPlan, prediction: Prediction | None) -> list[str]:
    """Sentences with numbers; none where all nodes of the pool run the same system."""
    spec = pool.profile.spec
    if len(spec.systems) == 1:
        return []
    fields = []
    names = ["" for _ in spec.systems]
    for field, given in (("os.versions", spec.os.versions), ("kernel.releases", spec.kernel.releases)):
        if len(given) > 1:
            fields.append(field)
            names = [" with ".join(filter(None, pair)) for pair in zip(names, given, strict=True)]
    images = _images(pool, prediction)
    gone = ", and its image goes with it" if len(images) > 1 else ""
    steps = [
        *_before(pool, images[1:]),
        "merge: " + _merged(pool, images),
        f"roll the nodes of the pool from {names[0]} to {names[-1]}: each takes the driver of the system that it boots",
        f"once no node runs {names[0]}, remove it from {' and '.join(fields)}{gone}",
    ]
    return [f"{number}. {step}" for number, step in enumerate(steps, 1)]


def _images(pool: PoolPlan, prediction: Prediction | None) -> list[str]:
    """The driver images in the order of the systems, each once."""
    if prediction is None or pool.driver is None:
        return []
    mine = (pool.name, _DRIVER)
    pulled = [image for name, container, image in driver_images(prediction) if (name, container) == mine]
    found: dict[str, None] = {}
    for system, tag in zip(pool.profile.spec.systems, pool.driver.os_tags, strict=True):
        ending = f"-{system.kernel}-{tag}" if pool.driver.precompiled else f"-{tag}"
        found.update({image: None for image in pulled if image.endswith(ending)})
    return list(found)


def _before(pool: PoolPlan, images: list[str]) -> list[str]:
    if pool.driver is None:
        return []
    if not pool.driver.managed:
        return ["build the new node image with the driver in it"]
    if images:
        return [f"see that the registry has {', '.join(images)}"]
    return ["see that the nodes reach the new kernel's packages: the driver is compiled there"]


def _merged(pool: PoolPlan, images: list[str]) -> str:
    if pool.driver is None or not pool.driver.managed:
        return "nothing restarts"
    if len(images) > 1:
        return f"driver pods for {len(images)} systems, each only on its own nodes; nothing restarts"
    return "nothing restarts: the same driver pods serve every kernel"
