"""Repository, image and version of each component, as values.yaml of each chart tag has them."""

from __future__ import annotations

from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import version_key


@remembered
def _runs() -> dict[str, list[tuple[str, str | None]]]:
    data: dict[str, Any] = store.read_json("values/images.json")
    return {path: [(tag, value) for tag, value in runs] for path, runs in data["images"].items()}


def image_default(path: str, release: str) -> str | None:
    """The default of `toolkit.version` and its like at any tag of the chart; None where values.yaml has none."""
    key, found = version_key(release), None
    for tag, value in _runs().get(path, ()):
        if version_key(tag) > key:
            break
        found = value
    return found


@remembered
def recorded_tags() -> tuple[str, ...]:
    """Tags of the chart at which some image changed, oldest first."""
    return tuple(sorted({tag for runs in _runs().values() for tag, _ in runs}, key=version_key))


@remembered
def image_components(release: str) -> tuple[str, ...]:
    """The places that name an image at a tag: `toolkit`, `driver.manager`."""
    return tuple(
        path.removesuffix(".repository")
        for path in sorted(_runs())
        if path.endswith(".repository") and image_default(path, release) is not None
    )
