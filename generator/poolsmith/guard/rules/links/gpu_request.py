"""Requests for GPUs that the API server refuses, or that no pod can have."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import nearest, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, VENDOR, is_gpu_resource
from poolsmith.gpu.values.values_places import is_filled_later
from poolsmith.guard.rules.links.model_servers import server_mistakes
from poolsmith.guard.rules.links.plugin_offers import plugin_offers
from poolsmith.kubernetes.quantity import amount_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView

RULE = RuleInfo.of("PSM751")
_PARAMETER = "$("
"""Of a pipeline of Tekton."""
_NEVER_OFFERED = ("alpha.kubernetes.io/nvidia-gpu", "nvidia.com/gpus", "nvidia.com/GPU", "nvidia.com/GPUs")
"""The first until Kubernetes 1.11; the others are slips that no plugin was seen to offer."""
_BRAND, _OF_QUOTAS = "nvidia", (f"requests.{VENDOR}", f"limits.{VENDOR}")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for pod in view.pods:
        yield from server_mistakes(pod)
        for at, container in pod.containers if pod.gpu_resources or any(map(_is_misnamed, pod.asked)) else ():
            resources = mapping(container.get("resources"))
            yield from _misnamed(view, pod, f"{at}/resources", resources)
            if pod.gpu_resources:
                yield from _refused(pod, f"{at}/resources", resources)
                yield from _of_parts(view, pod, f"{at}/resources/limits", mapping(resources.get("limits")))
                yield from _of_two_kinds(pod, f"{at}/resources/limits", mapping(resources.get("limits")))


def _misnamed(view: LinkView, pod: LinkedPod, at: str, resources: Mapping[Any, Any]) -> Iterator[Finding[Location]]:
    """What a plugin that is here does not offer is told beside what it offers."""
    told = pod.gpu_resources if plugin_offers(view) is not None else ()
    places = {str(name): part for part in ("requests", "limits") for name in mapping(resources.get(part))}
    for name, part in places.items():
        if _is_misnamed(name) and name not in told:
            is_refused = _lacks_domain(name)
            why = "which is no name of a resource: it lacks its domain" if is_refused else "which nothing offers"
            yield Finding(
                message=f"{pod.owner.name} asks for `{shorten(name)}`, {why}",
                place=pod.place(join(at, part, name)),
                help=f"write `{GPU}`",
                severity=None if is_refused else Severity.WARNING,
            )


@lru_cache
def _is_misnamed(name: str) -> bool:
    return _lacks_domain(name) or _is_slip(name)


def _lacks_domain(name: str) -> bool:
    return "/" not in name and "gpu" in name.lower()


def _is_slip(name: str) -> bool:
    """Of `nvidia.com/gpu`: near it, under another domain of the vendor, or what a quota or Kubernetes 1.10 says."""
    domain, _, rest = name.partition("/")
    if rest != "gpu" or domain == VENDOR:
        return name in _NEVER_OFFERED
    return domain.startswith(_BRAND) or domain in _OF_QUOTAS or nearest(domain, (VENDOR,), certain=True) is not None


def _of_parts(view: LinkView, pod: LinkedPod, at: str, limits: Mapping[Any, Any]) -> Iterator[Finding[Location]]:
    """Of several parts of GPUs, where the plugin gives a container one."""
    if (offers := plugin_offers(view)) is None:
        return
    for name in sorted(offers.singly & offers.resources & limits.keys()):
        if (amount := amount_of(limits[name])) is not None and amount > 1:
            yield Finding(
                message=f"{pod.owner.name} asks for {shorten(str(limits[name]))} of `{name}`, and each configuration "
                "of the device plugin here gives a container one part of a GPU: the pod ends with "
                "`UnexpectedAdmissionError`",
                place=pod.place(join(at, name)),
                help="ask for 1; several GPUs at once are had on nodes whose configuration shares none",
                related=(offers.place,),
            )


def _of_two_kinds(pod: LinkedPod, at: str, limits: Mapping[Any, Any]) -> Iterator[Finding[Location]]:
    names = [str(name) for name, value in limits.items() if str(name).startswith((GPU, MIG)) and amount_of(value) != 0]
    for name in names[1:] if any(name.startswith(MIG) for name in names) else ():
        yield Finding(
            message=f"{pod.owner.name} asks for `{names[0]}` and `{name}` in one container, which gets one of them",
            place=pod.place(join(at, name)),
            help="ask for one kind of GPU in a container",
            severity=Severity.WARNING,
        )


def _refused(pod: LinkedPod, at: str, resources: Any) -> Iterator[Finding[Location]]:
    requests, limits = mapping(resources.get("requests")), mapping(resources.get("limits"))
    for name in dict.fromkeys((*limits, *requests)):
        if not is_gpu_resource(str(name)):
            continue
        asked = [(part, held[name]) for part, held in (("limits", limits), ("requests", requests)) if name in held]
        if any(isinstance(value, str) and (is_filled_later(value) or _PARAMETER in value) for _, value in asked):
            continue
        wrong = next(((part, value) for part, value in asked if not _is_whole(value)), None)
        if wrong is not None:
            yield _finding(pod, join(at, wrong[0], str(name)), f"`{name}` is {shorten(str(wrong[1]))}, no whole number")
        elif name not in limits:
            yield _finding(pod, join(at, "requests", str(name)), f"`{name}` is requested without a limit")
        elif len(asked) > 1 and amount_of(limits[name]) != amount_of(requests[name]):
            amounts = f"requests {requests[name]} and limits {limits[name]}"
            yield _finding(pod, join(at, "requests", str(name)), f"`{name}` has {amounts}, which have to be the same")


def _finding(pod: LinkedPod, at: str, what: str) -> Finding[Location]:
    return Finding(
        message=f"the API server refuses the pods of {pod.owner.name}: {what}",
        place=pod.place(at),
        help="write one whole number as the limit; GPUs are shared by the device plugin's configuration, or by MIG",
    )


def _is_whole(value: Any) -> bool:
    """What is no quantity at all is the schema's."""
    amount = amount_of(value)
    return amount is None or amount == amount.to_integral_value()
