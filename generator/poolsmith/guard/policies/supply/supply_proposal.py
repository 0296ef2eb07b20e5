"""A supply policy for what a fleet takes today; what only a person can say is empty."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.shape.field import API_VERSION
from poolsmith.guard.policies.supply.supply_check import (
    allowed_place,
    git_address,
    image_place,
    web_address,
    without_mirror,
)
from poolsmith.guard.policies.supply.supply_kind import SUPPLY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.core.diagnostics.outcome import Unevaluated
    from poolsmith.guard.policies.supply.supply_check import ImagePlace
    from poolsmith.guard.policies.supply.supply_claims import DeliveryClaim, SupplyClaims


_EVERY = ["*"]
_EMPTY = {"reason": "", "owner": "", "expires": ""}


@record(kw_only=False)
class SupplyProposal:
    """The document, and what of the fleet can't stand in one: no policy can allow it."""

    document: dict[str, Any]
    unplaced: tuple[str, ...]


def supply_proposal(fleet: Mapping[str, SupplyClaims], unknown: Iterable[Unevaluated]) -> SupplyProposal:
    """The narrowest policy that allows what clusters take, by their names; images by the first part of their path."""
    unplaced: list[str] = []
    charts = [claim for claims in fleet.values() for claim in claims.charts]
    addresses = {claim.repository: web_address(claim.repository) for claim in charts}
    unplaced += (text for text, address in addresses.items() if address is None)
    spec: dict[str, Any] = {
        "chartRepositories": sorted({address for address in addresses.values() if address is not None}),
        "charts": [{"name": name} for name in sorted({claim.name for claim in charts})],
        "gitRepositories": _repositories(fleet, unplaced),
        "deliveries": _deliveries({name: claims.delivery for name, claims in fleet.items()}),
        "imageRegistries": _registries(fleet, unplaced),
        "mirrors": _mirrors(fleet),
        "acceptUnknown": [_acceptance(item) for item in unknown if item.cluster],
    }
    said = {key: value for key, value in spec.items() if value}
    document = {"apiVersion": API_VERSION, "kind": SUPPLY, "metadata": {"name": "fleet"}, "spec": said}
    return SupplyProposal(document, tuple(dict.fromkeys(unplaced)))


def _repositories(fleet: Mapping[str, SupplyClaims], unplaced: list[str]) -> list[dict[str, Any]]:
    """Of output/ for all clusters where all have the same; a repository of a unit for its clusters."""
    users: defaultdict[tuple[str, str, str | None], list[str]] = defaultdict(list)
    for cluster, claims in fleet.items():
        for claim in claims.repositories:
            address = git_address(claim.url)
            if address is None:
                unplaced.append(claim.url)
            elif cluster not in users[address, claim.revision, claim.path]:
                users[address, claim.revision, claim.path].append(cluster)
    found = []
    for (address, revision, path), clusters in sorted(
        users.items(), key=lambda item: (item[0][2] is None, item[0][:2])
    ):
        entry: dict[str, Any] = {"url": address, "revisions": [revision]}
        if path is not None:
            entry["paths"] = [path]
        if path is None or len(clusters) < len(fleet):
            entry["clusters"] = clusters
        found.append(entry)
    return found


def _deliveries(claims: Mapping[str, DeliveryClaim]) -> list[dict[str, Any]]:
    """Clusters that are delivered alike stand together; those that name no destination are the pattern for new ones."""
    alike: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
    for cluster, claim in claims.items():
        place = "" if claim.namespace in ("argocd", "flux-system") else claim.namespace
        key = (claim.project, claim.name or "", claim.server or "", claim.instance or "", claim.source_ref or "", place)
        alike[key].append(cluster)
    plain = max((names for key, names in alike.items() if not any(key[1:5])), key=len, default=[])
    found = []
    for (project, name, server, instance, reference, namespace), clusters in alike.items():
        entry: dict[str, Any] = {"clusters": _EVERY if clusters is plain else clusters}
        entry |= {"namespaces": [namespace]} if namespace else {}
        entry |= {"projects": [project]} if project != "default" else {}
        entry |= {"name": name} if name else {"server": server} if server else {}
        entry |= {"instance": instance} if instance else {}
        entry |= {"sourceRef": reference} if reference else {}
        found.append(entry)
    return sorted(found, key=lambda entry: (entry["clusters"] != _EVERY, entry["clusters"]))


def _registries(fleet: Mapping[str, SupplyClaims], unplaced: list[str]) -> list[str]:
    found: set[ImagePlace] = set()
    for claims in fleet.values():
        mirrors = {claim.host: (claim.mirror,) for claim in claims.mirrors}
        for claim in claims.images:
            place = image_place(claim.image)
            if place is None:
                unplaced.append(claim.image)
            else:
                found.update(without_mirror(place, mirrors) or (place,))
    return sorted({allowed_place(f"{place.host}/{place.path[0]}").text for place in found if place.path})


def _mirrors(fleet: Mapping[str, SupplyClaims]) -> dict[str, list[str]]:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for claims in fleet.values():
        for claim in claims.mirrors:
            found[claim.host].add(claim.mirror)
    return {host: sorted(mirrors) for host, mirrors in sorted(found.items())}


def _acceptance(item: Unevaluated) -> dict[str, Any]:
    parts = (("cluster", item.cluster), ("unit", item.unit), ("source", item.source), ("revision", item.revision))
    return {name: value for name, value in parts if value} | {"unknown": item.what} | _EMPTY
