"""Claims for devices that pods name and nothing makes, and classes of devices that no driver has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import container_places, mapping, mappings, word
from poolsmith.gpu.catalog.gpu_requests import CLASSES, device_requests
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView

RULE = RuleInfo(
    code="PSM772",
    name="claim-of-nobody",
    applies_to="manifest",
    what="A container uses a claim that its pod does not have; a pod names a template of claims, while the files have "
    "another one in that namespace; or a claim names a class of NVIDIA's devices that does not exist, or that "
    "the chart "
    "of the driver here is told not to make.",
    why="The API server refuses the first, and waits for the others: the pod stays Pending.",
    fix="write the name as it stands where the claim, the template or the class is made",
    bad="resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]\ncontainers: [{resources: {claims: [{name: "
    "gpus}]}}]\n",
    good="resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gpu}]\ncontainers: [{resources: {claims: [{name: "
    "gpu}]}}]\n",
    symptom='`Not found: "gpus"`; `waiting for resource claim template`; `cannot allocate all claims`',
    references=(
        "kubernetes/kubernetes:pkg/apis/core/validation/validation.go, validateResourceClaimNames",
        "kubernetes-sigs/dra-driver-nvidia-gpu:deployments/helm, templates/deviceclass-*.yaml",
    ),
)
_TEMPLATE, _CLAIM = "ResourceClaimTemplate", "ResourceClaim"
_VENDOR = ".nvidia.com"
_OTHER_CLASSES = (
    "compute-domain-daemon.nvidia.com",
    "compute-domain-default-channel.nvidia.com",
    "imex.nvidia.com",  # of drivers before compute domains
)
_SWITCHES = {"resources.gpus.enabled": CLASSES, "resources.computeDomains.enabled": _OTHER_CLASSES[:2]}
"""Values of the driver's chart, and the classes that it makes while they are on."""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for pod in view.pods:
        yield from _used(pod)
        yield from _named(view, pod) if view.is_whole else ()
    yield from _classes(view)


def _used(pod: LinkedPod) -> Iterator[Finding[Location]]:
    """Claims of containers among those of their pod."""
    has = [word(item.get("name")) for item in mappings(pod.spec.get("resourceClaims"))]
    for field, index, container in container_places(pod.spec):
        for number, claim in enumerate(mappings(mapping(container.get("resources")).get("claims"))):
            name = word(claim.get("name"))
            if name and name not in has:
                yield Finding(
                    message=f"a container of {pod.owner.name} uses the claim `{name}`, which its pod does not have: "
                    "the API server refuses the pod",
                    place=pod.place(f"/{field}/{index}/resources/claims/{number}/name"),
                    help=f"{did_you_mean(name, has)} Add it to the pod's `resourceClaims`".strip(),
                )


def _named(view: LinkView, pod: LinkedPod) -> Iterator[Finding[Location]]:
    """Only where the namespace has others of that kind: what has none at all comes from elsewhere."""
    for index, item in enumerate(mappings(pod.spec.get("resourceClaims"))):
        for key, kind in (("resourceClaimTemplateName", _TEMPLATE), ("resourceClaimName", _CLAIM)):
            name = word(item.get(key))
            there = [
                made.own_name for made in view.of_kind(kind) if word(made.metadata.get("namespace")) == pod.namespace
            ]
            if name and there and name not in there and (hint := did_you_mean(name, there)):
                yield Finding(
                    message=f"{pod.owner.name} names {kind}/{name}, and its namespace has none of that name",
                    place=pod.place(f"/resourceClaims/{index}/{key}"),
                    help=hint,
                )


def _classes(view: LinkView) -> Iterator[Finding[Location]]:
    own = {item.own_name for item in view.of_kind("DeviceClass")}
    unmade = _unmade(view) if view.is_whole else {}
    known: set[Any] = {*CLASSES, *_OTHER_CLASSES, *own}
    for item in view.of_kind(_CLAIM, _TEMPLATE):
        top = "/spec/spec" if item.kind == _TEMPLATE else "/spec"
        claim = mapping(item.spec.get("spec")) if item.kind == _TEMPLATE else item.spec
        for at, request in device_requests(claim):
            name = word(request.get("deviceClassName"))
            if name in unmade and name not in own:
                yield _not_made(item.name, name, item.place(f"{top}{at}/deviceClassName"), *unmade[name])
            hint = did_you_mean(name, CLASSES) if name.endswith(_VENDOR) and name not in known else ""
            if hint:
                yield Finding(
                    message=f"{item.name} asks for a device of class `{name}`, and NVIDIA's driver has no such class",
                    place=item.place(f"{top}{at}/deviceClassName"),
                    help=hint,
                )


def _unmade(view: LinkView) -> dict[str, tuple[LinkedChart, str]]:
    """Classes that no driver here makes, for all have them switched off; each with the first one, and the value."""
    drivers = list(view.named(*DRA_DRIVER_CHARTS))
    by_operator = any(chart.is_operator and chart.value("gpuCluster.deployCR") is not False for chart in view.charts)
    found: dict[str, tuple[LinkedChart, str]] = {}
    for path, classes in _SWITCHES.items() if drivers and not by_operator else ():
        if all(chart.value(path) is False and not chart.partial for chart in drivers):
            found |= dict.fromkeys(classes, (drivers[0], path))
    return found


def _not_made(who: str, name: str, place: Location, driver: LinkedChart, path: str) -> Finding[Location]:
    return Finding(
        message=f"{who} asks for a device of class `{name}`, which the chart {driver.name} here does not make: "
        f"`{path}` "
        "is off",
        place=place,
        help=f"write `{path}: true`, or ask for a GPU of the device plugin",
        related=(driver.place(path),),
    )
