"""What the spec of a pod names, and what custom resources beside the stack do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import dotted_pointer, join, reached
from poolsmith.guard.rules.names.need import Need
from poolsmith.guard.rules.names.needs_of_values import FILLED_LATER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location

_OF_THE_CLUSTER = (
    "PriorityClass",
    "RuntimeClass",
    "ClusterQueue",
    "ResourceFlavor",
    "EC2NodeClass",
    "DeviceClass",
    "WorkloadPriorityClass",
)


@record
class NamingPod:
    """The spec of a pod, or another object; where its fields are, and whose it is."""

    spec: Mapping[str, Any]
    place: Callable[[str], Location]
    namespace: str | None
    who: str


def needs_of_pod(pod: NamingPod) -> Iterator[Need]:
    """By the rows of data/named_objects.yaml."""
    for row in store.table("named_objects.yaml")["pods"]:
        path = row["at"]
        for at, holder in reached(pod.spec, path) if not path or path[0] in pod.spec else ():
            if isinstance(holder, dict):
                yield from _need(pod, row, at, holder)


def needs_of_owner(owner: NamingPod) -> Iterator[Need]:
    """What the labels of a workload name."""
    labels = mapping(mapping(owner.spec.get("metadata")).get("labels"))
    for row in store.table("named_objects.yaml")["owners"] if labels else ():
        yield from _need(owner, {**row, "name": [row["label"]]}, "/metadata/labels", labels)


def needs_of_object(item: NamingPod, kind: str, group: str) -> Iterator[Need]:
    """Of a custom resource, by its kind."""
    for row in store.table("named_objects.yaml")["objects"]:
        if (row["of"], row["group"]) == (kind, group):
            for at, holder in reached(item.spec, row["at"]):
                if isinstance(holder, dict):
                    yield from _need(item, row, at, holder)


def _need(pod: NamingPod, row: Mapping[str, Any], at: str, holder: Mapping[str, Any]) -> Iterator[Need]:
    field = row["name"][0]
    name = holder.get(field)
    if not isinstance(name, str) or not name or FILLED_LATER.search(name):
        return
    pointer = join(at, field)
    kind = row.get("kind") or word(holder.get(row["kindAt"]))
    said = word(holder.get(row["namespaceAt"])) if "namespaceAt" in row else ""
    yield Need(
        kind=kind,
        name=name,
        where=dotted_pointer(pointer),
        who=pod.who,
        locate=pod.place,
        pointer=pointer,
        namespace=None if kind in _OF_THE_CLUSTER else said or pod.namespace,
        keys=_keys(row, at, holder) or ({row["key"]: pointer} if "key" in row else {}),
        may_be_absent=holder.get("optional") is True,
    )


def _keys(row: Mapping[str, Any], at: str, holder: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: at + below
        for below, key in reached(holder, row.get("keys", ()))
        if row.get("keys") and isinstance(key, str) and not FILLED_LATER.search(key)
    }
