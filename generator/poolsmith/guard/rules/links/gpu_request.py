"""Requests for GPUs that the API server refuses, or that no pod can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pod_template import container_places, mapping
from poolsmith.core.sources.pointer import join
from poolsmith.gpu.catalog.gpu_requests import is_gpu_resource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView

RULE = RuleInfo(
    code="PSM751",
    name="gpu-request",
    applies_to="manifest",
    what="A container asks for GPUs, or MIG devices, in a way that the API server refuses: a request without a limit, "
    "or another one than the limit, or no whole number.",
    why="GPUs are extended resources, which can't be overcommitted or divided. The workload is accepted where the pod "
    "is not: a Deployment, a Job or a DaemonSet stands there, and makes no pod.",
    fix="write a whole number as the limit, and no request or the same one",
    bad="resources:\n  requests: {nvidia.com/gpu: 1}\n  limits: {nvidia.com/gpu: 2}\n",
    good="resources:\n  limits: {nvidia.com/gpu: 2}\n",
    symptom='`spec.containers[0].resources.requests: Invalid value: "1": must be equal to nvidia.com/gpu limit`; '
    "`Limit must be set for non overcommitable resources`; `must be an integer`",
    references=("kubernetes/kubernetes:pkg/apis/core/validation/validation.go, ValidateResourceRequirements",),
)
_SCALED = pattern(r"\+?(?P<number>[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?P<suffix>[numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?")
_FILLED_LATER = ("${", "{{", "$(")
_POWERS = {"": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for pod in view.pods:
        for field, index, container in container_places(pod.spec):
            resources = mapping(container.get("resources"))
            yield from _refused(pod, f"/{field}/{index}/resources", resources)


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
        elif len(asked) > 1 and _number(limits[name]) != _number(requests[name]):
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
    number = _number(value)
    return number is None or number[1] == 0


def _number(value: Any) -> tuple[int, int] | None:
    """The whole part, and the rest in billionths; None of what is no quantity."""
    found = _SCALED.fullmatch(str(value)) if isinstance(value, (int, float, str)) and value is not True else None
    if found is None or value is False:
        return None
    suffix = found["suffix"] or ""
    if suffix[:1] in ("e", "E") and len(suffix) > 1:
        power, base = int(suffix[1:]), 1
    elif suffix.endswith("i"):
        power, base = 0, 1024 ** ("KMGTPE".index(suffix[0]) + 1)
    else:
        power, base = _POWERS[suffix], 1
    if abs(power) > _MOST_DIGITS or len(found["number"]) > _MOST_DIGITS:
        return None
    whole, _, rest = found["number"].partition(".")
    billionths = int((whole or "0") + (rest + "0" * 9)[:9]) * base
    billionths = billionths * 10**power if power >= 0 else billionths // 10**-power
    whole_part, left = divmod(int(billionths), 10**9)
    return whole_part, left


_MOST_DIGITS = 30
