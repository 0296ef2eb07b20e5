"""What exists: one object to look everything up in, read on demand."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from poolsmith.core.facts import store
from poolsmith.core.facts.packs import active
from poolsmith.core.facts.versions import covers
from poolsmith.gpu.catalog.charts import Chart, read_chart
from poolsmith.gpu.catalog.container_runtimes import Runtimes, runtimes_from
from poolsmith.gpu.catalog.driver_images import DriverImages, read_driver_images
from poolsmith.gpu.catalog.gpus import Gpus, gpus_from
from poolsmith.gpu.catalog.platforms import (
    Distribution,
    OperatingSystemEntry,
    SupportMatrix,
    distributions,
    operating_systems_from,
    support_matrices_from,
)
from poolsmith.gpu.catalog.releases import Releases, releases_from
from poolsmith.gpu.catalog.sandboxes import Sandboxes, sandboxes_from
from poolsmith.gpu.catalog.scheduling import Scheduling, scheduling_from


class Catalog:
    """The facts that come with poolsmith. Immutable, but for what it has not read yet."""

    @cached_property
    def digest(self) -> str:
        return store.digest()

    def digest_of(self, release: str) -> str:
        """Of what a cluster on a release is generated from: packs of other releases alone make no difference to it."""
        return active().digest(release, self.digest)

    def inputs(self, release: str) -> dict[str, str]:
        """The packs behind what is known of a release: the hashes of their manifests, by the manifests' paths."""
        return {pack.path: pack.sha256 for pack in active().behind(release)}

    @cached_property
    def releases(self) -> Releases:
        return releases_from(store.table("releases.yaml"))

    @cached_property
    def operating_systems(self) -> dict[str, OperatingSystemEntry]:
        return operating_systems_from(store.read_yaml("operating_systems.yaml"))

    @cached_property
    def distributions(self) -> dict[str, Distribution]:
        return distributions()

    @cached_property
    def runtimes(self) -> Runtimes:
        return runtimes_from(store.table("distributions.yaml"))

    @cached_property
    def support_matrices(self) -> dict[str, SupportMatrix]:
        return support_matrices_from(store.read_yaml("platforms.yaml"))

    @cached_property
    def gpus(self) -> Gpus:
        return gpus_from(store.read_yaml("gpus.yaml"))

    @cached_property
    def driver_images(self) -> DriverImages:
        return read_driver_images()

    @cached_property
    def mig_geometry(self) -> dict[str, list[dict[str, Any]]]:
        """Layout name to the MIG manager's configuration of it, as the newest release ships it."""
        layouts: dict[str, list[dict[str, Any]]] = store.table("mig_layouts.yaml")["layouts"]
        return layouts

    def mig_layout(self, name: str, release: str) -> list[dict[str, Any]] | None:
        """The MIG manager's configuration of a layout, as a release ships it; None where it ships none."""
        chart = self.chart(self.releases.chart_name, release)
        if chart is None or name not in chart.mig_layouts:
            return None
        earlier: list[dict[str, Any]] = store.table("mig_layouts.yaml")["earlier"].get(name, [])
        return next((item["groups"] for item in earlier if covers(item, release)), self.mig_geometry.get(name))

    @cached_property
    def sandboxes(self) -> Sandboxes:
        return sandboxes_from(store.read_yaml("sandbox.yaml"))

    @cached_property
    def scheduling(self) -> Scheduling:
        return scheduling_from(store.table("scheduling.yaml"))

    @cached_property
    def device_plugin(self) -> dict[str, Any]:
        return store.read_yaml("device_plugin.yaml")

    def chart(self, name: str, release: str) -> Chart | None:
        return read_chart(name, release)
