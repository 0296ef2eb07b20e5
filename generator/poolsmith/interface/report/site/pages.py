"""The pages of a fleet, each made when it is written. The same facts give the same bytes."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.masking import masked
from poolsmith.core.diagnostics.message_text import counted
from poolsmith.core.pattern import pattern
from poolsmith.guard.ledger.reach import Reach
from poolsmith.interface.report.fleet_facts import FleetFacts
from poolsmith.interface.report.html.findings_view import findings_view
from poolsmith.interface.report.html.fleet_map import Targets, fleet_map
from poolsmith.interface.report.html.fleet_view import badge, kinds_of, legend, short_word
from poolsmith.interface.report.html.page import Html, PageLink, View, code, joined, line_of, page, scrolled, tag, words
from poolsmith.interface.report.inventory import resource_words, taint_words
from poolsmith.interface.report.site.timeline import timeline_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from poolsmith.core.diagnostics import Diagnostic
    from poolsmith.interface.report.formats import ReportContext
    from poolsmith.interface.report.site.facts import (
        BranchInUse,
        Expiry,
        GrantedFact,
        ReleaseInUse,
        SiteCluster,
        SiteFacts,
        SitePool,
        SiteWorkload,
    )

_PLAIN = pattern(r"[a-z0-9][a-z0-9.-]{0,200}")
_PAGES = (
    ("Fleet", "index.html"),
    ("What ends", "ends.html"),
    ("Releases", "releases.html"),
    ("History", "history.html"),
)


def pages(facts: SiteFacts, context: ReportContext) -> Iterator[tuple[str, str]]:
    """Paths below the folder of the site, with their texts."""
    writer = _Writer(facts, context)
    yield "index.html", writer.fleet()
    yield "ends.html", writer.ends()
    yield "releases.html", writer.releases()
    yield "history.html", writer.history()
    for cluster in facts.clusters:
        yield f"{_folder(cluster)}/index.html", writer.cluster(cluster)
        for pool in cluster.pools:
            yield f"{_folder(cluster)}/pools/{_slug(pool.facts.name)}.html", writer.pool(cluster, pool)


def _folder(cluster: SiteCluster) -> str:
    return f"clusters/{_slug(cluster.facts.name)}"


def _slug(name: str) -> str:
    """A name as a file that every file system tells apart."""
    return name if _PLAIN.fullmatch(name) else f"x-{hashlib.sha256(name.encode()).hexdigest()[:16]}"


class _FromTop(Targets):
    def cluster(self, cluster: str) -> str:
        return f"clusters/{_slug(cluster)}/index.html"

    def pool(self, cluster: str, pool: str) -> str:
        return f"clusters/{_slug(cluster)}/pools/{_slug(pool)}.html"


_UP = "../" * 2


class _Writer:
    def __init__(self, facts: SiteFacts, context: ReportContext) -> None:
        self._facts = facts
        self._context = context
        commit = f"commit {facts.commit[:12]}, " if facts.commit else ""
        self._as_of = f"{commit}as of {facts.today.isoformat()}"

    def fleet(self) -> str:
        clusters = self._facts.clusters
        fleet = FleetFacts(tuple(item.facts for item in clusters))
        rows = (_cluster_row(item) for item in clusters)
        table = _table(
            "Clusters", ("Cluster", "Release", "Kubernetes", "Ring", "Pools", "Nodes", "Worst reach", "Findings"), rows
        )
        views = (
            View("map", "Map", fleet_map(fleet, None, _FromTop()), fleet.pools),
            View("clusters", "Clusters", table, len(clusters)),
            self._ends_view(self._facts.expiring[:_FEW_ENDS], "Next to end"),
        )
        found = self._facts.findings
        what = f"{counted(len(clusters), 'cluster')}, {counted(fleet.pools, 'pool')}, {_counts(found)}"
        return self._page("GPU fleet", what, views, "index.html", "", _weight(found))

    def cluster(self, cluster: SiteCluster) -> str:
        facts = cluster.facts
        about = " · ".join(filter(None, (facts.release, f"Kubernetes {facts.kubernetes}", facts.engine, facts.ring)))
        unknown = tag("ul", joined(tag("li", words(item)) for item in facts.unknown), class_="unknown")
        views = [
            View("pools", "Pools", _table("Pools", _POOL_COLUMNS, map(_pool_row, cluster.pools)), len(cluster.pools)),
            View("privileges", "Privileges by pool", _matrix(cluster), None, kinds_of(_reached(cluster))),
            findings_view(cluster.findings, self._context, title="Findings"),
        ]
        if facts.unknown:
            views.insert(1, View("unknown", "Not known", unknown, len(facts.unknown)))
        what = f"{facts.name}: {counted(len(cluster.pools), 'pool')}, {_counts(cluster.findings)}"
        if not cluster.pools:
            what = f"{facts.name}: nothing can be said of it, {_counts(cluster.findings)}"
            views = [findings_view(cluster.findings, self._context, title="Findings")]
        return self._page(f"Cluster {facts.name}", what, views, "", _UP, _weight(cluster.findings), about)

    def pool(self, cluster: SiteCluster, pool: SitePool) -> str:
        facts, stock = pool.facts, pool.stock
        views = (
            View("what", "What it is", self._facts_of(pool)),
            View("plan", "Decisions", self._plan(pool)),
            View(
                "privileges",
                "Privileges",
                joined(self._workload(item) for item in pool.workloads),
                len(pool.workloads),
                kinds_of(item.reach for item in pool.workloads),
            ),
            View("images", "Images", _listed(code(masked(image)) for image in pool.images), len(pool.images)),
            findings_view(pool.findings, self._context, title="Findings"),
        )
        nodes = "number of nodes unknown" if stock.nodes is None else counted(stock.nodes, "node")
        ungranted = sum(len(held.tokens) for item in pool.workloads for held in item.held if not held.grant)
        lacking = f", {counted(ungranted, 'privilege')} without a grant" if ungranted else ""
        what = f"{facts.name}: {nodes}, {facts.gpu}{lacking}, {_counts(pool.findings)}"
        link = tag("a", cluster.facts.name, href="../index.html")
        return self._page(
            f"Pool {facts.name} of {cluster.facts.name}", what, views, "", "../" * 3, _weight(pool.findings), link
        )

    def ends(self) -> str:
        expiring = self._facts.expiring
        over = sum(item.day < self._facts.today.isoformat()[: len(item.day)] for item in expiring)
        what = f"{counted(len(expiring) - over, 'thing')} to end within 90 days, {over:,} ended already"
        views = (self._ends_view(expiring, "What ends"),)
        return self._page("What ends", what, views, "ends.html", "", "notable" if expiring else "good")

    def releases(self) -> str:
        support = self._facts.support
        releases = _table("Releases of the operator in use", _RELEASE_COLUMNS, map(_release_row, support.releases))
        branches = _table("Branches of drivers in use", _BRANCH_COLUMNS, map(_branch_row, support.branches))
        views = (
            View("releases", f"Releases of the operator, as of {support.releases_as_of}", releases),
            View("drivers", f"Branches of drivers, as of {support.branches_as_of}", branches),
        )
        ended = [item for item in support.releases if not item.is_supported]
        gone = [item for item in support.branches if item.ended]
        what = (
            f"{counted(len(support.releases), 'release')}, {len(ended):,} of them no longer supported; "
            f"drivers of {len(support.branches):,} branches, {len(gone):,} of them ended"
        )
        return self._page(
            "Releases and support", what, views, "releases.html", "", "notable" if ended or gone else "good"
        )

    def history(self) -> str:
        if self._facts.audit is None:
            body = tag(
                "p", "There is no history: the project is in no git repository, or has no commit.", class_="empty"
            )
            view, what = View("history", "History", body), "nothing is known of what was"
        else:
            view, what = timeline_view(self._facts.audit)
        return self._page(
            "Privileges over time", f"since {self._facts.since}: {what}", (view,), "history.html", "", "plain"
        )

    def _page(
        self, title: str, what: str, views: Sequence[View], current: str, up: str, weight: str, about: str = ""
    ) -> str:
        links = [PageLink(title=name, href=f"{up}{href}", is_current=href == current) for name, href in _PAGES]
        scope = joined((about, " · " if about else "", self._as_of))
        summary = tag(
            "div",
            tag("p", what, class_="verdict"),
            tag("p", scope, class_="scope"),
            class_=f"banner {weight}",
        )
        return page(title, summary, views, self._context, links)

    def _ends_view(self, expiring: Sequence[Expiry], title: str) -> View:
        if not expiring:
            return View("ends", title, tag("p", "Nothing ends within 90 days.", class_="empty"), 0)
        table = _table(title, ("Day", "What", "Kind", "Owner", "Where", "Place"), map(self._end_row, expiring))
        return View("ends", title, table, len(expiring))

    def _end_row(self, item: Expiry) -> Html:
        today = self._facts.today.isoformat()
        is_over = item.day < today[: len(item.day)]
        day = tag("strong", f"{item.day}, over" if is_over else item.day, class_="mark grave" if is_over else "")
        where = ", ".join(item.clusters[:_FEW]) + (
            f" and {len(item.clusters) - _FEW:,} more" if len(item.clusters) > _FEW else ""
        )
        place = line_of(item.path, item.line, self._context) if item.path else ""
        return _row(day, item.what, item.kind, item.owner or "nobody", where or "the fleet", place)

    def _facts_of(self, pool: SitePool) -> Html:
        facts, stock = pool.facts, pool.stock
        rows = (
            ("Profile", line_of(facts.path, None, self._context)),
            ("Owner", stock.owner or "nobody"),
            ("Nodes", joined((code(f"{item.key}={item.value}") for item in stock.selector), " ")),
            ("Taints", joined((code(taint_words(item)) for item in stock.taints), " ") or "none"),
            ("System", f"{facts.system}, kernel {facts.kernel}, {stock.arch}"),
            ("Runtime", facts.runtime),
            ("GPUs", f"{facts.gpu}, {facts.sharing}"),
            ("Driver", facts.driver),
            ("Offers", joined((code(resource_words(item)) for item in stock.resources), " ") or "nothing"),
            ("Runtime classes", ", ".join(stock.runtime_classes) or "none"),
            ("Runs", facts.workload),
            ("Worst reach", badge(facts.reach)),
        )
        body = joined(tag("tr", tag("th", name, scope="row"), tag("td", value)) for name, value in rows)
        return tag(
            "div",
            tag("table", tag("caption", "What the pool is"), tag("tbody", body), class_="about-pool"),
            class_="panel",
        )

    def _plan(self, pool: SitePool) -> Html:
        lines = tag(
            "pre", joined(pool.plan, Html("\n")), tabindex="0", role="region", aria_label="Decisions", class_="plan"
        )
        note = "Each decision with the line that it comes from, and the order on a node, as `explain` prints it."
        return tag("div", tag("p", words(note), class_="scope"), lines, class_="panel")

    def _workload(self, item: SiteWorkload) -> Html:
        ungranted = sum(len(held.tokens) for held in item.held if not held.grant)
        about = f"{counted(sum(len(held.tokens) for held in item.held), 'privilege')}"
        lacking = [tag("span", f"{ungranted:,} without a grant", class_="ungranted")] if ungranted else []
        name = tag("h3", code(item.workload), f" in {item.namespace}" if item.namespace else "")
        heading = tag("summary", badge(item.reach), name, *lacking, tag("span", about, class_="short"))
        columns = ("Container", "Reach", "Privileges", "Grant", "Until")
        table = _table(f"What {item.workload} may do", columns, map(self._held, item.held), "held granted-by")
        return tag("details", heading, table, class_="card workload hit", data_kind=f"privileges-{item.reach}")

    def _held(self, held: GrantedFact) -> Html:
        tokens = joined((code(token, "token") for token in held.tokens), " ")
        grant = tag("span", "no grant", class_="ungranted")
        if held.grant:
            owner = f", {held.owner}" if held.owner else ""
            grant = joined((tag("strong", held.grant), owner, tag("br"), line_of(held.path, None, self._context)))
        container = code(held.container) if held.container else "the pod"
        return tag(
            "tr",
            joined(
                tag("td", cell)
                for cell in (
                    container,
                    badge(held.reach),
                    tokens,
                    grant,
                    held.expires or ("no end" if held.grant else ""),
                )
            ),
        )


_FEW, _FEW_ENDS = 4, 8
_POOL_COLUMNS = ("Pool", "GPUs", "Driver", "System", "Kernel", "Divided", "Nodes", "Worst reach", "Findings")
_RELEASE_COLUMNS = ("Release", "Support", "Clusters", "Way to the newest that is supported", "Open to")
_BRANCH_COLUMNS = ("Branch", "Designation", "Ends", "Pools")


def _table(label: str, columns: Iterable[str], rows: Iterable[Html], look: str = "listing") -> Html:
    head = tag("thead", tag("tr", joined(tag("th", name, scope="col") for name in columns)))
    table = scrolled(tag("table", tag("caption", label), head, tag("tbody", joined(rows)), class_=look), label)
    return tag("div", table, class_="panel") if look == "listing" else table


def _row(first: str, *cells: str) -> Html:
    return tag("tr", tag("th", first, scope="row"), joined(tag("td", cell) for cell in cells), class_="hit")


def _listed(items: Iterable[str]) -> Html:
    return tag("ul", joined(tag("li", item, class_="hit") for item in items), class_="panel plain")


def _cluster_row(item: SiteCluster) -> Html:
    facts = item.facts
    counts = [pool.facts.nodes for pool in item.pools]
    nodes = "unknown" if None in counts or not counts else f"{sum(filter(None, counts)):,}"
    reach = min((pool.facts.reach for pool in item.pools), default=Reach.NONE)
    link = tag("a", facts.name, href=_FromTop().cluster(facts.name))
    shown = badge(reach) if item.pools else "unknown"
    return _row(
        link,
        facts.release or "unknown",
        facts.kubernetes,
        facts.ring,
        f"{len(item.pools):,}",
        nodes,
        shown,
        _counts(item.findings),
    )


def _pool_row(item: SitePool) -> Html:
    facts = item.facts
    link = tag("a", facts.name, href=f"pools/{_slug(facts.name)}.html")
    nodes = "unknown" if facts.nodes is None else f"{facts.nodes:,}"
    return _row(
        link,
        facts.gpu,
        facts.driver,
        facts.system,
        facts.kernel,
        facts.sharing,
        nodes,
        badge(facts.reach),
        _counts(item.findings),
    )


def _release_row(item: ReleaseInUse) -> Html:
    way = item.way
    shown = "unknown" if way is None else " \u2192 ".join(way) if way else "it is the newest"
    support = "supported" if item.is_supported else tag("span", "ended", class_="ungranted")
    return _row(
        item.release, support, ", ".join(item.clusters), shown, "; ".join(item.open_to) or "nothing that is recorded"
    )


def _branch_row(item: BranchInUse) -> Html:
    ends = item.ends or ("ended" if item.ended else "unknown")
    shown = tag("span", ends if ends == "ended" else f"{ends}, ended", class_="ungranted") if item.ended else ends
    return _row(f"R{item.branch}", item.designation or "unknown", shown, _pools(item.pools))


def _pools(names: Sequence[str]) -> Html:
    if len(names) <= _FEW:
        return joined(names, ", ")
    more = tag("details", tag("summary", f"{len(names) - _FEW:,} more"), ", ".join(names[_FEW:]), class_="inline")
    return joined((", ".join(names[:_FEW]), " ", more))


def _reached(cluster: SiteCluster) -> set[Reach]:
    return {item.reach for pool in cluster.pools for item in pool.workloads}


def _matrix(cluster: SiteCluster) -> Html:
    """The worst reach of each workload on each pool, which the cell leads to."""
    cells: dict[str, dict[str, SiteWorkload]] = defaultdict(dict)
    for pool in cluster.pools:
        for item in pool.workloads:
            cells[item.workload][pool.facts.name] = item
    names = [pool.facts.name for pool in cluster.pools]
    rows = sorted(cells.items(), key=lambda entry: (min(item.reach for item in entry[1].values()), entry[0]))
    shown = (_matrix_row(workload, held, names) for workload, held in rows)
    table = _table("Reach of each workload on each pool", ("Workload", *names), shown, "matrix")
    return tag("div", table, legend(), class_="panel")


def _matrix_row(workload: str, held: dict[str, SiteWorkload], names: Sequence[str]) -> Html:
    kind, _, name = workload.partition("/")
    head = tag("th", name, " ", tag("span", kind, class_="faint"), scope="row")
    reach = min(item.reach for item in held.values())
    cells = joined(tag("td", _cell(held[pool]) if pool in held else tag("span", "-", class_="faint")) for pool in names)
    return tag("tr", head, cells, class_="hit", data_kind=f"privileges-{reach}")


def _cell(item: SiteWorkload) -> Html:
    reach = item.reach
    word = tag("span", short_word(reach), class_=f"reach r{reach.value}", title=f"{reach}: {reach.meaning}")
    lacks = any(not held.grant for held in item.held)
    return joined((word, tag("span", "no grant", class_="ungranted"))) if lacks else word


def _counts(found: Iterable[Diagnostic]) -> str:
    open_ = [item.severity for item in found if not item.is_waived]
    parts = [counted(open_.count(severity), severity.value) for severity in Severity if open_.count(severity)]
    return ", ".join(parts) or "no findings"


def _weight(found: Iterable[Diagnostic]) -> str:
    worst = min((item.severity.rank for item in found if not item.is_waived), default=Severity.NOTE.rank)
    return {Severity.ERROR.rank: "grave", Severity.WARNING.rank: "notable"}.get(worst, "good")
