"""Driver images that nodes will pull, against the project's list of those that somebody has seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, Severity, diagnose
from poolsmith.core.diagnostics.codes.node_software import UNKNOWN_DRIVER_IMAGE
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.diagnostics.outcome import Skipped
from poolsmith.core.sources.pod_template import containers_of, mapping, pod_template_of, word
from poolsmith.fleet.profiles.fleet import DRIVER_IMAGES_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.plan import ClusterPlan, PoolPlan
    from poolsmith.fleet.profiles.driver import DriverImageListSpec
    from poolsmith.fleet.profiles.load_cluster import LoadedCluster
    from poolsmith.guard.ledger.prediction import Prediction

_DRIVER = "nvidia-driver-ctr"
_POINTERS = {_DRIVER: "", "nvidia-fs-ctr": "/spec/driver/gds", "nvidia-gdrcopy-ctr": "/spec/driver/gdrcopy"}


def judge_driver_images(
    known: DriverImageListSpec | None, prediction: Prediction, loaded: LoadedCluster
) -> list[Diagnostic]:
    """One for each pool and image that the list does not have; nothing without a list.

    Of a repository that it names it has all tags: what it lacks there is an error.
    """
    if known is None:
        return []
    layers = {item.pool.name: item.layers for item in loaded.pools}
    precompiled = {
        pool.name: pool for pool in prediction.plan.pools if pool.driver is not None and pool.driver.precompiled
    }
    found = []
    for pool, container, image in sorted(driver_images(prediction)):
        repository, _, tag = image.rpartition(":")
        if pool not in layers or tag in known.tags.get(repository, ()):
            continue
        pointer = _POINTERS[container] or (
            _kernel_pointer(precompiled[pool], tag) if pool in precompiled else "/spec/driver/version"
        )
        is_listed = repository in known.tags
        found.append(
            diagnose(
                UNKNOWN_DRIVER_IMAGE,
                f"`{image}` is not in the registry, as {DRIVER_IMAGES_FILE} has it"
                if is_listed
                else f"whether `{image}` exists is unknown: {DRIVER_IMAGES_FILE} lacks the repository",
                layers[pool].locate(pointer),
                help=f"mirror the image first; once the registry has it, add `{tag}` to the tags of `{repository}` in "
                f"{DRIVER_IMAGES_FILE}, or list them again: `poolsmith images --import LISTING`",
                subject=f"{loaded.name}/{pool}",
                severity=Severity.ERROR if is_listed else None,
            )
        )
    return found


def _kernel_pointer(pool: PoolPlan, tag: str) -> str:
    """Where the kernel stands that the tag is for."""
    systems = pool.profile.spec.systems
    return next((item for item in systems if item.kernel and f"-{item.kernel}-" in tag), systems[0]).kernel_pointer


def driver_pools(plan: ClusterPlan) -> int:
    """How many pools pull a driver image."""
    return sum(pool.driver is not None and pool.driver.managed for pool in plan.pools)


def without_list(pools: int) -> Skipped:
    """Nobody looked whether images exist."""
    what = f"driver image tags of {counted(pools, 'pool')}"
    return Skipped(what, f"no list: there is no {DRIVER_IMAGES_FILE}")


def driver_images(prediction: Prediction) -> Iterator[tuple[str, str, str]]:
    """Pool, container and image, each once. A reference by digest names an image that was there."""
    seen = set()
    landing = prediction.ledger.landing
    for made in prediction.installation.made:
        template = pod_template_of(made.body)
        if template is None:
            continue
        for container in containers_of(mapping(template.get("spec"))):
            name, image = word(container.get("name")), word(container.get("image"))
            if name not in _POINTERS or "@" in image:
                continue
            for pool in landing.get(made.key, ()):
                if (item := (pool, name, image)) not in seen:
                    seen.add(item)
                    yield item
