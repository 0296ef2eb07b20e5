"""All objects that a cluster's delivery engine applies, each with its delivery unit, and the diff the engine takes."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.fleet.operands.expansion import Maker
from poolsmith.fleet.operands.manifest import ManifestTree
from poolsmith.fleet.profiles.cluster import Engine
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.project.output.delivery_units import render_platform, render_units
from poolsmith.project.output.kustomization import generated_config_maps
from poolsmith.project.output.pools import render_pools
from poolsmith.project.output.tree import cluster_header, file_bytes, render_delivery

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from poolsmith.fleet.operands.manifest import Manifest
    from poolsmith.fleet.plan.plan import ClusterPlan
    from poolsmith.guard.ledger.prediction import Prediction


_OURS, _KUSTOMIZE = ("delivery", "platform", "pools"), "kustomize.config.k8s.io/v1beta1"


@record
class DeliveredObject:
    """An object as it is applied. `unit` is the Application, Kustomization or HelmRelease, without the cluster's name;
    `delivery` stands for whatever holds those.

    `of_operator`: the operator's chart renders it.
    """

    body: dict[str, Any]
    unit: str
    file: str = ""
    of_operator: bool = False

    @property
    def name(self) -> str:
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.body["metadata"].get("namespace") or "")


def delivered_objects(
    plan: ClusterPlan, prediction: Prediction, admission: Sequence[Manifest] = ()
) -> tuple[DeliveredObject, ...]:
    """In the order of their units. Kustomizations of our own, which nobody applies, are left out."""
    return (
        *_committed(plan, prediction, admission),
        *custom_resources(plan, prediction),
        *_of_charts(plan, prediction),
    )


def _committed(plan: ClusterPlan, prediction: Prediction, admission: Sequence[Manifest]) -> Iterator[DeliveredObject]:
    toolkits = dict(prediction.installation.toolkit_overlays)
    units = {unit.folder: unit.name for unit in plan.units}
    header = cluster_header(plan.name)
    manifests = [
        *render_platform(plan, header, admission),
        *render_units(plan, header),
        *render_pools(plan, toolkits, header),
    ]

    def unit_of(path: str) -> str:
        folder = path.split("/", maxsplit=1)[0]
        return folder if folder in _OURS else units.get(path.rpartition("/")[0], folder)

    for manifest in (*manifests, *render_delivery(plan, manifests, header)):
        for body in manifest.documents if manifest.applied else ():
            if isinstance(body, dict) and body.get("apiVersion") != _KUSTOMIZE and "kind" in body:
                yield DeliveredObject(body=body, unit=unit_of(manifest.path), file=manifest.path)
    read = file_bytes(ManifestTree(tuple(manifest for manifest in manifests if not manifest.applied)))
    for manifest in manifests:
        for body, source in generated_config_maps(manifest, read):
            yield DeliveredObject(body=body, unit=unit_of(manifest.path), file=source)


def custom_resources(
    plan: ClusterPlan, prediction: Prediction, values: dict[str, Any] | None = None
) -> tuple[DeliveredObject, ...]:
    """Those of the operator's chart as Helm renders them, nulls too; for other `values` than the plan's, if given."""
    given = prediction.shared.given
    projection = read_projection(given.release) if given.chart is not None else None
    if given.chart is None or projection is None or plan.chart is None:
        return ()
    helm = HelmRelease(name=given.chart.name, api_versions=given.api_versions)
    found = project(projection, given.chart.defaults, given.values if values is None else values, helm)
    return tuple(DeliveredObject(body=item, unit=plan.chart.name, of_operator=True) for item in found.objects)


def _of_charts(plan: ClusterPlan, prediction: Prediction) -> Iterator[DeliveredObject]:
    """What charts bring besides; hooks are never compared."""
    names = {f"{unit.chart.name} {unit.chart.version}": unit.name for unit in plan.units if unit.chart is not None}
    names |= {unit.title: unit.name for unit in plan.units if unit.source is not None}
    for item in prediction.installation.made:
        if item.maker is Maker.CHART:
            operator = plan.chart is not None and item.through not in names
            unit = plan.chart.name if operator and plan.chart is not None else names.get(item.through, item.through)
            yield DeliveredObject(body=item.body, unit=unit, of_operator=operator)


class DiffMode(StrEnum):
    """Argo CD has all of them; Flux always asks the server."""

    LEGACY = "legacy"
    SERVER_SIDE = "server-side"
    STRUCTURED_MERGE = "structured-merge"


@record
class EngineDiff:
    """One way of comparing."""

    engine: Engine
    diff: DiffMode

    def __str__(self) -> str:
        return f"{self.engine}/{self.diff}"


ALL = (
    *(EngineDiff(engine=Engine.ARGOCD, diff=mode) for mode in DiffMode),
    EngineDiff(engine=Engine.FLUX, diff=DiffMode.SERVER_SIDE),
)


def compared_by(plan: ClusterPlan, engine: Engine | None = None, diff: DiffMode | None = None) -> EngineDiff:
    """What the generated delivery takes, but for what is asked instead.

    Each Application that is generated asks for the server-side diff; Flux has no other.
    """
    engine = engine or plan.cluster.spec.delivery.engine
    if engine is Engine.FLUX:
        return EngineDiff(engine=engine, diff=DiffMode.SERVER_SIDE)
    return EngineDiff(engine=engine, diff=diff or DiffMode.SERVER_SIDE)
