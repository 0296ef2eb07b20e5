"""The same GPUs given out by the device plugin and by claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pointer import MISSING
from poolsmith.gpu.catalog.stack_objects import DEVICE_PLUGIN_CHARTS, DRA_DRIVER_CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

RULE = RuleInfo(
    code="PSM754",
    name="gpus-given-out-twice",
    applies_to="manifest",
    what="The DRA driver allocates GPUs by claims, and a device plugin advertises the same ones, on nodes that nothing "
    "keeps apart.",
    why="Neither knows what the other has given out: two tenants get one GPU.",
    fix="on each node one of them: `devicePlugin: {enabled: false}` for the operator, or `resources: {gpus: {enabled: "
    "false}}` for the DRA driver, whose compute domains go with a device plugin",
    bad="# the chart nvidia-dra-driver-gpu beside a device plugin\ngpuResourcesEnabledOverride: true\n",
    good="# the chart nvidia-dra-driver-gpu beside a device plugin\nresources: {gpus: {enabled: false}}\n",
    references=(
        (
            "kubernetes-sigs/dra-driver-nvidia-gpu@v25.8.1:deployments/helm/nvidia-dra-driver-gpu/values.yaml, "
            "templates/validation.yaml"
        ),
    ),
)
_APART = ("affinity", "nodeSelector")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    plugins = [chart for chart in view.charts if _gives_out(chart)]
    for driver in view.named(*DRA_DRIVER_CHARTS):
        if not view.is_whole or driver.partial or driver.value("resources.gpus.enabled") is False:
            continue
        if driver.says("kubeletPlugin.affinity") or driver.says("kubeletPlugin.nodeSelector"):
            continue
        for plugin in plugins:
            path = "devicePlugin.enabled" if plugin.is_operator else ""
            off = "`devicePlugin: {enabled: false}` for the operator" if plugin.is_operator else "the plugin away"
            yield Finding(
                message=f"the chart {driver.name} allocates GPUs by claims, and {plugin.name} gives out the same ones "
                "as `nvidia.com/gpu`",
                place=driver.place("resources.gpus.enabled"),
                help=f"write {off}, or `resources: {{gpus: {{enabled: false}}}}` here",
                related=(plugin.place(path),),
            )


def _gives_out(chart: LinkedChart) -> bool:
    if chart.is_operator:
        return chart.value("devicePlugin.enabled") in (True, MISSING) and not chart.partial
    return chart.name in DEVICE_PLUGIN_CHARTS and not chart.partial and not any(map(chart.says, _APART))
