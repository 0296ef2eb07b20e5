"""Rule: privileged pods in namespaces other than the operator's, by the Pod Security admission that files set there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import WORKLOAD_KINDS, mapping, pod_template_of, word
from poolsmith.core.sources.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView


ENFORCE = "pod-security.kubernetes.io/enforce"
PRIVILEGED = "privileged"
SYSTEM = frozenset(("default", "kube-system", "kube-public", "kube-node-lease"))


def described(view: SetupView) -> Iterator[tuple[SetupObject, str]]:
    """Each Namespace, with the level that it enforces; empty where its labels say nothing."""
    for item in view.of_kind("Namespace", ""):
        yield item, word(mapping(item.metadata.get("labels")).get(ENFORCE))


def label_place(item: SetupObject, note: str | None = None) -> Location:
    """The label, or the nearest line that there is."""
    return item.place(join("/metadata/labels", ENFORCE), note)


RULE = RuleInfo.of("PSM422")
NEEDS = ("values",)
_NAME = pattern(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
"""Anything else is a placeholder, which a transformer of kustomize replaces."""
_OURS = ("nvidia", "gpu", "dcgm", "kata", "node-feature-discovery", "nfd")


def check(view: SetupView) -> Iterator[Finding[Location]]:
    assert view.values is not None
    own = view.namespace
    if own is None:
        return
    if own in SYSTEM:
        yield Finding(
            message=f"the operator is installed into the namespace `{own}`, which others share",
            place=view.values.place("", None),
            help="give it a namespace of its own, like `gpu-operator`",
        )
    else:
        guest = next((item for item in view.objects if _is_guest(item, own)), None)
        if guest is not None:
            yield Finding(
                message=f"the operator shares the namespace `{own}`, which must allow privileged pods, with "
                f"{guest.name}",
                place=view.values.place("", None),
                help="give the operator a namespace of its own, like `gpu-operator`",
                related=(guest.place("/metadata/name", "runs in the same namespace"),),
            )
    if view.is_generated:
        return
    for item, level in described(view):
        if level == PRIVILEGED and item.own_name not in (own, *SYSTEM) and _NAME.fullmatch(item.own_name):
            yield Finding(
                message=f"the namespace `{item.own_name}` may run privileged pods, and the operator is in `{own}`",
                place=label_place(item),
                help="lower the level, or state in a waiver who needs it",
                severity=Severity.NOTE,  # storage and network drivers need it
            )


def _is_guest(item: SetupObject, namespace: str) -> bool:
    """A workload of others: its name and its images say nothing of GPUs."""
    if item.kind not in WORKLOAD_KINDS or item.metadata.get("namespace") != namespace:
        return False
    pod = mapping(mapping(pod_template_of(item.data)).get("spec"))
    containers = pod.get("containers")
    images = [word(mapping(entry).get("image")) for entry in containers] if isinstance(containers, list) else []
    return bool(images) and not any(mark in text.lower() for text in (item.own_name, *images) for mark in _OURS)
