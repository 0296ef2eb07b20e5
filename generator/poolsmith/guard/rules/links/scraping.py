"""The exporters of GPU metrics of a cluster, and the monitors that are written for them.

Source: prometheus-operator:Documentation/api-reference/api.md, PrometheusSpec; the charts' own defaults:
prometheus-community/helm-charts:charts/kube-prometheus-stack/templates/prometheus/prometheus.yaml.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

EXPORTER = "dcgm-exporter"
_OF_SERVICES, _OF_PODS = ("endpoints", "labels", "port"), ("podMetricsEndpoints", "pod", "podPort")
ENDPOINTS = {
    **dict.fromkeys(("ServiceMonitor", "VMServiceScrape"), _OF_SERVICES),
    **dict.fromkeys(("PodMonitor", "VMPodScrape"), _OF_PODS),
}
"""Kinds of monitors, of Prometheus and of VictoriaMetrics: their endpoints, and what an exporter has for them."""


def exporters(view: LinkView) -> Iterator[LinkedChart]:
    """Charts that run one."""
    for chart in view.charts:
        is_off = chart.is_operator and chart.value("dcgmExporter.enabled") is False
        if (chart.is_operator or chart.name == EXPORTER) and not is_off:
            yield chart


def monitors_of_exporters(view: LinkView) -> Iterator[SetupObject]:
    """Objects whose selector names one."""
    for item in view.of_kind(*ENDPOINTS) if view.is_whole else ():
        if any("dcgm" in str(value) for value in wanted_labels(item).values()):
            yield item


def wanted_labels(item: SetupObject) -> Mapping[str, Any]:
    return mapping(value_at(item.spec, ("selector", "matchLabels")))


def monitor_id(item: SetupObject) -> str:
    return f"{word(item.metadata.get('namespace'))}/{item.name}"
