"""Clusters that one Argo CD would deliver to one place: one cluster would get the stacks of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes.shape import SHARED_DESTINATION
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.fleet.profiles.cluster import Cluster, Engine
from poolsmith.kubernetes.repository.argo_destination import ArgoTarget, TargetBy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from poolsmith.core.diagnostics import Location

    Located = Callable[[str, str | None], Location]
    """The line of a cluster, by its name, that says where it is delivered to, with a note."""

POINTER = "/spec/delivery/destination"


@record(kw_only=False, order=True)
class ArgoCluster:
    """A cluster, which Argo CD delivers it, and where to. `instance` is empty where it names none."""

    cluster: str
    instance: str
    target: ArgoTarget


def argo_cluster(cluster: Cluster) -> ArgoCluster | None:
    """None for a cluster of another engine."""
    delivery = cluster.spec.delivery
    if delivery.engine is not Engine.ARGOCD:
        return None
    return ArgoCluster(cluster.metadata.name, delivery.instance or "", delivery.argo_target)


def shared_destinations(
    clusters: Iterable[ArgoCluster], locate: Located, among: Collection[str] | None = None
) -> Iterator[Diagnostic]:
    """One for each cluster but the first, by their names; of `among` and of what shares with one of these, if given."""
    by_place: dict[tuple[str, ArgoTarget], list[ArgoCluster]] = {}
    for item in sorted(clusters):
        by_place.setdefault((item.instance, item.target), []).append(item)
    for first, *others in by_place.values():
        for other in others:
            if among is None or other.cluster in among or first.cluster in among:
                yield _shared(first, other, locate)


def _shared(first: ArgoCluster, other: ArgoCluster, locate: Located) -> Diagnostic:
    name = other.cluster
    engine = f"the Argo CD `{other.instance}`" if other.instance else "one Argo CD"
    elsewhere = "with another `instance`" if other.instance else f"with `instance: {name}`"
    return diagnose(
        SHARED_DESTINATION,
        f"{engine} would deliver `{name}` and `{first.cluster}` to the same cluster: {_words(other.target)}",
        locate(name, None),
        help=f"write `destination: {{name: {name}}}` with the name that Argo CD knows `{name}` by, or its `server`; or "
        f"say {elsewhere} that another Argo CD delivers it",
        subject=name,
        related=(locate(first.cluster, "the other one"),),
    )


def _words(target: ArgoTarget) -> str:
    if target.is_own_cluster:
        return "the one that Argo CD runs in"
    called = "the one that it calls " if target.by is TargetBy.NAME else ""
    return f"{called}`{shorten(target.where)}`"
