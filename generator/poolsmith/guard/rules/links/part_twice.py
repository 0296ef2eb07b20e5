"""Parts that two bring to the same nodes, or to one cluster, where only one may."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.parts import Supplier, part_needs, rows
from poolsmith.guard.rules.names.need import State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.guard.rules.names.need import Verdict

RULE = RuleInfo(
    code="PSM788",
    name="part-twice",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="Two of what is delivered bring a part of which there may be one: an exporter of GPU metrics beside the "
    "operator's (an error where both take the node's own port), the DRA driver that allocates GPUs by claims beside a "
    "device plugin that advertises the same ones (an error), or two charts that replace the definitions of "
    "ComputeDomains.",
    why="Each series is there twice, so that sums are doubled, and profiling metrics have one reader at a time. A "
    "device plugin and claims do not know what the other has given out: two tenants get one GPU. Each upgrade of one "
    "chart brings back the other's fields.",
    fix="keep one of them, and switch it off in the other",
    bad="# the chart dcgm-exporter beside the operator\ndcgmExporter: {enabled: true}\n",
    good="# the chart dcgm-exporter beside the operator\ndcgmExporter: {enabled: false}\n",
    symptom="`OutOfSync` on computedomains.resource.nvidia.com, in turns",
    references=(
        "NVIDIA/gpu-operator@v26.7.0:assets/state-dcgm-exporter, deployments/gpu-operator/crds",
        "NVIDIA/dcgm-exporter@4.5.3-4.8.2:deployment/values.yaml, hostNetwork",
        "kubernetes-sigs/dra-driver-nvidia-gpu@v25.8.1:deployments/helm/nvidia-dra-driver-gpu/templates/validation.yaml",
        "kubernetes-sigs/dra-driver-nvidia-gpu@v0.4.1:deployments/helm/dra-driver-nvidia-gpu/crds",
        "NVIDIA/aicr pull request 2439",
    ),
)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for own, need in part_needs(view):
        verdict = names_of(view).verdict(need)
        if verdict.state is State.TWICE:
            yield from _findings(own, verdict)


def _findings(own: Supplier, verdict: Verdict) -> Iterator[Finding[Location]]:
    assert verdict.offer is not None, "one of the two"
    found = [cast("Supplier", offer.via) for offer in (verdict.offer, *verdict.others)]
    for other in found:
        if other is not own and (not other.speaks or found.index(other) < found.index(own)):
            yield _finding(own, other)


def _finding(own: Supplier, other: Supplier) -> Finding[Location]:
    row, collides = rows()[own.part], own.takes_port and other.takes_port
    advice = " or ".join(f"write {item.off}" for item in (other, own) if item.off) or "take one of them away"
    return Finding(
        message=f"{own.title} {row['does']}, and so does {other.title}: {row['collides'] if collides else row['then']}",
        place=own.place,
        help=advice if own.off else f"{advice}, or take this one away",
        related=(other.place,),
        severity=Severity.ERROR if collides else Severity(row["severity"]),
    )
