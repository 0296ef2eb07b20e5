"""Who scrapes the exporter: monitors that a Prometheus has to select, and what these monitors have to find.

Source: prometheus-operator:Documentation/api-reference/api.md, PrometheusSpec; the charts' own defaults:
prometheus-community/helm-charts:charts/kube-prometheus-stack/templates/prometheus/prometheus.yaml.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import MISSING, value_at
from poolsmith.guard.rules.links.exporters import EXPORTER, exporters
from poolsmith.guard.rules.names.need import Need, Offer, Supply

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

SCRAPER, TARGET = "Scraper", "Target"
"""Kinds of what monitors need: a Prometheus that selects them, and something to scrape."""
_OF_SERVICES, _OF_PODS = ("endpoints", "labels", "port"), ("podMetricsEndpoints", "pod", "podPort")
ENDPOINTS = {
    **dict.fromkeys(("ServiceMonitor", "VMServiceScrape"), _OF_SERVICES),
    **dict.fromkeys(("PodMonitor", "VMPodScrape"), _OF_PODS),
}
"""Kinds of monitors, of Prometheus and of VictoriaMetrics: their endpoints, and what an exporter has for them."""
_GROUP = "monitoring.coreos.com"
_SELECTORS = {"ServiceMonitor": "serviceMonitorSelector", "PodMonitor": "podMonitorSelector"}
_OF_CHARTS = {"gpu-operator": "dcgmExporter.serviceMonitor", EXPORTER: "serviceMonitor"}
_SPEC, _LABEL = "prometheus.prometheusSpec.", "release"
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


def monitors(view: LinkView) -> tuple[Monitor, ...]:
    """Those of the stack."""
    return view.kept("monitors", lambda: _monitors(view))


def _monitors(view: LinkView) -> Iterator[Monitor]:
    for number, chart in enumerate(exporters(view)):
        path = _OF_CHARTS["gpu-operator" if chart.is_operator else EXPORTER]
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
    for item in _of_the_exporter(view):
        if item.kind not in _SELECTORS:
            continue
        at = "/metadata/labels" if item.metadata.get("labels") else "/metadata/name"
        need = Need(kind=SCRAPER, name=_id(item), where="", who=item.name, locate=item.place, pointer=at)
        yield Monitor(need=need, kind=item.kind, labels=mapping(item.metadata.get("labels")))


def _id(item: SetupObject) -> str:
    return f"{word(item.metadata.get('namespace'))}/{item.name}"


def _of_the_exporter(view: LinkView) -> Iterator[SetupObject]:
    for item in view.of_kind(*ENDPOINTS) if view.is_whole else ():
        if any("dcgm" in str(value) for value in _wanted(item).values()):
            yield item


def _wanted(item: SetupObject) -> Mapping[str, Any]:
    return mapping(value_at(item.spec, ("selector", "matchLabels")))


def scrapers(view: LinkView) -> tuple[Scraper, ...]:
    return view.kept("scrapers", lambda: _scrapers(view))


def _scrapers(view: LinkView) -> Iterator[Scraper]:
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
    if chart.value(f"{_SPEC}{field}NilUsesHelmValues") is False:
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


@record
class Target:
    """What an exporter makes to be found by."""

    title: str
    labels: Mapping[str, str]
    port: str
    namespace: str | None
    asked_at: str = ""
    """Where a monitor says which namespace it looks into."""


def targets(view: LinkView, kind: str) -> list[Target]:
    """Of the exporters whose names are their own."""
    own = ("nameOverride", "fullnameOverride", "service.port")
    return [_target(chart, kind) for chart in exporters(view) if not any(map(chart.says, own))]


def _target(chart: LinkedChart, kind: str) -> Target:
    _, labels, port = ENDPOINTS[kind]
    row = next(row for row in store.table("exporter_lists.yaml")["services"] if chart.name in row["charts"])
    named = {key: text.replace("{release}", chart.release_name or "") for key, text in row[labels].items()}
    return Target(title=chart.name, labels=named, port=row[port], namespace=chart.namespace)


def target_needs(view: LinkView) -> tuple[Need, ...]:
    """Of monitors, each with the ports that it names; nothing of those that have a target among the files."""
    return view.kept("target needs", lambda: map(_target_need, _looking(view)))


def _looking(view: LinkView) -> Iterator[SetupObject]:
    return (item for item in _of_the_exporter(view) if not _has_own_target(view, _wanted(item)))


def _target_need(item: SetupObject) -> Need:
    field = ENDPOINTS[item.kind][0]
    ports = {word(endpoint.get("port")): index for index, endpoint in enumerate(mappings(item.spec.get(field)))}
    return Need(
        kind=TARGET,
        name=_id(item),
        where=item.kind,
        who=item.name,
        locate=item.place,
        pointer="/spec/selector/matchLabels",
        namespace=_NOWHERE,
        keys={port: f"/spec/{field}/{index}/port" for port, index in ports.items() if port},
    )


_NOWHERE = "?"
"""A namespace that no object has: a target is offered to all of them where the monitor looks into its own."""


def target_offers(view: LinkView) -> Iterator[Offer]:
    left_open = store.table("exporter_lists.yaml")["open"]
    there = {kind: targets(view, kind) for kind in ENDPOINTS}
    for item in _looking(view):
        asked = {key: value for key, value in _wanted(item).items() if key not in left_open}
        for target in there[item.kind]:
            if all(target.labels.get(key) == value for key, value in asked.items()):
                at = "/spec/namespaceSelector" if "namespaceSelector" in item.spec else "/metadata/namespace"
                space = "" if _sees(item, target.namespace) else target.namespace or ""
                via = replace(target, asked_at=at)
                yield Offer(kind=TARGET, name=_id(item), namespace=space, keys=(target.port,), via=via)


def target_supply(view: LinkView) -> Supply:
    return Supply(owns=lambda _: bool(targets(view, "ServiceMonitor")))


def _sees(item: SetupObject, namespace: str | None) -> bool:
    own = word(item.metadata.get("namespace"))
    said = item.spec.get("namespaceSelector", MISSING)
    if not namespace or not own or (said is not MISSING and not isinstance(said, dict)):
        return True
    selector = mapping(said)
    names = words(selector.get("matchNames"))
    return selector.get("any") is True or namespace in (names or (own,))


def _has_own_target(view: LinkView, wanted: Mapping[str, Any]) -> bool:
    """Whether a Service or a workload of the files has the labels."""
    if not _is_flat(wanted):
        return False
    by_label = _labelled(view)
    candidates = min((by_label.get(label, ()) for label in wanted.items()), key=len, default=by_label.get(None, ()))
    return any(wanted.items() <= labels.items() for labels in candidates)


_LABELLED = "labels of what is scraped"


def _labelled(view: LinkView) -> dict[tuple[str, Any] | None, list[Mapping[str, Any]]]:
    """By each label that they have; all of them under None."""
    if _LABELLED not in view.made:
        found: dict[tuple[str, Any] | None, list[Mapping[str, Any]]] = {}
        all_labels = [item.metadata.get("labels") for item in view.of_kind("Service")]
        path = ("spec", "template", "metadata", "labels")
        all_labels += [value_at(item.data, path) for item in view.of_kind("DaemonSet")]
        for labels in (mapping(item) for item in all_labels if _is_flat(item)):
            for label in (None, *labels.items()):
                found.setdefault(label, []).append(labels)
        view.made[_LABELLED] = found
    return cast("dict[tuple[str, Any] | None, list[Mapping[str, Any]]]", view.made[_LABELLED])


def _is_flat(labels: Any) -> bool:
    return isinstance(labels, dict) and all(isinstance(value, str) for value in labels.values())
