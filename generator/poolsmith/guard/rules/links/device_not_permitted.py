"""Devices that virtual machines ask for and KubeVirt's list does not permit, or that no plugin offers by that name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import did_you_mean, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import MISSING, join, reached, value_at
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.gpu_requests import VENDOR
from poolsmith.gpu.values.values_places import is_filled_later
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import Need, State, Supply

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM776")
_GATES = ("configuration", "developerConfiguration", "featureGates")
_GATE = "HostDevices"
_OLD_MAP = "kubevirt-config"
_MAKER = "HyperConverged"
"""What makes the KubeVirt. Source: kubevirt/hyperconverged-cluster-operator:api/v1beta1/hyperconverged_types.go."""
_SPEC = ("spec", "configuration")
_PLACES: dict[str, tuple[str, ...]] = {
    "developerConfiguration": (),
    "permittedHostDevices": (),
    "mediatedDevicesConfiguration": (),
    "featureGates": ("developerConfiguration",),
    "pciHostDevices": ("permittedHostDevices",),
    "mediatedDevices": ("permittedHostDevices",),
}
"""Where these belong below the configuration. Source: kubevirt/kubevirt:staging/src/kubevirt.io/api/core/v1/types.go,
KubeVirtConfiguration, DeveloperConfiguration, PermittedHostDevices."""
_NVIDIA = "10de"


PERMITTED = "HostDevice"
"""What KubeVirt's own list lets a machine ask for."""
MACHINES = {"VirtualMachine": ("spec", "template", "spec"), "VirtualMachineInstance": ("spec",)}
LISTS = {"pciHostDevices": "P_GPU_ALIAS", "mediatedDevices": "VGPU_ALIAS"}
"""The parts of that list, each with the plugin's variable for a name of one's own."""
PERMITTED_IN = ("configuration", "permittedHostDevices")


def permitted_lists(view: LinkView) -> list[SetupObject]:
    return [item for item in view.of_kind("KubeVirt") if reached(item.spec, PERMITTED_IN)]


def permitted_names(item: SetupObject) -> Iterator[tuple[str, str, str]]:
    """The part of KubeVirt's list, the pointer below its spec, and the name."""
    for part in LISTS:
        for at, value in reached(item.spec, (*PERMITTED_IN, part, "*", "resourceName")):
            yield part, at, word(value)


@kept_all
def device_needs(view: LinkView) -> Iterator[Need]:
    """NVIDIA's devices that virtual machines ask for, which one KubeVirt here has to permit."""
    for item in view.of_kind(*MACHINES) if len(permitted_lists(view)) == 1 else ():
        for part in ("gpus", "hostDevices"):
            for at, value in reached(item.data, (*MACHINES[item.kind], "domain", "devices", part, "*", "deviceName")):
                if word(value).startswith(f"{VENDOR}/"):
                    yield Need(kind=PERMITTED, name=word(value), who=item.name, locate=item.place, pointer=at)


def device_supply(view: LinkView) -> Supply:
    lists = permitted_lists(view)
    named = {name for item in lists for _, _, name in permitted_names(item)}
    is_known = len(lists) == 1 and not any(map(is_filled_later, named))
    return Supply(known=named, owns=lambda _: is_known)


DOMAINS = (Domain(PERMITTED, device_needs, supply=device_supply),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for item in view.of_kind("KubeVirt"):
        yield from _misplaced(item)
        yield from (_unread(old, item) for old in view.of_kind("ConfigMap") if old.own_name == _OLD_MAP)
    yield from (_of_kubevirt(item) for item in view.of_kind(_MAKER) if mapping(item.spec.get("configuration")))
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


def _misplaced(item: SetupObject) -> Iterator[Finding[Location]]:
    """Parts of the configuration that stand above or below their place, where nobody reads them."""
    for above in (("spec",), *((*_SPEC, *steps) for steps in dict.fromkeys(_PLACES.values()))):
        for key in mapping(value_at(item.data, above)):
            if key in _PLACES and above != (*_SPEC, *_PLACES[key]):
                right = ".".join((*_SPEC, *_PLACES[key]))
                yield Finding(
                    message=f"{item.name} has `{key}` below `{'.'.join(above)}`, and KubeVirt reads it below `{right}`",
                    place=item.place(join("", *above, key)),
                    help=f"move it below `{right}`",
                )


def _of_kubevirt(item: SetupObject) -> Finding[Location]:
    return Finding(
        message=f"{item.name} has no `configuration`: the API server drops it, and the KubeVirt that it makes has none",
        place=item.place("/spec/configuration"),
        help="write `permittedHostDevices` and the like below `spec`, and gates as `spec.featureGates`",
    )


def _unread(old: SetupObject, item: SetupObject) -> Finding[Location]:
    return Finding(
        message=f"KubeVirt no longer reads {old.name}: from 0.38 on its configuration is that of {item.name}",
        place=old.place("/metadata/name"),
        help="write its gates into `spec.configuration.developerConfiguration.featureGates` of the KubeVirt",
        severity=Severity.WARNING,
        related=(item.place("/spec"),),
    )


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
