"""What groups of machines announce to an autoscaler, and what it takes of that."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import MISSING, join, reached, value_at
from poolsmith.core.sources.scalars import text_of
from poolsmith.guard.rules.links.machine_images import names_gpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkView
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM760")
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
_COUNT, _TYPE, _DRIVER = f"{_CAPACITY}gpu-count", f"{_CAPACITY}gpu-type", f"{_CAPACITY}dra-driver"
_ACCELERATOR, _AUTOSCALER = "k8s.amazonaws.com/accelerator", "cluster-autoscaler"
_GROUPS = ("eks", "terraform-eks")
_OF_MACHINES, _NOT_READY = "cluster-api/accelerator", "not-ready"
_STARTS_ANOTHER = (
    "until a new node offers its GPUs the autoscaler takes it for one without, and starts another for the same pod"
)
_TAG = "k8s.io/cluster-autoscaler/node-template/label/"
_TAGS = (("spec", "cloudLabels"), ("tags",), ("spec", "tags"))
_KINDS = ("MachineDeployment", "MachineSet", "MachinePool")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    unlabelled = tuple(_unlabelled(view)) if view.is_alone else ()
    yield from unlabelled if unlabelled and _scales_on_aws(view) else ()
    yield from chain(_of_machines(view), _of_machine_sets(view)) if view.is_alone else ()
    yield from _told_otherwise(view)
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


def _of_machines(view: LinkView) -> Iterator[Finding[Location]]:
    """Machines of Cluster API that announce GPUs, and whose nodes begin without the label for it."""
    announced = {
        name: item
        for item in view.machines.templates
        if item.announces and mapping(value_at(item.body, ("metadata", "annotations"))).get(_TYPE)
        for name in item.names
    }
    for template in view.machines.whole:
        found = [announced[name] for name in template.names if name in announced and not template.announces]
        if found and template.tool == "cluster-api" and not _is_told(template):
            yield Finding(
                message=f"nodes of {template.title} have GPUs and no label `{_OF_MACHINES}`: {_STARTS_ANOTHER}",
                place=found[0].at(join(found[0].top, "metadata", "annotations", _TYPE)),
                help=f"give the nodes the label `{_OF_MACHINES}`, with the GPU's name",
                related=(template.at(template.labels_at),),
                severity=Severity.WARNING,
            )


def _of_machine_sets(view: LinkView) -> Iterator[Finding[Location]]:
    """Those of OpenShift that are scaled, and limits of GPUs by a type that is the value of none's label."""
    scaled = {word(value_at(item.spec, ("scaleTargetRef", "name"))) for item in view.of_kind("MachineAutoscaler")}
    groups = [item for item in view.machines.whole if item.tool == "openshift" and names_gpus(mapping(item.body))]
    types = {mark.value for item in groups for mark in item.labels if mark.key == _OF_MACHINES}
    for template in groups:
        if scaled.intersection(template.names) and not _is_told(template):
            yield Finding(
                message=f"nodes of {template.title} have GPUs and no label `{_OF_MACHINES}`: {_STARTS_ANOTHER}",
                place=template.at(f"{template.top}/kind"),
                help=f"write `{_OF_MACHINES}` below `spec.template.spec.metadata.labels`, with the GPU's name",
            )
    for item in view.of_kind("ClusterAutoscaler") if types else ():
        for at, said in reached(item.spec, ("resourceLimits", "gpus", "*", "type")):
            if said not in types:
                yield Finding(
                    message=f"the limit is for GPUs of the type `{shorten(text_of(said))}`, and machine sets here are "
                    f"labelled {listed(sorted(map(str, types)))}",
                    place=item.place(f"/spec{at}"),
                    help=f"write the value of `{_OF_MACHINES}`",
                )


def _is_told(template: NodeTemplate) -> bool:
    """Whether a label says that GPUs will come, or a taint that a new node can't be used yet."""
    if any(mark.key == _OF_MACHINES for mark in template.labels):
        return True
    temporary = tuple(store.table("scheduling.yaml")["startupTaints"]["prefixes"])
    keys = [mark.key for mark in (*template.taints, *template.startup)]
    return any(key.startswith(temporary) or _NOT_READY in key for key in keys)


def _told_otherwise(view: LinkView) -> Iterator[Finding[Location]]:
    """Tags by which the autoscaler knows the labels of a group without nodes, where the group's label is another."""
    for template in view.machines.templates:
        labels = {mark.key: mark.value for mark in template.labels}
        for at, tags in ((path, mapping(value_at(template.body, path))) for path in _TAGS):
            for tag, said in tags.items():
                given = labels.get(str(tag).removeprefix(_TAG)) if str(tag).startswith(_TAG) else None
                if given is not None and given != text_of(said):
                    yield Finding(
                        message=f"{template.title} tells the autoscaler `{shorten(text_of(said))}`, and its nodes have "
                        f"the label `{shorten(str(tag).removeprefix(_TAG))}: {shorten(given)}`",
                        place=template.at(join(template.top, *at, str(tag))),
                        help=f"write `{shorten(given)}`",
                        severity=Severity.WARNING,
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
