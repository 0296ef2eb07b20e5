"""Where Argo CD delivers a cluster whose profile is being made: nowhere that another cluster is delivered to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.fleet.profiles.shared_destinations import ArgoCluster
from poolsmith.kubernetes.repository.argo_destination import argo_target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.change.takeover.draft import ProfileDraft

_ENGINE, _INSTANCE = ("delivery", "engine"), ("delivery", "instance")
_NAME, _SERVER = ("delivery", "destination", "name"), ("delivery", "destination", "server")


def argo_cluster_of(cluster: ProfileDraft) -> ArgoCluster | None:
    """Of a draft; None of another engine."""
    fields = cluster.fields
    if fields.get(_ENGINE) != "argocd":
        return None
    return ArgoCluster(cluster.name, fields.get(_INSTANCE) or "", argo_target(fields.get(_NAME), fields.get(_SERVER)))


def stand_apart(cluster: ProfileDraft, others: Iterable[ArgoCluster], *, is_told: bool) -> None:
    """Unless an object of Argo CD told the destination, a further cluster goes by its own name. Where one told a
    destination that another cluster has, two Argo CDs must be meant. Both are assumed."""
    found = argo_cluster_of(cluster)
    known = [item for item in others if item.cluster != cluster.name]
    if found is None or not known:
        return
    if not is_told and found.target.is_own_cluster:
        cluster.fields[_NAME] = cluster.name
        cluster.assumed.add(_NAME)
    elif any((item.instance, item.target) == (found.instance, found.target) for item in known):
        cluster.fields[_INSTANCE] = cluster.name
        cluster.assumed.add(_INSTANCE)
