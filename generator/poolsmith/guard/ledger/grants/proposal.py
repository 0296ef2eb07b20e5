"""The smallest grants for what nobody has granted.

Each token of a proposed grant is held by each container that the grant names, on each pool and in each cluster that it
names; `*` stands for all pools where the container is. What another token covers already is left out.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.core.shape.metadata import Metadata
from poolsmith.guard.ledger.grants.grant import GrantedToken, GrantSpec, PrivilegeGrant, written_privileges
from poolsmith.guard.ledger.grants.matching import GrantBook
from poolsmith.guard.ledger.ledger import ANY_NODE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from poolsmith.guard.ledger.grants.needs import ClusterNeeds
    from poolsmith.guard.ledger.privilege import Privilege

_ALL = ("*",)


@record(kw_only=False, order=True)
class Proposal:
    """A grant without a name, a reason and an owner. Without containers it is for what pods hold as a whole."""

    workload: str
    containers: tuple[str, ...]
    clusters: tuple[str, ...]
    pools: tuple[str, ...]
    images: tuple[str, ...]
    privileges: tuple[Privilege, ...]

    def spec(self) -> GrantSpec:
        return GrantSpec(
            clusters=self.clusters,
            pools=self.pools,
            workload=self.workload,
            containers=self.containers,
            images=self.images,
            privileges=written_privileges(self.privileges),
        )

    def grant(self, name: str) -> PrivilegeGrant:
        tokens = tuple(GrantedToken(0, item) for item in self.privileges)
        return PrivilegeGrant(metadata=Metadata(name=name), spec=self.spec(), path="", tokens=tokens)


@record(kw_only=False)
class _Spot:
    """Where one privilege is held by a container of a family: pools that are named alike in these clusters."""

    family: str
    container: str
    pools: tuple[str, ...]
    clusters: tuple[str, ...]


def proposals(needs: Sequence[ClusterNeeds], all_clusters: Collection[str] = ()) -> tuple[Proposal, ...]:
    """`all_clusters` are those of the fleet: where a grant is for each of them, it says `*`."""
    held: defaultdict[_Spot, list[Privilege]] = defaultdict(list)
    for (family, container, privilege), by_cluster in _held(needs).items():
        clusters: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for item, pools in by_cluster:
            clusters[_named(pools, item.pools[family, container])].append(item.cluster)
        for named, found in clusters.items():
            held[_Spot(family, container, named, tuple(sorted(found)))].append(privilege)
    images = _images(needs)
    containers: defaultdict[Proposal, list[str]] = defaultdict(list)
    for spot, privileges in held.items():
        everywhere = all_clusters and set(spot.clusters) >= set(all_clusters)
        proposal = Proposal(
            workload=spot.family,
            containers=(),
            clusters=_ALL if everywhere else spot.clusters,
            pools=spot.pools,
            images=_named_images(images, spot),
            privileges=tuple(sorted(privileges)),
        )
        containers[proposal].append(spot.container)
    result = [
        replace(item, containers=names) for item, all_names in containers.items() for names in _named_apart(all_names)
    ]
    return _without_covered(sorted(result), needs)


def _named_apart(containers: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """What the pod holds as a whole is not granted together with what containers hold."""
    names = tuple(sorted(name for name in containers if name))
    if "" in containers:
        yield ()
    if names:
        yield names


_Images = dict[tuple[str, str], list[tuple[str, str]]]


def _images(needs: Iterable[ClusterNeeds]) -> _Images:
    """By family and container: clusters, each with the repository of the image there."""
    found: _Images = defaultdict(list)
    for item in needs:
        for (namespace, workload, container), repository in item.repositories.items():
            family = item.families.get(f"{namespace}/{workload}")
            if family is not None:
                found[family, container].append((item.cluster, repository))
    return found


def _named_images(images: _Images, spot: _Spot) -> tuple[str, ...]:
    """None where a container has no image that could be named."""
    if not spot.container:
        return ()
    clusters = frozenset(spot.clusters)
    found = {repository for cluster, repository in images.get((spot.family, spot.container), ()) if cluster in clusters}
    return () if "" in found else tuple(sorted(found))


_Held = dict[tuple[str, str, "Privilege"], list[tuple["ClusterNeeds", set[str]]]]


def _held(needs: Iterable[ClusterNeeds]) -> _Held:
    """By family, container and privilege: in which clusters, on which pools."""
    held: defaultdict[tuple[str, str, Privilege], list[tuple[ClusterNeeds, set[str]]]] = defaultdict(list)
    for item in needs:
        pools: defaultdict[tuple[str, str, Privilege], set[str]] = defaultdict(set)
        for line in item.lines:
            pools[item.family_of(line), line.container, line.privilege].add(line.pool)
        for key, found in pools.items():
            held[key].append((item, found))
    return held


def _named(pools: set[str], where: frozenset[str]) -> tuple[str, ...]:
    return _ALL if ANY_NODE in pools or pools >= where else tuple(sorted(pools))


def _without_covered(found: Sequence[Proposal], needs: Iterable[ClusterNeeds]) -> tuple[Proposal, ...]:
    """Without tokens whose every line another token allows as well."""
    book = GrantBook([item.grant(f"proposal-{index}") for index, item in enumerate(found)])
    times: list[int] = []
    lines_of: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for item in needs:
        given = book.of_cluster(item.cluster)
        for line in item.lines:
            granted = book.granting(line, item.repository_of(line), given)
            for grant, token, _ in granted:
                lines_of[grant, token].append(len(times))
            times.append(len(granted))
    kept: list[Proposal] = []
    for index, proposal in enumerate(found):
        privileges = []
        for token, privilege in enumerate(proposal.privileges):
            places = lines_of[index, token]
            if all(times[place] > 1 for place in places):
                for place in places:
                    times[place] -= 1
            else:
                privileges.append(privilege)
        if privileges:
            kept.append(replace(proposal, privileges=tuple(privileges)))
    return tuple(kept)
