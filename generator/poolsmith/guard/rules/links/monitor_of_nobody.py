"""ServiceMonitors and PodMonitors written for the exporter, that select nothing which it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.scraping import Target, target_needs, targets
from poolsmith.guard.rules.names.need import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.names.need import Verdict

RULE = RuleInfo(
    code="PSM780",
    name="monitor-of-nobody",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="A ServiceMonitor or a PodMonitor for dcgm-exporter selects labels, a port or a namespace that the exporter "
    "here does not have.",
    why="Prometheus finds no target, and says nothing.",
    fix="write the labels and the port of the exporter that runs, and its namespace",
    bad="# for the operator's exporter\nselector: {matchLabels: {app.kubernetes.io/name: dcgm-exporter}}\n",
    good="# for the operator's exporter\nselector: {matchLabels: {app: nvidia-dcgm-exporter}}\n"
    "endpoints: [{port: gpu-metrics}]\n",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:assets/state-dcgm-exporter/0400_service.yaml",
        "NVIDIA/dcgm-exporter@4.5.3-4.8.2:deployment/templates/service.yaml",
    ),
)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for need in target_needs(view):
        yield from _judged(view, names_of(view).verdict(need))


def _judged(view: LinkView, verdict: Verdict) -> Iterator[Finding[Location]]:
    need, target = verdict.need, cast("Target | None", verdict.offer.via if verdict.offer else None)
    if verdict.state is State.UNDEFINED:
        first = targets(view, need.where)[0]
        advice = ", ".join(f"{key}: {value}" for key, value in first.labels.items())
        yield _finding(
            need.place, f"{need.who} selects labels that the exporter of {first.title} does not have", advice
        )
    elif verdict.state is State.ELSEWHERE and target is not None:
        text = f"{need.who} looks into another namespace than that of the exporter of {target.title}"
        yield _finding(need.locate(target.asked_at), text, f"namespaceSelector: {{matchNames: [{target.namespace}]}}")
    elif verdict.state is State.LACKS_KEY and target is not None:
        for port in verdict.missing:
            text = f"{need.who} names a port that the exporter of {target.title} does not have"
            yield _finding(need.locate(need.keys[port]), text, f"port: {target.port}")


def _finding(place: Location, what: str, advice: str) -> Finding[Location]:
    return Finding(message=f"{what}: Prometheus finds no target", place=place, help=f"write `{advice}`")
