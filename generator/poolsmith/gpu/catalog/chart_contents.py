"""Facts of each recorded chart: images of its components, nulls that it writes itself, and the keys a subchart reads.

An image is repository, image and version, as values.yaml of each chart tag has them. The nulls stand with the values
that cure them. The subchart is Node Feature Discovery, which reads some keys below its components only.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import remembered
from poolsmith.core.facts.versions import version_key
from poolsmith.core.record import record


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


REFUSED = "refused"
"""Server-side apply refuses the object; the other effect is `drift`: the server stores something else."""


@record
class ChartNull:
    """A null at a field of the ClusterPolicy's spec, and what to write as a value at the same path."""

    path: tuple[str, ...]
    effect: str
    value: Any
    releases: frozenset[str]
    source: str

    @property
    def dotted(self) -> str:
        return ".".join(self.path)


@remembered
def _known() -> tuple[ChartNull, ...]:
    return tuple(
        ChartNull(
            path=tuple(item["path"].split(".")),
            effect=item["effect"],
            value=item["value"],
            releases=frozenset(item["releases"]),
            source=item["source"],
        )
        for item in store.read_yaml("chart_nulls.yaml")["nulls"]
    )


def nulls_of(release: str) -> tuple[ChartNull, ...]:
    """Those of one release of the operator's chart, in the order of the data."""
    return tuple(item for item in _known() if release in item.releases)


@cache
def _facts() -> dict[str, Any]:
    return store.read_yaml("values/discovery.yaml")


def discovery_components() -> tuple[str, ...]:
    """Keys at the top of its values that hold those of a workload."""
    return tuple(_facts()["components"])


def components_reading(key: str) -> tuple[str, ...]:
    """Those below which a key belongs that does nothing at the top; none for any other key."""
    return tuple(_facts()["below"].get(key, ()))
