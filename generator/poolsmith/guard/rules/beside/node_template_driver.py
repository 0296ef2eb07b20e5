"""Node groups of clouds that install a driver by themselves, for pools whose driver the operator brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import reached
from poolsmith.gpu.nodes.cloud_drivers import cloud_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourView

RULE = RuleInfo(
    code="PSM809",
    name="node-template-driver",
    applies_to="manifest",
    what="A description of new nodes lets the cloud install a driver, and the pool's driver comes from the operator; "
    "or it forbids a driver that the profile says is installed.",
    why="Clouds install a driver where nobody says otherwise. The operator's comes on top of it, and its pod stops at "
    "a module that is loaded already; or nobody installs one.",
    fix="switch the cloud's driver off, or write `driver: {source: preinstalled}` into the profile",
    bad="kind: ManagedClustersAgentPool\nspec: {vmSize: Standard_ND96asr_v4}\n",
    good="kind: ManagedClustersAgentPool\nspec: {vmSize: Standard_ND96asr_v4, gpuProfile: {driver: None}}\n",
    symptom="`nvidia-driver-ctr` in CrashLoopBackOff: `Unloading nvidia driver kernel modules... Could not unload`",
    references=(
        "learn.microsoft.com: Managed Clusters, GPUProfile.driver (default: Install)",
        "cloud.google.com: Run GPUs in GKE Standard node pools (a driver is installed from 1.30.1 on)",
    ),
)


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    for template, pool in view.pairs:
        body = mapping(template.body)
        known = cloud_driver(word(template.document.data.get("kind")))
        if known is None or template.is_partial or not view.plan.chart:
            continue
        said = reached(body, known.path)
        managed = pool.plan.driver is not None and pool.plan.driver.managed
        if managed and not any(value == known.off for _, value in said):
            yield Finding(
                message=f"{template.title} lets {known.cloud} install a driver, and the operator brings the driver of "
                f"pool `{pool.name}`",
                place=template.at(f"{template.top}{said[0][0] if said else '/spec'}"),
                help=f"write {known.shown}, or `driver: {{source: preinstalled}}` into the profile",
                related=(pool.place("/spec/driver/source", "the profile"),),
            )
