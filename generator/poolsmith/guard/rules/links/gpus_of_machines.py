"""Pods that ask for more GPUs than any machine has on which they may run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, SHARED
from poolsmith.gpu.catalog.gpus import instance_types
from poolsmith.gpu.nodes.machine_gpus import gpu_claims
from poolsmith.guard.rules.links.machine_images import makes_gpu_nodes
from poolsmith.guard.rules.links.plugin_offers import plugin_offers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.nodes.machine_gpus import GpuClaim
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM941")
_OTHERS, _KARPENTER = "amd.com/gpu", "karpenter"
_TOGETHER = "/containers/"
_LEAST = (("spec", "minCount"), ("spec", "autoscaling", "minNodeCount"), ("spec", "minSize"), ("minSize",))
_TAGS = (("spec", "cloudLabels"), ("tags",), ("spec", "tags"))
_RESOURCES = "k8s.io/cluster-autoscaler/node-template/resources/"
_TELLS = "NodeOverlay"
"""By which Karpenter is told what else its machines have."""
_NUMBER = pattern(r"[0-9]{1,4}")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from _of_parts(view) if view.is_whole or view.is_alone else ()
    offers = plugin_offers(view)
    pods = [pod for pod in view.gpu_pods if GPU in pod.gpu_resources] if view.is_whole or view.is_alone else []
    is_shared = offers is not None and offers.is_shared is not False
    if not pods or not view.machines.whole or any(_OTHERS in str(pod.spec) for pod in view.pods):
        return
    machines = {tool: instance_types(tool) for tool in {template.tool for template in view.machines.whole}}
    yield from _of_limits(view, pods, machines) if not is_shared else ()
    for pod in pods:
        asked = _asked(pod)
        known = _selected(view, pod, machines) if asked is not None else None
        if asked is None or not known or (is_shared and any(item.tool != _KARPENTER for item, _ in known)):
            continue
        template, claim = max(known, key=lambda item: max(item[1].counts))
        if max(claim.counts) < asked[0]:
            yield _finding(pod, asked, template, claim)


def _of_parts(view: LinkView) -> Iterator[Finding[Location]]:
    """Names of slices and shared GPUs, where who starts the machines knows whole GPUs alone and begins with none."""
    if any(view.of_kind(_TELLS)):
        return
    for pod in view.gpu_pods:
        named = [name for name in pod.gpu_resources if name.startswith(MIG) or name == f"{GPU}{SHARED}"]
        found = [view.machines.whole[index] for index in view.machines.by_labels.of(pod.selector)] if named else []
        groups = [template for template in found if makes_gpu_nodes(template)]
        if groups and not pod.spec.get("affinity") and all(_begins_without(item, named[0]) for item in groups):
            at = next(join(at, "resources", "limits", named[0]) for at, held in pod.containers if named[0] in str(held))
            yield Finding(
                message=f"{pod.owner.name} asks for `{named[0]}`; {groups[0].title} begins without a node, and what "
                "starts its machines knows whole GPUs alone: it starts none for this",
                place=pod.place(at),
                help="keep a node there at all times, or tell the autoscaler of this resource",
                related=(groups[0].at(groups[0].top),),
            )


def _begins_without(template: NodeTemplate, resource: str) -> bool:
    """Whether an autoscaler starts its first node, and nothing says that nodes have the resource."""
    least = [value_at(template.body, path) for path in _LEAST]
    is_told = any(f"{_RESOURCES}{resource}" in mapping(value_at(template.body, path)) for path in _TAGS)
    return not template.announces and not is_told and (template.tool == _KARPENTER or 0 in least)


def _of_limits(
    view: LinkView, pods: list[LinkedPod], machines: Mapping[str, Mapping[str, tuple[str, int]]]
) -> Iterator[Finding[Location]]:
    """Pools of Karpenter that may have fewer GPUs in all than one machine has, or than the pods ask for that only run
    there."""
    wanted: dict[str, int] = {}
    for pod in pods:
        found = _selected(view, pod, machines) or []
        for template, _ in found if len(found) == 1 else ():
            wanted[template.title] = wanted.get(template.title, 0) + _replicas(pod) * (_asked(pod) or (0, ""))[0]
    for template in view.machines.whole:
        limit = value_at(template.body, ("spec", "limits", GPU))
        if template.tool != _KARPENTER or not _NUMBER.fullmatch(str(limit)):
            continue
        least = min(
            (min(claim.counts) for claim in gpu_claims(template, machines[_KARPENTER]) if claim.counts), default=0
        )
        asked = wanted.get(template.title, 0)
        if int(limit) < max(least, asked):
            most = f"each of its machines has {least}" if int(limit) < least else f"pods ask for {asked} there"
            yield Finding(
                message=f"{template.title} may have {limit} of {GPU} in all, and {most}: Karpenter starts no more",
                place=template.at(join(template.top, "spec", "limits", GPU)),
                help=f"raise the limit to {max(least, asked)}",
            )


def _replicas(pod: LinkedPod) -> int:
    said = [pod.owner.spec.get(field) for field in ("replicas", "parallelism")]
    return next((number for number in said if isinstance(number, int)), 1)


def _asked(pod: LinkedPod) -> tuple[int, str] | None:
    """How many its containers ask for together, or one that runs before them, and the pointer to the last of them."""
    found = list(_of_containers(pod))
    together = [item for item in found if item[1].startswith(_TOGETHER)]
    alone = [item for item in found if item not in together]
    sums = [(sum(number for number, _ in together), together[-1][1])] if together else []
    return max((*sums, *alone), default=None)


def _of_containers(pod: LinkedPod) -> Iterator[tuple[int, str]]:
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
