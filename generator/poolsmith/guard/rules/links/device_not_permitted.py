"""Devices that virtual machines ask for and KubeVirt's list does not permit, or that no plugin offers by that name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import MISSING, reached, value_at
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.gpu_requests import VENDOR
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.resource_links import (
    LISTS,
    MACHINES,
    PERMITTED_IN,
    device_needs,
    permitted_lists,
    permitted_names,
)
from poolsmith.guard.rules.names.need import State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.names.need import Need
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo(
    code="PSM776",
    name="device-not-permitted",
    applies_to="manifest",
    what="A virtual machine asks for an NVIDIA device that the list `permittedHostDevices` of the KubeVirt here "
    "lacks; or "
    "that list names devices in another way than the operator's plugin does, or offers them itself; or the machine "
    "names them "
    "as host devices, whose gate is shut.",
    why="KubeVirt refuses the machine, or no node has the resource and it stays in scheduling.",
    fix="write the name of the list into the machine, and the plugin's name into the list",
    bad="# the list has nvidia.com/GA102GL_A10\ngpus: [{name: gpu, deviceName: nvidia.com/GA102GL_A10G}]\n",
    good="# the list has nvidia.com/GA102GL_A10\ngpus: [{name: gpu, deviceName: nvidia.com/GA102GL_A10}]\n",
    symptom="`HostDevice nvidia.com/... is not permitted in permittedHostDevices configuration`",
    references=(
        "kubevirt/kubevirt:pkg/virt-controller/watch, validateHostDevices",
        "NVIDIA/kubevirt-gpu-device-plugin:README.md, P_GPU_ALIAS, VGPU_ALIAS; cozystack/cozystack pull request 2768",
        "NVIDIA/cloud-native-docs:gpu-operator/gpu-operator-kubevirt.rst, externalResourceProvider",
    ),
)
_GATES = ("configuration", "developerConfiguration", "featureGates")
_GATE = "HostDevices"
_NVIDIA = "10de"


def check(view: LinkView) -> Iterator[Finding[Location]]:
    lists = permitted_lists(view)
    if len(lists) != 1:
        return
    for need in device_needs(view):
        if names_of(view).verdict(need).state is State.UNDEFINED:
            yield _refused(need, lists[0])
    for item in view.of_kind(*MACHINES):
        yield from _without_gate(item, lists[0])
    for chart in view.charts:
        if chart.is_operator and not chart.partial:
            yield from _by_alias(chart, lists[0])
            yield from _by_plugin(chart, lists[0])


def _refused(need: Need, permitted: SetupObject) -> Finding[Location]:
    return Finding(
        message=f"{need.who} asks for `{shorten(need.name)}`, which {permitted.name} does not permit",
        place=need.place,
        help=did_you_mean(need.name, sorted({name for _, _, name in permitted_names(permitted)})),
        related=(permitted.place("/spec/configuration/permittedHostDevices"),),
    )


def _without_gate(item: SetupObject, permitted: SetupObject) -> Iterator[Finding[Location]]:
    """Host devices have a gate of their own, which that of GPUs does not open."""
    gates = words(value_at(permitted.spec, _GATES))
    found = reached(item.data, (*MACHINES[item.kind], "domain", "devices", "hostDevices", "*", "deviceName"))
    if found and _GATE not in gates:
        yield Finding(
            message=f"{item.name} has devices below `hostDevices`, and {permitted.name} does not have the gate "
            f"`{_GATE}`",
            place=item.place(found[0][0].rpartition("/")[0].rpartition("/")[0]),
            help=f"add `{_GATE}` to its `featureGates`, or write the devices below `gpus`",
            related=(permitted.place("/spec/configuration"),),
        )


def _by_plugin(chart: LinkedChart, permitted: SetupObject) -> Iterator[Finding[Location]]:
    """What the operator's plugin offers: KubeVirt offers it as well unless it is told not to, or by another name."""
    is_on = chart.value("sandboxWorkloads.enabled") is True and chart.value("sandboxDevicePlugin.enabled") is not False
    env = chart.value("sandboxDevicePlugin.env")
    for part in LISTS if is_on and chart.value("sandboxWorkloads.mode") in (MISSING, "", "kubevirt") else ():
        for at, entry in reached(permitted.spec, (*PERMITTED_IN, part, "*")):
            name, own = word(mapping(entry).get("resourceName")), _own_name(mapping(entry))
            if mapping(entry).get("externalResourceProvider") is not True and name.startswith(f"{VENDOR}/"):
                yield Finding(
                    message=f"{permitted.name} offers `{shorten(name)}` itself, and the operator's plugin offers these "
                    "devices too",
                    place=permitted.place(f"/spec{at}"),
                    help="write `externalResourceProvider: true`, or `sandboxDevicePlugin: {enabled: false}`",
                    severity=Severity.WARNING,
                    related=(chart.place("sandboxWorkloads.enabled"),),
                )
            elif own and name != own and env in (MISSING, None, []):
                yield Finding(
                    message=f"{permitted.name} permits `{shorten(name)}`, and the plugin here calls these devices "
                    f"`{own}`",
                    place=permitted.place(f"/spec{at}/resourceName"),
                    help=f"write `{own}`",
                    severity=Severity.WARNING,
                    related=(chart.place("sandboxWorkloads.enabled"),),
                )


def _own_name(entry: Mapping[str, Any]) -> str:
    """The resource of a PCI device of the catalog; empty of others."""
    vendor, _, device = word(entry.get("pciVendorSelector")).lower().partition(":")
    return Catalog().gpus.resource_of(device) if vendor == _NVIDIA else ""


def _by_alias(chart: LinkedChart, permitted: SetupObject) -> Iterator[Finding[Location]]:
    env = {item.get("name"): item.get("value") for item in mappings(chart.value("sandboxDevicePlugin.env"))}
    for part, at, value in permitted_names(permitted):
        alias = word(env.get(LISTS[part]))
        if alias and value.startswith(f"{VENDOR}/") and value != f"{VENDOR}/{alias}":
            yield Finding(
                message=f"{permitted.name} permits `{shorten(value)}`, and the plugin here offers these "
                f"devices as `{VENDOR}/{alias}`",
                place=permitted.place(f"/spec{at}"),
                help=f"write `{VENDOR}/{alias}`, or take the alias away",
                related=(chart.place("sandboxDevicePlugin.env"),),
            )
