"""ServiceMonitors of the stack that the Prometheus beside it does not select."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

RULE = RuleInfo(
    code="PSM759",
    name="monitor-not-selected",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="The operator or dcgm-exporter makes a ServiceMonitor, and the kube-prometheus-stack beside it selects only "
    "those with its release's label.",
    why="Prometheus scrapes nothing of it, and neither of them says so.",
    fix="give the ServiceMonitor the label `release`, or let Prometheus select all of them",
    bad="dcgmExporter: {serviceMonitor: {enabled: true}}\n",
    good="dcgmExporter: {serviceMonitor: {enabled: true, additionalLabels: {release: monitoring}}}\n",
    symptom="no series `DCGM_FI_...`, while the exporter's own page shows them",
    references=(
        "prometheus-community/helm-charts:charts/kube-prometheus-stack/templates/prometheus/prometheus.yaml",
        "NVIDIA/gpu-operator@v26.3.3:controllers/object_controls.go, ServiceMonitor",
    ),
)
_MONITORS = (
    (("gpu-operator", "nvidia-gpu-operator"), "dcgmExporter.serviceMonitor"),
    (("dcgm-exporter",), "serviceMonitor"),
)
_SPEC = "prometheus.prometheusSpec."
_LABEL = "release"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for prometheus in view.named("kube-prometheus-stack"):
        label = _selected(prometheus)
        for names, path in _MONITORS if label else ():
            for chart in view.named(*names):
                if not chart.partial and _is_made(chart, path):
                    yield from _judged(chart, path, prometheus, label)


def _is_made(chart: LinkedChart, path: str) -> bool:
    made = chart.value(f"{path}.enabled")
    return made is True or (made is MISSING and chart.name == "dcgm-exporter")


def _selected(prometheus: LinkedChart) -> str:
    """The value of the label `release` that it selects by; empty where there is none, it selects otherwise, or nobody
    knows."""
    turned_off = ("prometheus.enabled", f"{_SPEC}serviceMonitorSelectorNilUsesHelmValues")
    if prometheus.partial or any(prometheus.value(path) is False for path in turned_off):
        return ""
    selector = prometheus.value(f"{_SPEC}serviceMonitorSelector")
    wanted = mapping(mapping(selector).get("matchLabels")) if selector is not MISSING else {}
    if selector not in (MISSING, {}, None) and (set(mapping(selector)) != {"matchLabels"} or set(wanted) != {_LABEL}):
        return ""
    return str(wanted.get(_LABEL) or prometheus.release_name or "")


def _judged(chart: LinkedChart, path: str, prometheus: LinkedChart, label: str) -> Iterator[Finding[Location]]:
    labels = mapping(chart.value(f"{path}.additionalLabels"))
    if labels.get(_LABEL) == label:
        return
    has = f"has `{_LABEL}: {labels[_LABEL]}`" if _LABEL in labels else f"has no label `{_LABEL}`"
    yield Finding(
        message=f"the ServiceMonitor of {chart.name} {has}, and the Prometheus beside it selects `{_LABEL}: {label}`",
        place=chart.place(f"{path}.enabled"),
        help=f"write `{path}.additionalLabels: {{{_LABEL}: {label}}}`, or let Prometheus select all by "
        "`serviceMonitorSelectorNilUsesHelmValues: false`",
        related=(prometheus.declared_at,),
    )
