"""Requests for GPUs that the API server refuses, or that no pod can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, is_gpu_resource
from poolsmith.kubernetes.quantity import amount_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView

RULE = RuleInfo(
    code="PSM751",
    name="gpu-request",
    applies_to="manifest",
    what="A container asks for GPUs, or MIG devices, in a way that the API server refuses: a request without a limit, "
    "or another one than the limit, or no whole number. Or it asks for MIG devices of two sizes, or for these and "
    "whole GPUs (a warning).",
    why="GPUs are extended resources, which can't be overcommitted or divided. The workload is accepted where the pod "
    "is not: a Deployment, a Job or a DaemonSet stands there, and makes no pod. Each resource of the device plugin "
    "writes the same variable, and the last one replaces the others; a process of CUDA has one MIG device at most.",
    fix="write a whole number as the limit, and no request or the same one; one kind of GPU a container",
    bad="resources:\n  requests: {nvidia.com/gpu: 1}\n  limits: {nvidia.com/gpu: 2}\n",
    good="resources:\n  limits: {nvidia.com/gpu: 2}\n",
    symptom='`spec.containers[0].resources.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit`; '
    "`Limit must be set for non overcommitable resources`; `must be an integer`",
    references=(
        "kubernetes/kubernetes:pkg/apis/core/validation/validation.go, ValidateResourceRequirements",
        "NVIDIA/k8s-device-plugin issue 728",
    ),
)
_FILLED_LATER = ("${", "{{", "$(")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for pod in view.pods:
        for at, container in pod.containers if pod.gpu_resources else ():
            resources = mapping(container.get("resources"))
            yield from _refused(pod, f"{at}/resources", resources)
            yield from _of_two_kinds(pod, f"{at}/resources/limits", mapping(resources.get("limits")))


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
        if any(isinstance(value, str) and any(mark in value for mark in _FILLED_LATER) for _, value in asked):
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
