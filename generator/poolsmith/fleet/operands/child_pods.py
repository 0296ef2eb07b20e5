"""Pods that operands create by themselves once they run; no manifest shows them.

The operator's validator tries CUDA and the device plugin out, the device plugin of Kata runs GPU feature discovery
inside of a sandbox. Such a pod names its node itself; here it keeps the node selector of its parent instead, and
the part of its name that is made up at run time is a `*`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.chart.chart_objects import unfold_pod
from poolsmith.fleet.operands.chart.entry_expressions import ValueScope, holds
from poolsmith.fleet.operands.chart.fill import fill, value_of
from poolsmith.fleet.operands.kube import find, pod_of
from poolsmith.gpu.catalog.chart_workloads import parents_of_pods, read_child_pods
from poolsmith.gpu.catalog.operands import OperandEntry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.fleet.operands.kube import Container
    from poolsmith.gpu.catalog.chart_workloads import ChildEntry, ChildRule, UnknownChild


@record(kw_only=False)
class ChildPod:
    """A predicted pod, the object (Kind/name) whose pods create it, and when and where it exists."""

    pod: KubernetesObject
    parent: str
    exists: str


def children(release: str | OperandEntry, objects: Sequence[KubernetesObject]) -> tuple[ChildPod, ...]:
    """What the workloads among `objects` will create, in the catalog's order."""
    entry = _entry(release)
    if entry is None:
        return ()
    by_name = _by_name(objects)
    return tuple(
        ChildPod(pod=pod, parent=rule.parent, exists=rule.exists)
        for rule in entry.rules
        if rule.parent in by_name
        for pod in _pods(rule, entry, by_name[rule.parent])
    )


def unknown_children(release: str | OperandEntry, objects: Sequence[KubernetesObject]) -> tuple[str, ...]:
    """What workloads among `objects` create, and nobody has described."""
    by_name = _by_name(objects)
    entry = _entry(release)
    if entry is None:
        known = sorted(parents_of_pods() & by_name.keys())
        return tuple(f"what {parent} creates in release {_tag(release)}" for parent in known)
    return tuple(
        f"{rule.text} that {rule.parent} creates"
        for rule in entry.unknown
        if rule.parent in by_name and _scope(rule, entry, by_name[rule.parent]) is not None
    )


def _entry(release: str | OperandEntry) -> ChildEntry | None:
    return read_child_pods(_tag(release))


def _tag(release: str | OperandEntry) -> str:
    return release.release if isinstance(release, OperandEntry) else release


def _by_name(objects: Sequence[KubernetesObject]) -> dict[str, KubernetesObject]:
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in objects}


def _pods(rule: ChildRule, entry: ChildEntry, parent: KubernetesObject) -> list[KubernetesObject]:
    """The rule's pod, or none where the parent's container is not there or is told not to."""
    scope = _scope(rule, entry, parent)
    return [] if scope is None else [unfold_pod(fill(rule.pod, scope), parent["metadata"]["namespace"])]


def _scope(rule: ChildRule | UnknownChild, entry: ChildEntry, parent: KubernetesObject) -> ValueScope | None:
    """What the rule may ask for; None where the parent's container is not there or is told not to."""
    pod = pod_of(parent)
    container = find((*pod.get("initContainers", ()), *pod.get("containers", ())), rule.container)
    if container is None:
        return None
    scope = ValueScope(values=_values(parent, container), define=entry.define, typed=True)
    return scope if holds(list(rule.conditions), lambda path: value_of(path, scope)) else None


def _values(parent: KubernetesObject, container: Container) -> dict[str, Any]:
    """What the rules ask for. Of a variable that Kubernetes fills in, nothing is known."""
    variables = {item["name"]: str(item.get("value", "")) for item in container.get("env", ())}
    pod, metadata = pod_of(parent), parent["metadata"]
    return {
        "env": variables,
        "lists": {name: [part for part in text.split(",") if part] for name, text in variables.items()},
        "parent": {
            **{key: metadata.get(key) for key in ("namespace", "ownerReferences")},
            **{key: pod.get(key) for key in ("nodeSelector", "tolerations", "serviceAccountName")},
            "image": container.get("image", ""),
        },
    }
