"""What a cluster's ledger holds that nobody has granted, with all that a grant for it has to name."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.record import record
from poolsmith.guard.ledger.grants.family import family_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from poolsmith.fleet.operands.installation import Made
    from poolsmith.guard.ledger.grants.matching import Repositories
    from poolsmith.guard.ledger.ledger import Ledger, LedgerLine


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
