"""The fleet: clusters, pools, and what each of them is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.interface.report.html.element import anchor, joined, tag, words
from poolsmith.interface.report.html.place import line_of
from poolsmith.interface.report.html.reach_badge import badge, kinds_of
from poolsmith.interface.report.html.view import View

if TYPE_CHECKING:
    from poolsmith.interface.report.fleet_facts import ClusterFacts, FleetFacts, PoolFacts
    from poolsmith.interface.report.html.element import Html
    from poolsmith.interface.report.layout import ReportContext

_COLUMNS = ("Pool", "System", "Kernel", "Runtime", "GPUs", "Driver", "GPUs divided", "Runs", "Nodes", "Worst reach")


def fleet_view(fleet: FleetFacts, context: ReportContext) -> View:
    body = joined(_cluster(item, context) for item in fleet.clusters)
    reached = {pool.reach for cluster in fleet.clusters for pool in cluster.pools}
    return View("fleet", "Fleet", body, fleet.pools, kinds_of(reached))


def _cluster(cluster: ClusterFacts, context: ReportContext) -> Html:
    title = tag("h3", tag("a", cluster.name, href=f"#{anchor('privileges', cluster.name)}"))
    about = " · ".join(filter(None, (cluster.release, f"Kubernetes {cluster.kubernetes}", cluster.engine)))
    parts = [tag("header", title, tag("p", about if cluster.release else "", class_="scope"))]
    if cluster.unknown:
        parts.append(
            tag("ul", joined(tag("li", "not known: ", words(item)) for item in cluster.unknown), class_="unknown")
        )
    if cluster.pools:
        head = tag("thead", tag("tr", joined(tag("th", name, scope="col") for name in _COLUMNS)))
        rows = tag("tbody", joined(_pool(cluster, pool, context) for pool in cluster.pools))
        table = tag("table", tag("caption", f"Pools of {cluster.name}"), head, rows, class_="pools")
        parts.append(_scrolled(table, f"Pools of {cluster.name}"))
    return tag("section", *parts, id=anchor("fleet", cluster.name), class_="cluster")


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


def _scrolled(table: Html, label: str) -> Html:
    """Wide tables scroll by themselves, by keyboard too."""
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=f"{label}, table")
