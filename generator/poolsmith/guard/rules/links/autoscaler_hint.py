"""What Cluster API's machines announce to an autoscaler about GPUs, and what it takes of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, words
from poolsmith.core.sources.pointer import MISSING, join
from poolsmith.guard.rules.links.machine_images import names_gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView

RULE = RuleInfo.of("PSM760")
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
_COUNT, _TYPE, _DRIVER = f"{_CAPACITY}gpu-count", f"{_CAPACITY}gpu-type", f"{_CAPACITY}dra-driver"
_ACCELERATOR, _AUTOSCALER = "k8s.amazonaws.com/accelerator", "cluster-autoscaler"
_GROUPS = ("eks", "terraform-eks")
_KINDS = ("MachineDeployment", "MachineSet", "MachinePool")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    unlabelled = tuple(_unlabelled(view)) if view.is_alone else ()
    yield from unlabelled if unlabelled and _scales_on_aws(view) else ()
    for item in view.of_kind(*_KINDS):
        annotations = mapping(item.metadata.get("annotations"))
        count, kind = annotations.get(_COUNT), annotations.get(_TYPE)
        if not item.group.startswith("cluster.x-k8s.io") or annotations.get(_DRIVER) or bool(count) == bool(kind):
            continue
        if count in ("0", 0):
            continue
        there, missing = (_COUNT, f"{_TYPE}: nvidia.com/gpu") if count else (_TYPE, f'{_COUNT}: "1"')
        yield Finding(
            message=f"{item.name} announces `{there}` alone, and the autoscaler takes GPUs only where type and number "
            "are there: it starts no node of these from zero",
            place=item.place(join("/metadata/annotations", there)),
            help=f"write `{missing}` as well",
        )


def _scales_on_aws(view: LinkView) -> bool:
    """Whether Cluster Autoscaler starts nodes here, by its chart or by hand."""
    if any(chart.value("cloudProvider") in (MISSING, "aws") for chart in view.named(_AUTOSCALER)):
        return True
    return any(
        "--cloud-provider=aws" in (*words(container.get("command")), *words(container.get("args")))
        for pod in view.pods
        for image, (_, container) in zip(pod.images, pod.containers, strict=True)
        if f"/{_AUTOSCALER}" in image
    )


def _unlabelled(view: LinkView) -> Iterator[Finding[Location]]:
    for template in view.machines.whole:
        body = mapping(template.body)
        is_of_gpus = template.tool in _GROUPS and names_gpus(body)
        if is_of_gpus and all(mark.key != _ACCELERATOR for mark in template.labels):
            yield Finding(
                message=f"{template.title} has GPUs and no label `{_ACCELERATOR}`: until a new node offers its GPUs "
                "the autoscaler takes it for one without, and starts another for the same pod",
                place=template.at(template.top),
                help=f"give its nodes the label `{_ACCELERATOR}`, with the GPU's name",
            )
