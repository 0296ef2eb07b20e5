"""The smallest grants for what a cluster's ledger holds and nobody has granted, and these grants as YAML.

Each token of a proposed grant is held by each container that the grant names, on each pool and in each cluster that it
names; `*` stands for all pools where the container is. What another token covers already is left out.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record, replace
from poolsmith.core.shape.field import API_VERSION, Metadata
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.ledger.grants.grant import GRANT, GrantedToken, GrantSpec, PrivilegeGrant, written_privileges
from poolsmith.guard.ledger.grants.matching import GrantBook, family_of, label_of
from poolsmith.guard.ledger.ledger import ANY_NODE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from poolsmith.fleet.operands.expansion import Made
    from poolsmith.guard.ledger.grants.matching import Repositories
    from poolsmith.guard.ledger.ledger import Ledger, LedgerLine
    from poolsmith.guard.ledger.privilege import Privilege


@record
class ClusterNeeds:
    """`families` are the patterns that stand for workloads, by namespace/Kind/name.

    `pools` are all pools where a family has a container; without a container, all pools where it runs.
    """

    cluster: str
    lines: tuple[LedgerLine, ...]
    families: Mapping[str, str]
    repositories: Repositories
    pools: Mapping[tuple[str, str], frozenset[str]]

    def family_of(self, line: LedgerLine) -> str:
        return self.families[f"{line.namespace}/{line.workload}"]

    def repository_of(self, line: LedgerLine) -> str:
        return self.repositories.get((line.namespace, line.workload, line.container), "")

    def by_family(self) -> Iterator[tuple[str, ClusterNeeds]]:
        """The same for each family on its own."""
        lines: defaultdict[str, list[LedgerLine]] = defaultdict(list)
        for line in self.lines:
            lines[self.family_of(line)].append(line)
        for family, found in sorted(lines.items()):
            yield family, replace(self, lines=tuple(found))


def cluster_needs(
    cluster: str,
    ledger: Ledger,
    made: Mapping[str, Made],
    repositories: Repositories,
    lines: Iterable[LedgerLine],
) -> ClusterNeeds:
    """`made` are the objects of the cluster by namespace/Kind/name, `lines` what is not granted."""
    landing: defaultdict[str, set[str]] = defaultdict(set)
    for key, pools in ledger.landing.items():
        landing[key].update(pools)
    for line in ledger.lines:
        landing[f"{line.namespace}/{line.workload}"].add(line.pool)
    families = {key: family_of(made[key]) for key in landing if key in made}
    pools_of: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for key, family in families.items():
        pools_of[family, ""] |= landing[key]
    for namespace, workload, container in repositories:
        key = f"{namespace}/{workload}"
        if key in families:
            pools_of[families[key], container] |= landing[key]
    return ClusterNeeds(
        cluster=cluster,
        lines=tuple(lines),
        families=families,
        repositories=repositories,
        pools={place: frozenset(pools) for place, pools in pools_of.items()},
    )


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


_SCREEN = 30
"""Lines of YAML that a finding shows."""
_SEPARATOR = "---\n"


@record
class Answers:
    """What only a person can say of a grant; empty until somebody does."""

    reason: str = ""
    owner: str = ""
    expires: str = ""


_NONE = Answers()


def proposal_document(proposal: Proposal, name: str, answers: Answers = _NONE) -> dict[str, Any]:
    """The grant as its file has it."""
    spec = proposal.spec()
    body: dict[str, Any] = {
        "clusters": list(spec.clusters),
        "pools": list(spec.pools),
        "workload": spec.workload,
        "containers": list(spec.containers),
        "images": list(spec.images),
        "privileges": list(spec.privileges),
    }
    said = {key: value for key, value in body.items() if value != []}
    answered = {"reason": answers.reason, "owner": answers.owner, "expires": answers.expires}
    return {"apiVersion": API_VERSION, "kind": GRANT, "metadata": {"name": name}, "spec": said | answered}


def proposal_text(proposal: Proposal, name: str, answers: Answers = _NONE) -> str:
    return emit(proposal_document(proposal, name, answers))


def named_proposals(found: Iterable[Proposal], taken: Iterable[str] = ()) -> tuple[tuple[str, Proposal], ...]:
    """Each with a name that no grant has: its workload, its container if it is one, its cluster if it is one."""
    names = set(taken)
    result = []
    for item in found:
        parts = (item.workload, *(item.containers if len(item.containers) == 1 else ()))
        pod = () if item.containers else ("pod",)
        cluster = item.clusters if len(item.clusters) == 1 else ()
        name = free_name((*parts, *pod, *cluster), names)
        names.add(name)
        result.append((name, item))
    return tuple(result)


def free_name(parts: Sequence[str], taken: Iterable[str]) -> str:
    """A label made of the parts that is not taken; a number tells those apart that would be alike."""
    known = frozenset(taken)
    name, number = label_of(*parts), 1
    while name in known:
        number += 1
        ending = f"-{number}"
        name = label_of(label_of(*parts)[: 63 - len(ending)]) + ending
    return name


def snippet(found: Sequence[tuple[str, Proposal]], rest: str) -> str:
    """As many of the grants as fit one screen; `rest` is the command that shows the others."""
    shown: list[str] = []
    for index, (name, item) in enumerate(found):
        text = (_SEPARATOR if shown else "") + proposal_text(item, name)
        lines = text.splitlines()
        if len(shown) + len(lines) > _SCREEN:
            left = len(found) - index
            if not shown:
                shown, left = _cut(lines, rest), left - 1
            if left:
                more = "1 more grant" if left == 1 else f"{left} more grants"
                shown.append(f"# {more} needed: `{rest}` shows all")
            break
        shown.extend(lines)
    return "\n".join(shown)


def _cut(lines: list[str], rest: str) -> list[str]:
    """One grant that is longer than a screen: without some of its privileges."""
    head, tail = lines[: _SCREEN - 5], lines[-3:]
    hidden = len(lines) - len(head) - len(tail)
    return [*head, f"    # and {hidden} more: `{rest}` shows all", *tail]
