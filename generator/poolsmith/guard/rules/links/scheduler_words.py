"""What Kueue, the KAI scheduler and Volcano refuse, or never admit, of workloads that ask for GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import is_older
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import join, reach, reached, value_at
from poolsmith.gpu.catalog.gpu_requests import GPU, is_gpu_resource
from poolsmith.gpu.values.values_places import is_filled_later
from poolsmith.guard.rules.links.volcano_configuration import configuration_mistakes
from poolsmith.guard.rules.names.kept import kept
from poolsmith.kubernetes.quantity import amount_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView, Machines
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM938")
_QUEUE = "kueue.x-k8s.io/queue-name"
_VOLCANO, _SHARE, _VGPU = "volcano", "volcano.sh/gpu-", "volcano.sh/vgpu-"
_LEFT_OUT, _REPLACED = "excludeResourcePrefixes", "transformations"
"""By these a configuration of Kueue leaves resources out of all queues, or counts others in their place."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    queues = list(view.of_kind("ClusterQueue"))
    for queue in queues:
        yield from _quotas(queue)
    if queues and not _counts_otherwise(view.machines):
        for pod in view.gpu_pods:
            yield from _uncovered(view, pod)
    yield from configuration_mistakes(view)
    kai = store.table("scheduling.yaml")["kai"]
    for pod in view.pods:
        if pod.spec.get("schedulerName") == kai["scheduler"]:
            yield from _of_kai(view, pod, kai)
        elif pod.spec.get("schedulerName") == _VOLCANO:
            yield from _of_volcano(pod)


@kept
def _counts_otherwise(files: Machines) -> bool:
    return any(mark in document.text for document in files.tree.documents for mark in (_LEFT_OUT, _REPLACED))


def _of_volcano(pod: LinkedPod) -> Iterator[Finding[Location]]:
    """Its two ways of sharing, of which a scheduler has one."""
    for at, container in pod.containers:
        names = _resources(container, "limits")
        shared = next((name for name in names if name.startswith(_SHARE)), "")
        if shared and any(name.startswith(_VGPU) for name in names):
            yield Finding(
                message=f"{pod.owner.name} asks for a vGPU, and for `{shared}` of Volcano's other way of sharing: a "
                "scheduler has one of them",
                place=pod.place(join(at, "resources", "limits", shared)),
                help=f"write `{_VGPU}{shared.removeprefix(_SHARE)}`",
            )


def _quotas(queue: SetupObject) -> Iterator[Finding[Location]]:
    for at, group in reached(queue.spec, ("resourceGroups", "*")):
        covered = list(words(mapping(group).get("coveredResources")))
        for below, flavor in reached(group, ("flavors", "*")) if any(map(is_gpu_resource, covered)) else ():
            named = [word(item.get("name")) for item in mappings(mapping(flavor).get("resources"))]
            if named != covered:
                yield _quota(queue, f"/spec{at}{below}/resources", named, covered)


def _quota(queue: SetupObject, at: str, named: list[str], covered: list[str]) -> Finding[Location]:
    index = next((index for index, pair in enumerate(zip(named, covered, strict=False)) if pair[0] != pair[1]), None)
    return Finding(
        message=f"Kueue refuses {queue.name}: the quotas of a flavor are those of {listed(named)}, and the group "
        f"covers {listed(covered)}",
        place=queue.place(at if index is None else f"{at}/{index}"),
        help="give each resource of `coveredResources` its quota, in that order",
    )


def _uncovered(view: LinkView, pod: LinkedPod) -> Iterator[Finding[Location]]:
    name = mapping(pod.owner.metadata.get("labels")).get(_QUEUE)
    if (queue := _cluster_queue(view, word(name), pod.namespace)) is None:
        return
    covered = {
        name for _, group in reached(queue.spec, ("resourceGroups", "*", "coveredResources")) for name in words(group)
    }
    if any(map(is_filled_later, covered)):
        return
    for at, container in pod.containers:
        held = [(part, key) for part in ("requests", "limits") for key in _resources(container, part)]
        for part, key in {key: (part, key) for part, key in reversed(held) if key not in covered}.values():
            yield Finding(
                message=f"{pod.owner.name} asks for `{shorten(key)}`, which no group of {queue.name} covers: Kueue "
                "never admits it",
                place=pod.place(join(at, "resources", part, key)),
                help=f"add `{shorten(key)}` to `coveredResources`, with a quota, or name it in `{_LEFT_OUT}` of the "
                "configuration of Kueue",
                severity=Severity.WARNING,
                related=(queue.place("/spec/resourceGroups"),),
            )


def _cluster_queue(view: LinkView, local: str, namespace: str) -> SetupObject | None:
    def named(kind: str, name: str, where: str | None = None) -> SetupObject | None:
        found = (item for item in view.of_kind(kind) if item.own_name == name)
        return next((item for item in found if where in (None, word(item.metadata.get("namespace")))), None)

    queue = named("LocalQueue", local, namespace) if local else None
    return named("ClusterQueue", word(queue.spec.get("clusterQueue"))) if queue is not None else None


def _resources(container: Mapping[str, Any], part: str) -> list[str]:
    return list(map(str, mapping(value_at(container, ("resources", part)))))


def _takes_whole(container: Mapping[str, Any]) -> bool:
    return amount_of(value_at(container, ("resources", "limits", GPU), 0)) != 0


def _of_kai(view: LinkView, pod: LinkedPod, kai: Mapping[str, Any]) -> Iterator[Finding[Location]]:
    at = f"{pod.at.removesuffix('/spec')}/metadata"
    found, is_there = reach(pod.owner.data, at)
    held = mapping(found) if is_there else {}
    annotations = mapping(held.get("annotations"))
    asked = [row for row in kai["annotations"] if row["key"] in annotations]
    for row in asked:
        value, place = annotations[row["key"]], pod.owner.place(join(at, "annotations", row["key"]))
        is_read = isinstance(value, str) and not is_filled_later(value)
        if is_read and pattern(row["matches"]).fullmatch(value) is None:
            text = f"KAI refuses {pod.owner.name}: `{row['key']}` is `{shorten(value)}`, and takes {row['takes']}"
            yield Finding(message=text, place=place, help=row["do"])
        elif row.get("part") and any(_takes_whole(item) for _, item in pod.containers):
            text = f"KAI refuses {pod.owner.name}: it asks for a part of a GPU by `{row['key']}`, and for whole ones"
            yield Finding(message=text, place=place, help=f"remove the annotation, or the limit `{GPU}`")
    for key in sorted(kai["notRead"].keys() & annotations.keys()) if not asked else ():
        yield Finding(
            message=f"KAI does not read the annotation `{key}` of {pod.owner.name}: it gets no part of a GPU",
            place=pod.owner.place(join(at, "annotations", key)),
            help=f"write `{kai['notRead'][key]}`",
            severity=Severity.WARNING,
        )
    label = kai["queueLabel"]
    chart = next(view.named(kai["scheduler"]), None)
    version = chart.version if chart is not None else None
    if label["old"] in mapping(held.get("labels")) and version and not is_older(version, label["until"]):
        yield Finding(
            message=f"KAI of {label['until']} and later does not read `{label['old']}`: {pod.owner.name} has no queue",
            place=pod.owner.place(join(at, "labels", label["old"])),
            help=f"write `{label['new']}`",
            severity=Severity.WARNING,
        )
