"""Clusters that one Argo CD would deliver to one place, or by objects of one name: one would get the stacks of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Diagnostic, diagnose
from poolsmith.core.diagnostics.codes.shape import DUPLICATE_NAME, SHARED_DESTINATION
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.record import record
from poolsmith.fleet.profiles.cluster import Cluster, Engine
from poolsmith.kubernetes.repository.argo_destination import ArgoTarget, TargetBy

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from poolsmith.core.diagnostics import Location

    Located = Callable[[str, str | None], Location]
    """A line of a cluster, by its name, with a note."""

POINTER, NAME = "/spec/delivery/destination", "/spec/delivery/name"


@record(kw_only=False, order=True)
class ArgoCluster:
    """A cluster, which Argo CD delivers it, where to, and by which objects: their namespace, and what their names begin
    with. `instance` is empty where it names none."""

    cluster: str
    instance: str
    target: ArgoTarget
    namespace: str
    called: str


def argo_cluster(cluster: Cluster) -> ArgoCluster | None:
    """None for a cluster of another engine."""
    delivery = cluster.spec.delivery
    if delivery.engine is not Engine.ARGOCD:
        return None
    name = cluster.metadata.name
    return ArgoCluster(
        name, delivery.instance or "", delivery.argo_target, delivery.objects_namespace, delivery.name or name
    )


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


def shared_names(
    clusters: Iterable[ArgoCluster], locate: Located, among: Collection[str] | None = None
) -> Iterator[Diagnostic]:
    """One for each cluster whose Applications would be those of another one, as above."""
    by_name: dict[tuple[str, str, str], list[ArgoCluster]] = {}
    for item in sorted(clusters):
        by_name.setdefault((item.instance, item.namespace, item.called), []).append(item)
    for first, *others in by_name.values():
        for other in others:
            if among is None or other.cluster in among or first.cluster in among:
                yield diagnose(
                    DUPLICATE_NAME,
                    f"the names of the Applications of `{other.cluster}` and `{first.cluster}` both begin with "
                    f"`{other.called}`",
                    locate(other.cluster, None),
                    help="give the one that is not delivered yet another `delivery.name`",
                    subject=other.cluster,
                    related=(locate(first.cluster, "the other one"),),
                )


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
