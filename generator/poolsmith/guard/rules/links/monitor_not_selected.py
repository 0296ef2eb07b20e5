"""Monitors of the stack that no Prometheus beside it selects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import MISSING
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.scraping import exporters, monitor_id, monitors_of_exporters
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import Need, Offer, State, Supply

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

RULE = RuleInfo.of("PSM759")


SCRAPER = "Scraper"
"""A Prometheus that selects a monitor."""
_GROUP = "monitoring.coreos.com"
_SELECTORS = {"ServiceMonitor": "serviceMonitorSelector", "PodMonitor": "podMonitorSelector"}
_SPEC, _LABEL = "prometheus.prometheusSpec.", "release"
_BY_HAND, _EXPORTER = "additionalScrapeConfigs", "dcgm-exporter"
"""Where jobs stand that scrape without a monitor, and what one of the exporter names."""
_OF_THE_CHART = ("app", "helm.sh/")
"""How labels begin that a chart gives its monitors by itself."""


@record
class Monitor:
    """`path` is that of a chart's value; empty for an object. A chart has more labels than its values say."""

    need: Need
    kind: str
    labels: Mapping[str, Any]
    path: str = ""

    def lacks(self, wanted: Mapping[str, str]) -> dict[str, str]:
        return {
            key: value
            for key, value in wanted.items()
            if self.labels.get(key) != value and not (self.path and key.startswith(_OF_THE_CHART))
        }


@record
class Scraper:
    """A Prometheus; `wanted` are labels of the monitors that it selects by kind, None where nobody can tell."""

    wanted: Mapping[str, Mapping[str, str] | None]
    place: Location


@kept_all
def monitors(view: LinkView) -> Iterator[Monitor]:
    """Those of the stack."""
    for number, chart in enumerate(exporters(view)):
        path = "dcgmExporter.serviceMonitor" if chart.is_operator else "serviceMonitor"
        made = chart.value(f"{path}.enabled")
        if not chart.partial and (made is True or (made is MISSING and not chart.is_operator)):
            need = Need(
                kind=SCRAPER,
                name=f"{number} {chart.name}",
                where=path,
                who=f"the ServiceMonitor of {chart.name}",
                locate=chart.place,
                pointer=f"{path}.enabled",
            )
            yield Monitor(
                need=need, kind="ServiceMonitor", labels=mapping(chart.value(f"{path}.additionalLabels")), path=path
            )
    for item in monitors_of_exporters(view):
        if item.kind not in _SELECTORS:
            continue
        at = "/metadata/labels" if item.metadata.get("labels") else "/metadata/name"
        need = Need(kind=SCRAPER, name=monitor_id(item), who=item.name, locate=item.place, pointer=at)
        yield Monitor(need=need, kind=item.kind, labels=mapping(item.metadata.get("labels")))


@kept_all
def scrapers(view: LinkView) -> Iterator[Scraper]:
    for chart in view.named("kube-prometheus-stack"):
        if chart.value("prometheus.enabled") is not False:
            wanted = {kind: _of_chart(chart, field) for kind, field in _SELECTORS.items()}
            yield Scraper(wanted=wanted, place=chart.declared_at)
    for item in view.of_kind("Prometheus", "PrometheusAgent") if view.is_whole else ():
        if item.group == _GROUP:
            wanted = {kind: _labels(item.spec.get(field)) for kind, field in _SELECTORS.items()}
            yield Scraper(wanted=wanted, place=item.place("/spec"))


def _of_chart(chart: LinkedChart, field: str) -> Mapping[str, str] | None:
    said = chart.value(_SPEC + field)
    if chart.partial or said not in (MISSING, {}, None):
        return None if chart.partial else _labels(said)
    if chart.value(f"{_SPEC}{field}NilUsesHelmValues") is False or _EXPORTER in str(chart.value(_SPEC + _BY_HAND)):
        return {}
    return {_LABEL: chart.release_name} if chart.release_name else None


def _labels(selector: Any) -> Mapping[str, str] | None:
    labels = mapping(mapping(selector).get("matchLabels"))
    is_known = isinstance(selector, dict) and not set(selector) - {"matchLabels"}
    return labels if is_known and all(isinstance(word, str) for pair in labels.items() for word in pair) else None


def scraper_offers(view: LinkView) -> Iterator[Offer]:
    by_kind = {kind: _Selecting(view, kind) for kind in _SELECTORS}
    for monitor in monitors(view):
        if by_kind[monitor.kind].select(monitor):
            yield Offer(kind=SCRAPER, name=monitor.need.name)


class _Selecting:
    """The selectors of all Prometheuses, each once, found by a label of theirs."""

    def __init__(self, view: LinkView, kind: str) -> None:
        self._selects_all = False
        self._by_label: dict[str, dict[tuple[tuple[str, str], ...], Mapping[str, str]]] = {}
        for scraper in scrapers(view):
            wanted = scraper.wanted[kind]
            self._selects_all |= not wanted
            if wanted:
                self._by_label.setdefault(min(wanted), {})[tuple(sorted(wanted.items()))] = wanted

    def select(self, monitor: Monitor) -> bool:
        keys = (*monitor.labels, *(key for key in self._by_label if key.startswith(_OF_THE_CHART)))
        wanted = (found for key in keys for found in self._by_label.get(key, {}).values())
        return self._selects_all or not all(map(monitor.lacks, wanted))


def scraper_supply(view: LinkView) -> Supply:
    return Supply(owns=lambda _: bool(scrapers(view)))


DOMAINS = (Domain(SCRAPER, lambda view: (item.need for item in monitors(view)), scraper_offers, scraper_supply),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for monitor in monitors(view):
        if names_of(view).verdict(monitor.need).state is State.UNDEFINED:
            yield _finding(monitor, scrapers(view)[0])


def _finding(monitor: Monitor, scraper: Scraper) -> Finding[Location]:
    lacking = monitor.lacks(scraper.wanted[monitor.kind] or {})
    (key, value), *_ = wanted = [(shorten(name), shorten(text)) for name, text in lacking.items()]
    own = next((shorten(str(monitor.labels[name])) for name in lacking if name in monitor.labels), None)
    has = f"has `{key}: {own}`" if own is not None else f"has no label `{key}`"
    path = f"{monitor.path}.additionalLabels" if monitor.path else "metadata.labels"
    return Finding(
        message=f"{monitor.need.who} {has}, and the Prometheus beside it selects `{key}: {value}`",
        place=monitor.need.place,
        help=f"write `{path}: {{{', '.join(f'{name}: {text}' for name, text in wanted)}}}`, or let Prometheus "
        "select all by `serviceMonitorSelectorNilUsesHelmValues: false`",
        related=(scraper.place,),
    )
