"""What a cluster takes from where, and the line of a profile that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.fleet.plan.origin import FromProfile
from poolsmith.fleet.profiles.cluster import Engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.fleet.plan.plan import ClusterPlan, HelmChart, UnitPlan
    from poolsmith.guard.policies.supply.image_claims import ImageClaim

_DELIVERY = "/spec/delivery"
_NAMESPACES = {Engine.ARGOCD: "argocd", Engine.FLUX: "flux-system"}


@record
class ChartClaim:
    """A chart of a repository, at a version."""

    name: str
    version: str
    repository: str
    line: FromProfile
    version_line: FromProfile


@record
class GitClaim:
    """A Git repository at a revision; `path` is that of output/ in it, None where only a unit is taken from it."""

    url: str
    revision: str
    path: str | None
    line: FromProfile
    revision_line: FromProfile
    path_line: FromProfile


@record
class DeliveryClaim:
    """Where it is applied. `source_ref` is Kind/namespace/name."""

    namespace: str
    project: str
    name: str | None
    server: str | None
    instance: str | None
    source_ref: str | None
    path: str

    def line(self, field: str) -> FromProfile:
        return FromProfile(self.path, f"{_DELIVERY}/{field}")


@record
class MirrorClaim:
    """A registry's host and its mirror."""

    host: str
    mirror: str
    line: FromProfile


@record
class SupplyClaims:
    """All of one cluster."""

    charts: tuple[ChartClaim, ...]
    repositories: tuple[GitClaim, ...]
    delivery: DeliveryClaim
    mirrors: tuple[MirrorClaim, ...]
    images: tuple[ImageClaim, ...]


def chart_claims(plan: ClusterPlan) -> Iterator[ChartClaim]:
    if plan.chart is not None:
        repository = FromProfile(plan.cluster.path, f"{_DELIVERY}/chartRepo")
        yield _chart(plan.chart, repository, FromProfile(plan.cluster.path, "/spec/stack/release"))
    for unit in plan.units:
        if unit.chart is not None:
            line = _unit_line(plan, unit)
            yield _chart(unit.chart, line, line)


def _chart(chart: HelmChart, line: FromProfile, version_line: FromProfile) -> ChartClaim:
    return ChartClaim(
        name=chart.name, version=chart.version, repository=chart.repository, line=line, version_line=version_line
    )


def _unit_line(plan: ClusterPlan, unit: UnitPlan) -> FromProfile:
    """Units of a stack without an operator have lines of their own."""
    fields = {"dcgm-exporter": "dcgmExporter/release", "node-feature-discovery": "gpuFeatureDiscovery"}
    if unit.chart is not None and unit.chart.name in fields:
        return FromProfile(plan.cluster.path, f"/spec/stack/{fields[unit.chart.name]}")
    return plan.stack_line


def git_claims(plan: ClusterPlan) -> Iterator[GitClaim]:
    delivery, path = plan.cluster.spec.delivery, plan.cluster.path
    yield GitClaim(
        url=delivery.repo_url,
        revision=delivery.revision,
        path=delivery.path,
        line=FromProfile(path, f"{_DELIVERY}/repoURL"),
        revision_line=FromProfile(path, f"{_DELIVERY}/revision"),
        path_line=FromProfile(path, f"{_DELIVERY}/path"),
    )
    if delivery.hydrate is not None:  # whoever may write to that branch decides what is applied
        line = FromProfile(path, f"{_DELIVERY}/hydrate/branch")
        yield GitClaim(
            url=delivery.repo_url,
            revision=f"refs/heads/{delivery.hydrate.branch}",
            path=delivery.path,
            line=line,
            revision_line=line,
            path_line=line,
        )
    for unit in plan.units:
        if unit.source is not None:
            line = plan.stack_line
            yield GitClaim(
                url=unit.source.repository,
                revision=unit.source.revision,
                path=None,
                line=line,
                revision_line=line,
                path_line=line,
            )


def delivery_claim(plan: ClusterPlan) -> DeliveryClaim:
    """Defaults are filled in, but for the destination: without one it is the cluster that the engine runs in."""
    delivery = plan.cluster.spec.delivery
    namespace = delivery.namespace or _NAMESPACES[delivery.engine]
    reference, destination = delivery.source_ref, delivery.destination
    elsewhere = destination if not delivery.argo_target.is_own_cluster else None
    name = elsewhere.name if elsewhere is not None else None
    server = elsewhere.server if elsewhere is not None and name is None else None
    return DeliveryClaim(
        namespace=namespace,
        project=delivery.project,
        name=name,
        server=server,
        instance=delivery.instance,
        source_ref=f"{reference.kind}/{reference.namespace or namespace}/{reference.name}" if reference else None,
        path=plan.cluster.path,
    )


def mirror_claims(plan: ClusterPlan) -> Iterator[MirrorClaim]:
    for host, mirror in plan.cluster.spec.registry.mirrors.items():
        yield MirrorClaim(
            host=host, mirror=mirror, line=FromProfile(plan.cluster.path, f"/spec/registry/mirrors/{host}")
        )
