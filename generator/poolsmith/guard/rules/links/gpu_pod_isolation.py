"""Pods that ask for GPUs, and undo or break how GPUs are kept apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import reached
from poolsmith.gpu.catalog.gpu_requests import is_gpu_resource, names_devices
from poolsmith.gpu.values.values_places import is_filled_later
from poolsmith.kubernetes.quantity import amount_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedPod, LinkView

RULE = RuleInfo.of("PSM767")
_CAPABILITIES = "NVIDIA_DRIVER_CAPABILITIES"
_OWN_VARIABLE = "$("
"""By this the kubelet fills in another variable of the container."""
_KNOWN = ("all", "compat32", "compute", "display", "graphics", "ngx", "none", "utility", "video")


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for pod in view.pods:
        if not pod.gpu_resources:
            continue
        yield from _privileged(pod)
        yield from _unknown_words(pod)
        yield from _own_devices(pod)
        if pod.spec.get("hostUsers") is False:
            yield Finding(
                message=f"{pod.owner.name} asks for GPUs in a user namespace, where the toolkit's hook can't set its "
                "containers up",
                place=pod.place("/hostUsers"),
                help="leave `hostUsers: false` out",
            )


def _privileged(pod: LinkedPod) -> Iterator[Finding[Location]]:
    for at, container in pod.containers:
        limits = mapping(mapping(container.get("resources")).get("limits"))
        is_privileged = mapping(container.get("securityContext")).get("privileged") is True
        if is_privileged and any(is_gpu_resource(str(name)) and amount_of(limits[name]) != 0 for name in limits):
            yield Finding(
                message=f"{pod.owner.name} asks for GPUs in a privileged container, which has all devices of the node: "
                "it uses GPUs that others were given",
                place=pod.place(f"{at}/securityContext/privileged"),
                help="leave `privileged` out: the request brings the devices",
            )


def _own_devices(pod: LinkedPod) -> Iterator[Finding[Location]]:
    """A container's own variable counts for more than the plugin's."""
    for at, container in pod.containers:
        limits = mapping(mapping(container.get("resources")).get("limits"))
        for below, item in reached(container, ("env", "*")) if any(map(is_gpu_resource, map(str, limits))) else ():
            value = shorten(str(mapping(item).get("value")))
            if names_devices(mapping(item)) and not (value.startswith(_OWN_VARIABLE) or is_filled_later(value)):
                yield Finding(
                    message=f"{pod.owner.name} asks for GPUs and names devices: started by the runtime `nvidia`, it "
                    f"gets `{value}` in place of those that it was given",
                    place=pod.place(f"{at}{below}/value"),
                    help="leave the variable out: the request brings the devices",
                    severity=Severity.NOTE if value == "all" else None,
                )


def _unknown_words(pod: LinkedPod) -> Iterator[Finding[Location]]:
    for at, container in pod.containers:
        for below, item in reached(container, ("env", "*")):
            value = word(item.get("value")) if mapping(item).get("name") == _CAPABILITIES else ""
            words = [part.strip() for part in value.split(",")]
            wrong = next((part for part in words if part and part not in _KNOWN), None)
            if wrong is not None and not is_filled_later(value) and _OWN_VARIABLE not in value:
                yield Finding(
                    message=f"{pod.owner.name}: `{_CAPABILITIES}` has `{shorten(wrong)}`, which the toolkit does not "
                    "know: its hook starts no such container, and CDI does not read it",
                    place=pod.place(f"{at}{below}/value"),
                    help=did_you_mean(wrong.lower(), _KNOWN) or f"write some of {', '.join(_KNOWN)}",
                )
