"""The views of the fleet: clusters and pools, and the privilege matrix of each cluster.

A cell of the matrix leads to what the workload may do, and why. What is the same in many clusters, except for the
folder of their profiles, is written once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.record import record
from poolsmith.guard.ledger.ledger import ANY_NODE, NO_KNOWN_NODE
from poolsmith.guard.ledger.reach import Reach
from poolsmith.interface.report.html.fleet_map import fleet_map
from poolsmith.interface.report.html.page import View, anchor, code, joined, line_of, scrolled, tag, words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from poolsmith.change.diff.change_report import ChangeReport
    from poolsmith.interface.report.fleet_facts import (
        Cause,
        ClusterFacts,
        FleetFacts,
        HeldFact,
        PoolFacts,
        WorkloadFacts,
    )
    from poolsmith.interface.report.formats import ReportContext
    from poolsmith.interface.report.html.page import Html


_SHORT = {
    Reach.NODE_ROOT: "root",
    Reach.NODE_WRITE: "write",
    Reach.CLUSTER_WRITE: "cluster",
    Reach.SECRETS: "secrets",
    Reach.NODE_READ: "read",
    Reach.NETWORK: "network",
    Reach.OBJECT_WRITE: "objects",
    Reach.CLUSTER_READ: "api",
    Reach.NONE: "none",
}


def badge(reach: Reach) -> Html:
    return tag("span", str(reach), class_=f"reach r{reach.value}", title=reach.meaning)


def short_word(reach: Reach) -> str:
    """For a cell of a matrix."""
    return _SHORT[reach]


def kinds_of(reached: Iterable[Reach]) -> tuple[tuple[str, str], ...]:
    """What a view can be filtered by, from the worst on."""
    return tuple((str(reach), str(reach)) for reach in sorted(set(reached)))


def legend() -> Html:
    """What the words of cells mean, from the worst on."""
    rows = (
        tag("li", tag("span", _SHORT[reach], class_=f"reach r{reach.value}"), f" {reach}: {reach.meaning}")
        for reach in Reach
    )
    return tag(
        "details", tag("summary", "What the words mean"), tag("ul", joined(rows), class_="legend"), class_="more"
    )


_COLUMNS = ("Pool", "System", "Kernel", "Runtime", "GPUs", "Driver", "GPUs divided", "Runs", "Nodes", "Worst reach")


def fleet_view(fleet: FleetFacts, context: ReportContext, change: ChangeReport | None = None) -> View:
    """A map, and a table of pools for each cluster."""
    body = joined((fleet_map(fleet, change), *(_cluster(item, context) for item in fleet.clusters)))
    reached = {pool.reach for cluster in fleet.clusters for pool in cluster.pools}
    return View("fleet", "Fleet", body, fleet.pools, kinds_of(reached))


def _cluster(cluster: ClusterFacts, context: ReportContext) -> Html:
    count = counted(len(cluster.pools), "pool")
    about = " · ".join(filter(None, (count, cluster.release, f"Kubernetes {cluster.kubernetes}", cluster.engine)))
    heading = tag("h3", cluster.name), tag("span", about if cluster.release else "", class_="scope")
    parts = [tag("summary", *heading)]
    if cluster.unknown:
        parts.append(
            tag("ul", joined(tag("li", "not known: ", words(item)) for item in cluster.unknown), class_="unknown")
        )
    if cluster.pools:
        head = tag("thead", tag("tr", joined(tag("th", name, scope="col") for name in _COLUMNS)))
        rows = tag("tbody", joined(_pool(cluster, pool, context) for pool in cluster.pools))
        table = tag("table", tag("caption", f"Pools of {cluster.name}"), head, rows, class_="pools")
        parts.append(scrolled(table, f"Pools of {cluster.name}"))
    if cluster.workloads:
        link = tag("a", "What each workload may do here", href=f"#{anchor('privileges', cluster.name)}")
        parts.append(tag("p", link, class_="scope"))
    return tag("details", *parts, id=anchor("fleet", cluster.name), class_="cluster card")


def _pool(cluster: ClusterFacts, pool: PoolFacts, context: ReportContext) -> Html:
    cells = (
        pool.system,
        pool.kernel,
        pool.runtime,
        pool.gpu,
        pool.driver,
        pool.sharing,
        pool.workload,
        "unknown" if pool.nodes is None else f"{pool.nodes:,}",
        badge(pool.reach),
    )
    key = anchor("pool", cluster.name, pool.name)
    title = tag("a", pool.name, href=f"#{key}")
    name = tag("th", title, tag("br"), line_of(pool.path, None, context), scope="row")
    shown = joined(tag("td", cell) for cell in cells)
    return tag("tr", name, shown, class_="hit", id=key, data_kind=f"fleet-{pool.reach}")


_NOWHERE = "no known node"


def privilege_view(fleet: FleetFacts, context: ReportContext) -> View:
    writer = _Writer(context)
    clusters = [item for item in fleet.clusters if item.workloads]
    worst = sum(item.reach is Reach.NODE_ROOT for cluster in clusters for item in cluster.workloads)
    body = joined((legend(), *(writer.cluster(item) for item in clusters)))
    reached = {item.reach for cluster in clusters for item in cluster.workloads}
    return View("privileges", "Privileges", body, worst, kinds_of(reached))


@record(kw_only=False)
class _Same:
    """Where the same was written already."""

    cluster: str
    key: str


class _Writer:
    def __init__(self, context: ReportContext) -> None:
        self._context = context
        self._written: dict[object, _Same] = {}

    def cluster(self, cluster: ClusterFacts) -> Html:
        name = cluster.name
        about = " · ".join((cluster.release, counted(len(cluster.workloads), "workload")))
        parts = [tag("summary", tag("h3", name), tag("span", about, class_="scope")), _matrix(cluster)]
        details = joined(self._workload(cluster, item) for item in cluster.workloads)
        heading = tag("summary", f"What each of the {len(cluster.workloads):,} workloads may do, and why")
        parts.append(tag("details", heading, details, class_="more workloads"))
        return tag("details", *parts, id=anchor("privileges", name), class_="cluster card")

    def _workload(self, cluster: ClusterFacts, item: WorkloadFacts) -> Html:
        key = _key(cluster, item)
        heading = tag(
            "summary",
            badge(item.reach),
            tag("h4", code(item.workload), f" in {item.namespace}" if item.namespace else ""),
            tag("span", _where(item), class_="short"),
        )
        body = [tag("p", f"Made by {item.maker}. ", self._because(item.causes))]
        shared = _identity(cluster, item)
        same = self._written.setdefault(shared, _Same(cluster.name, key))
        if not item.held:
            body.append(tag("p", "It holds no privilege."))
        elif same.key != key:
            link = tag("a", f"the same workload of {same.cluster}", href=f"#{same.key}")
            body.append(tag("p", f"It holds {len(item.held):,} privileges, the same as ", link, "."))
        else:
            body.append(self._table(item))
        return tag("details", heading, *body, id=key, class_="card workload hit", data_kind=_kind(item))

    def _table(self, item: WorkloadFacts) -> Html:
        columns = joined(tag("th", name, scope="col") for name in ("Reach", "Container", "May", "Because of"))
        rows = tag("tbody", joined(map(self._row, sorted(item.held, key=lambda held: held.reach))))
        caption = tag("caption", f"What {item.workload} may do")
        table = tag("table", caption, tag("thead", tag("tr", columns)), rows, class_="held")
        return scrolled(table, f"Privileges of {item.workload}")

    def _row(self, held: HeldFact) -> Html:
        may = tag("td", words(held.words), tag("br"), code(held.token, "token"))
        where = tag("td", code(held.container) if held.container else "the pod")
        return tag("tr", tag("td", badge(held.reach)), where, may, tag("td", self._causes(held.causes)))

    def _because(self, causes: Iterable[Cause]) -> Html:
        shown = self._causes(causes)
        return joined(("Because of ", shown)) if shown else joined(())

    def _causes(self, causes: Iterable[Cause]) -> Html:
        return joined(map(self._cause, causes), "; ")

    def _cause(self, cause: Cause) -> Html:
        if not cause.path:
            return words(cause.text)
        return joined((line_of(cause.path, cause.line, self._context), " ", code(cause.text)))


def _key(cluster: ClusterFacts, item: WorkloadFacts) -> str:
    return anchor("w", cluster.name, item.namespace, item.workload)


def _identity(cluster: ClusterFacts, item: WorkloadFacts) -> object:
    """What is written of it, without the folder of the cluster's own profiles."""
    own = f"profiles/{cluster.name}/"

    def without(causes: Iterable[Cause]) -> tuple[tuple[str, str, int | None], ...]:
        return tuple((cause.text, cause.path.removeprefix(own), cause.line) for cause in causes)

    return (
        item.workload,
        tuple((held.container, held.token, held.reach, without(held.causes)) for held in item.held),
    )


