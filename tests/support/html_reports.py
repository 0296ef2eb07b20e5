"""Reports to open in a browser: the sample fleet, a fleet of 1,000 pools, and one whose every text is hostile."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

from poolsmith.core.diagnostics.outcome import Outcome
from poolsmith.interface.app.fleet_facts import fleet_facts
from poolsmith.interface.report.fleet_facts import ClusterFacts, FleetFacts
from poolsmith.interface.report.formats import ReportContext
from poolsmith.interface.report.html import check_report

ROOT = Path(__file__).resolve().parents[2]


@cache
def sample_fleet() -> FleetFacts:
    return fleet_facts(ROOT)


def context(fleet: FleetFacts | None = None, source: str = "") -> ReportContext:
    return ReportContext(tool="poolsmith test", fleet=fleet, source=source)


def report_of(fleet: FleetFacts, outcome: Outcome | None = None) -> str:
    return check_report(outcome or Outcome(checked={"clusters": len(fleet.clusters)}), context(fleet))


def large_fleet(clusters: int = 100, pools: int = 10) -> FleetFacts:
    """Clusters like the sample's largest, each of so many pools, with every workload on each of them."""
    model = max(sample_fleet().clusters, key=lambda item: len(item.pools))
    names = tuple(f"pool-{number}" for number in range(pools))
    made = [
        replace(
            model,
            name=f"cluster-{number}",
            pools=tuple(replace(model.pools[0], name=name) for name in names),
            workloads=tuple(item if item.pools[0] in "*-" else replace(item, pools=names) for item in model.workloads),
        )
        for number in range(clusters)
    ]
    return FleetFacts(tuple(made))


def with_text(fleet: FleetFacts, text: str) -> FleetFacts:
    """The first cluster, with a text of a stranger wherever profiles may hold one."""
    cluster = fleet.clusters[0]
    pool = replace(cluster.pools[0], name=text, system=text, kernel=text, driver=text, path=text)
    held = tuple(replace(item, container=text, token=text, words=text) for item in cluster.workloads[0].held[:3])
    causes = tuple(replace(item, text=text, path=text) for item in cluster.workloads[0].causes)
    workload = replace(cluster.workloads[0], workload=f"DaemonSet/{text}", pools=(text,), held=held, causes=causes)
    hostile: ClusterFacts = replace(cluster, name=text, pools=(pool,), workloads=(workload,), unknown=(text,))
    return FleetFacts((hostile,))
