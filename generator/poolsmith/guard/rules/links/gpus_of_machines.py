"""Pods that ask for more GPUs than any machine has on which they may run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.gpu_requests import GPU
from poolsmith.gpu.catalog.gpus import instance_types
from poolsmith.gpu.nodes.machine_gpus import gpu_claims
from poolsmith.guard.rules.links.plugin_offers import plugin_offers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.nodes.machine_gpus import GpuClaim
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM941")
_OTHERS = "amd.com/gpu"
_NUMBER = pattern(r"[0-9]{1,4}")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    offers = plugin_offers(view)
    pods = [pod for pod in view.gpu_pods if GPU in pod.gpu_resources] if view.is_whole or view.is_alone else []
    if (offers is not None and offers.is_shared is not False) or not pods:
        return
    if not view.machines.whole or any(_OTHERS in str(pod.spec) for pod in view.pods):
        return
    machines = {tool: instance_types(tool) for tool in {template.tool for template in view.machines.whole}}
    for pod in pods:
        asked = max(_asked(pod), default=None)
        known = _selected(view, pod, machines) if asked is not None else None
        if asked is None or not known:
            continue
        template, claim = max(known, key=lambda item: max(item[1].counts))
        if max(claim.counts) < asked[0]:
            yield _finding(pod, asked, template, claim)


def _asked(pod: LinkedPod) -> Iterator[tuple[int, str]]:
    """Of each container the number, and the pointer to it."""
    for at, container in pod.containers:
        limits = mapping(mapping(container.get("resources")).get("limits"))
        number = str(limits.get(GPU, ""))
        if _NUMBER.fullmatch(number):
            yield int(number), join(at, "resources", "limits", GPU)


def _selected(
    view: LinkView, pod: LinkedPod, machines: Mapping[str, Mapping[str, tuple[str, int]]]
) -> list[tuple[NodeTemplate, GpuClaim]] | None:
    """The machines on which it may run, each with what is known of its GPUs; None where nothing is known of one."""
    if pod.spec.get("affinity"):
        return None
    found = []
    for template in (view.machines.whole[index] for index in view.machines.by_labels.of(pod.selector)):
        claims = [claim for claim in gpu_claims(template, machines[template.tool]) if claim.counts]
        if not claims:
            return None
        found.append((template, min(claims, key=lambda claim: max(claim.counts))))
    return found


def _finding(pod: LinkedPod, asked: tuple[int, str], template: NodeTemplate, claim: GpuClaim) -> Finding[Location]:
    most, here, there = max(claim.counts), pod.place(asked[1]), template.at(claim.pointer)
    has = f"has at most {most}" if most else "has none that count as NVIDIA's"
    return Finding(
        message=f"{pod.owner.name} asks for {asked[0]} of {GPU}; {template.title} {has} on a machine ({claim.said})",
        place=here if most else there,
        help=f"ask for {most}, or take machines with more" if most else "take a family with GPUs of NVIDIA, such as g6",
        related=(there if most else here,),
    )
