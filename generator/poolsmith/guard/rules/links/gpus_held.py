"""Pods that use GPUs and ask for none: nothing evicts them when the driver is upgraded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts.versions import at_least
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.gpu.catalog.gpu_requests import names_devices
from poolsmith.gpu.catalog.node_labels import DEPLOY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView

RULE = RuleInfo.of("PSM784")
_SINCE = "v26.7.0"
_LABEL = f"{DEPLOY}client"
_LASTING = ("Deployment", "StatefulSet")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    operators = [chart for chart in view.charts if chart.is_operator]
    if len(operators) != 1 or not (view.is_whole or view.is_alone):
        return
    chart = operators[0]
    policy = "driver.upgradePolicy"
    if chart.value("driver.enabled") is not True or chart.value(f"{policy}.autoUpgrade") is not True or chart.partial:
        return
    drains = chart.value(f"{policy}.drain.enable") is True
    can_restart = at_least(chart.version or "", _SINCE)
    for pod in view.pods:
        is_daemon = pod.owner.kind == "DaemonSet"
        is_held = is_daemon or (not drains and pod.owner.kind in _LASTING)
        if is_held and (at := _holds(pod)) is not None:
            yield Finding(
                message=f"{pod.owner.name} uses GPUs and asks for none: an upgrade of the driver does not evict "
                "its pods",
                place=pod.place(at),
                help=f"add `{_LABEL}: 'true'` to its nodeSelector"
                if is_daemon and can_restart
                else _advice(can_restart),
                severity=None if can_restart else Severity.NOTE,
                related=(chart.place(policy),),
            )


def _advice(can_restart: bool) -> str:
    return "ask for a GPU" if can_restart else f"ask for a GPU; from {_SINCE} on DaemonSets can be restarted by a label"


def _holds(pod: LinkedPod) -> str | None:
    """Where the pod says that it uses GPUs."""
    selector = mapping(pod.spec.get("nodeSelector"))
    is_managed = any(str(key).startswith(DEPLOY) for key in selector)
    if is_managed or pod.spec.get("resourceClaims") or pod.gpu_resources:
        return None
    if word(pod.spec.get("runtimeClassName")).startswith("nvidia"):
        return "/runtimeClassName"
    for at, container in pod.containers:
        for number, item in enumerate(mappings(container.get("env"))):
            if names_devices(item):
                return f"{at}/env/{number}"
    return None
