"""Renamed GPU resources whose metrics the exporter gives to no pod."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, SHARED
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.plugin_offers import plugin_offers
from poolsmith.guard.rules.links.scraping import exporters
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import Need, Offer, State, Supply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.names.need import Verdict

RULE = RuleInfo.of("PSM766")
_FEW = 3


METRIC = "Metric"
"""A name of a resource, for whose pods the exporter asks the kubelet."""
NAMES_OF_RESOURCES = "NVIDIA_RESOURCE_NAMES"


@kept_all
def metric_needs(view: LinkView) -> Iterator[Need]:
    """Names that the plugin gives to GPUs, and that an exporter knows only where it is told; its place is the
    namespace."""
    told = list(_exporters(view))
    offers = plugin_offers(view) if told else None
    resources = sorted(offers.resources) if offers is not None else ()
    for name, chart, path in told:
        for resource in resources:
            if resource != GPU and (not resource.startswith(MIG) or resource.endswith(SHARED)):
                yield Need(
                    kind=METRIC,
                    name=resource,
                    namespace=name,
                    where=path,
                    who=chart.name,
                    locate=chart.place,
                    pointer=path,
                )


def metric_offers(view: LinkView) -> Iterator[Offer]:
    for name, chart, path in _exporters(view) if metric_needs(view) else ():
        said = mappings(chart.known(path))
        texts = (str(item.get("value")) for item in said if item.get("name") == NAMES_OF_RESOURCES)
        yield from (Offer(kind=METRIC, name=word.strip(), namespace=name) for text in texts for word in text.split(","))


def _exporters(view: LinkView) -> Iterator[tuple[str, LinkedChart, str]]:
    for number, chart in enumerate(exporters(view)):
        if not chart.partial:
            yield f"{number}", chart, "dcgmExporter.env" if chart.is_operator else "extraEnv"


DOMAINS = (Domain(METRIC, metric_needs, metric_offers, lambda _: Supply(owns=bool)),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    """One finding for each exporter."""
    for _, needs in groupby(metric_needs(view), key=lambda need: need.namespace):
        own = list(needs)
        missing = [found for need in own if (found := names_of(view).verdict(need)).state is not State.SUPPLIED]
        if missing:
            yield _finding(view, own, missing)


def _finding(view: LinkView, needs: list[Need], missing: list[Verdict]) -> Finding[Location]:
    offers, near = plugin_offers(view), next((item.offer for item in missing if item.state is State.NEAR), None)
    told = f"is configured with `{near.name}`" if near is not None else "is not configured with it"
    names = ",".join(need.name for need in needs)
    return Finding(
        message=f"the device plugin advertises {listed([item.need.name for item in missing], _FEW)}, and dcgm-exporter "
        f"{told}: its metrics of these GPUs have no pod",
        place=needs[0].place,
        help=f"write {{name: {NAMES_OF_RESOURCES}, value: '{names}'}} into `{needs[0].where}`",
        related=(offers.place,) if offers is not None else (),
    )