def _kind(item: WorkloadFacts) -> str:
    return f"privileges-{item.reach}"


def _where(item: WorkloadFacts) -> str:
    if item.pools == (ANY_NODE,):
        return "any node"
    if item.pools == (NO_KNOWN_NODE,):
        return _NOWHERE
    return ", ".join(item.pools)


def _matrix(cluster: ClusterFacts) -> Html:
    pools = [pool.name for pool in cluster.pools]
    columns = joined(tag("th", tag("span", name), scope="col") for name in pools)
    head = tag("thead", tag("tr", tag("th", "Workload", scope="col"), columns))
    rows = tag("tbody", joined(_row(cluster, item, pools) for item in cluster.workloads))
    label = f"Reach of each workload on each pool of {cluster.name}"
    return scrolled(tag("table", tag("caption", label), head, rows, class_="matrix"), label)


def _row(cluster: ClusterFacts, item: WorkloadFacts, pools: list[str]) -> Html:
    target = f"#{_key(cluster, item)}"
    kind, _, name = item.workload.partition("/")
    title = tag("th", tag("a", name, href=target), " ", tag("span", kind, class_="faint"), scope="row")
    if item.pools in ((ANY_NODE,), (NO_KNOWN_NODE,)):
        words_ = f"{short_word(item.reach)}, on {_where(item)}"
        cell = tag("a", words_, href=target, class_=f"reach r{item.reach.value}")
        return tag(
            "tr", title, tag("td", cell, colspan=str(len(pools)), class_="wide"), class_="hit", data_kind=_kind(item)
        )
    cells = (
        tag("td", tag("a", short_word(item.reach), href=target, class_=f"reach r{item.reach.value}"))
        if pool in item.pools
        else tag("td", tag("span", "-", class_="faint"))
        for pool in pools
    )
    return tag("tr", title, joined(cells), class_="hit", data_kind=_kind(item))
