"""Monitors of the stack that no Prometheus beside it selects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.scraping import monitors, scrapers
from poolsmith.guard.rules.names.need import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.links.scraping import Monitor, Scraper

RULE = RuleInfo(
    code="PSM759",
    name="monitor-not-selected",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="The operator or dcgm-exporter makes a ServiceMonitor, or one for the exporter stands here, and no Prometheus "
    "beside it selects its labels: kube-prometheus-stack those with its release's label alone, an object of the kind "
    "Prometheus what its selector says.",
    why="Prometheus scrapes nothing of it, and neither of them says so.",
    fix="give the monitor the label that is selected, such as `release`, or let Prometheus select all of them",
    bad="dcgmExporter: {serviceMonitor: {enabled: true}}\n",
    good="dcgmExporter: {serviceMonitor: {enabled: true, additionalLabels: {release: monitoring}}}\n",
    symptom="no series `DCGM_FI_...`, while the exporter's own page shows them",
    references=(
        "prometheus-community/helm-charts:charts/kube-prometheus-stack/templates/prometheus/prometheus.yaml",
        "NVIDIA/gpu-operator@v26.3.3:controllers/object_controls.go, ServiceMonitor",
    ),
)


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
