"""Pods that ask for GPUs, by the level of Pod Security that their own namespace enforces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.codes.privilege import POD_SECURITY
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import reach
from poolsmith.guard.rules.setup.goes_to import RKE2_CIS, TALOS
from poolsmith.guard.rules.setup.privileged_namespace import ENFORCE
from poolsmith.kubernetes.pod_security.standard import Level

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView

RULE = POD_SECURITY
BY_DEFAULT = {TALOS: Level.BASELINE, RKE2_CIS: Level.RESTRICTED}
"""What namespaces without a level enforce. Source: docs.siderolabs.com, Pod Security; docs.rke2.io, hardening guide."""
_EXEMPT = "kube-system"
_MOST = 5


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for pod in view.pods:
        level, whose = _level(view, pod.namespace)
        if level is not Level.PRIVILEGED and pod.asks_for_gpus:
            yield from _judged(view, pod, level, whose)


def _level(view: LinkView, name: str) -> tuple[Level, str]:
    """What the namespace enforces, and who says so; privileged where nobody knows more."""
    namespace = view.namespaces.get(name)
    if namespace is None or name == _EXEMPT:
        return Level.PRIVILEGED, ""
    said = mapping(namespace.metadata.get("labels")).get(ENFORCE)
    if said is not None:
        return (Level(said) if word(said) in tuple(Level) else Level.PRIVILEGED), f"namespace {name} enforces"
    by = enforcing(view)
    return (BY_DEFAULT[by], f"{by} enforces in namespace {name}") if by else (Level.PRIVILEGED, "")


def enforcing(view: LinkView) -> str:
    """The distribution that enforces a level where a namespace says none; empty where none is known."""
    return view.enforced_by if view.is_alone else ""


def _judged(view: LinkView, pod: LinkedPod, level: Level, whose: str) -> Iterator[Finding[Location]]:
    from poolsmith.kubernetes.pod_security.engine import judge_pod  # on demand

    top = pod.at.removesuffix("/spec")
    metadata = reach(pod.owner.data, f"{top}/metadata")[0]
    for found in judge_pod(metadata, pod.spec, level)[:_MOST]:
        yield Finding(
            message=f"{pod.owner.name} breaks the level {level}, which {whose}: {found.reason}: {found.detail} "
            f"({found.check})",
            place=pod.owner.place(f"{top if pod.at.endswith('/spec') else pod.at}{found.pointer}"),
            help=f"{found.help}; or let the namespace enforce a level that allows it",
            related=(view.namespaces[pod.namespace].place("/metadata/name", "the namespace"),),
        )
