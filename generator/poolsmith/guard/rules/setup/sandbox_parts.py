"""Sandboxes that wait for a part that the values turn off, or that is never deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import (
    WORKLOAD_KINDS,
    container_places,
    mapping,
    mappings,
    pod_template_of,
    pod_template_pointer,
    word,
)
from poolsmith.core.sources.pointer import join
from poolsmith.fleet.operands.custom_resources import ON_WHEN_UNSAID
from poolsmith.gpu.catalog.gpu_requests import GPU, MIG, VENDOR, is_gpu_resource
from poolsmith.gpu.catalog.node_labels import CC_CAPABLE, WORKLOAD
from poolsmith.guard.rules.setup.setup_view import named, takes_operands, verb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.catalog.sandboxes import KataEra
    from poolsmith.guard.rules.setup.setup_view import SetupNode, SetupObject, SetupView

RULE = RuleInfo.of("PSM161")
NEEDS = ("values", "release")
PARTLY_NEEDS = ("nodes",)
_SWITCH = "sandboxWorkloads.enabled"
_MODE = "sandboxWorkloads.mode"
_CC = "ccManager.enabled"
_VGPU = "vgpuManager.enabled"
_VIRTUAL = "vm-vgpu"
_USUAL = "pgpu"
_TRUE = "true"


def check(view: SetupView) -> Iterator[Finding[Location]]:
    if view.flag(_SWITCH) is not True or view.operator is None:
        return
    era = view.catalog.sandboxes.eras[view.operator.sandbox_era]
    yield from _of_kata(view, era)
    yield from _of_machines(view, era)
    yield from _of_virtual_gpus(view)
    yield from _of_pods(view, era)


def _of_kata(view: SetupView, era: KataEra) -> Iterator[Finding[Location]]:
    if era.mode is None or view.value(_MODE) != era.mode or not _is_off(view, _CC):
        return
    if era.manages_plain:
        yield Finding(
            message=f"`{_MODE}` is `{era.mode}`, and `{_CC}` is off: the RuntimeClasses of Kata select a label that "
            "only the CC manager writes, so no Kata pod is scheduled",
            place=view.value_location(_CC),
            help=f'write `{_CC}: true`; for plain Kata with `ccManager.defaultMode: "off"`',
            related=(view.value_location(_MODE, "asks for Kata"),),
        )


def _of_machines(view: SetupView, era: KataEra) -> Iterator[Finding[Location]]:
    """The validator of a node that can compute confidentially waits for a manager that is deployed for Kata alone."""
    if era.mode is None or view.value(_MODE) in (None, era.mode) or view.flag(_CC) is not True or view.is_generated:
        return
    waiting = [node for node in _sandboxed(view) if node.labels.get(CC_CAPABLE) == _TRUE]
    if waiting:
        yield Finding(
            message=f"`{_CC}` is on, and the operator deploys that manager in the mode `{era.mode}` only: the "
            f"validator of {named(waiting)} waits for it",
            place=view.value_location(_CC if view.is_set(_CC) else _SWITCH),
            help=f"write `{_CC}: false`",
            related=tuple(node.location for node in waiting[:1]),
        )


def _of_virtual_gpus(view: SetupView) -> Iterator[Finding[Location]]:
    hosts = [node for node in _sandboxed(view) if _workload(node, view) == _VIRTUAL]
    by_object = view.flag("driver.nvidiaDriverCRD.enabled") is True
    if hosts and _is_off(view, _VGPU) and not by_object:
        yield Finding(
            message=f"{named(hosts)} {verb(hosts, 'is', 'are')} for vGPUs, and `{_VGPU}` is off: the validator waits "
            "for its driver",
            place=hosts[0].location,
            help=f"write `{_VGPU}: true` with your own image, or another workload",
            related=(view.value_location(_VGPU if view.is_set(_VGPU) else _SWITCH),),
        )


def _of_pods(view: SetupView, era: KataEra) -> Iterator[Finding[Location]]:
    """Pods of Kata get GPUs that are bound to VFIO, by the name that the plugin for them has."""
    alias = _alias(view, era)
    for item, at, name in _asked(view):
        if alias is not None and _is_another(name, alias):
            yield _misnamed(view, item, at, name, alias, era)
        elif name == f"{VENDOR}/{_USUAL}" and _is_of_machines(view, era):
            yield Finding(
                message=f"{item.name} is a pod of Kata, and asks for what the plugin of the mode `{era.mode}` offers; "
                "the operator deploys the one for KubeVirt, whose names are those of models",
                place=view.value_location(_MODE if view.is_set(_MODE) else _SWITCH),
                help=f"write `{_MODE}: {era.mode}`",
                related=(item.place(f"{pod_template_pointer(item.data)}/spec{at}"),),
                subject=item.name,
            )


def _asked(view: SetupView) -> Iterator[tuple[SetupObject, str, str]]:
    """Pods of Kata, each with a GPU that it asks for, below its spec."""
    for kind in WORKLOAD_KINDS:
        for item in view.of_kind(kind):
            pod = mapping(mapping(pod_template_of(item.data)).get("spec"))
            for at, limits in _limits_of_kata(pod):
                yield from ((item, f"{at}{join('', name)}", name) for name in filter(is_gpu_resource, map(str, limits)))


def _is_of_machines(view: SetupView, era: KataEra) -> bool:
    """Whether the operator deploys the plugin for virtual machines, by its usual names."""
    is_renamed = any(mappings(view.value("sandboxDevicePlugin.env")))
    return era.mode is not None and view.value(_MODE) not in (None, era.mode) and not is_renamed


def _alias(view: SetupView, era: KataEra) -> str | None:
    """The one name over all models, empty where they keep their own; None where nobody knows."""
    if era.plugin is None or era.plugin.alias is None or era.mode is None or view.value(_MODE) != era.mode:
        return None
    variables = mappings(view.value(f"{era.plugin.component}.env"))
    said = [item.get("value") for item in variables if item.get("name") == era.plugin.alias.variable]
    found = said[0] if said else era.plugin.alias.default
    return found if isinstance(found, str) else None


def _limits_of_kata(pod: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if word(pod.get("runtimeClassName")).startswith("kata"):
        for field, index, container in container_places(pod):
            yield f"/{field}/{index}/resources/limits", mapping(mapping(container.get("resources")).get("limits"))


def _is_another(name: str, alias: str | None) -> bool:
    of_plugin = name == GPU or name.startswith(MIG)
    return of_plugin or (name != f"{VENDOR}/{alias}" if alias else name == f"{VENDOR}/{_USUAL}")


def _misnamed(
    view: SetupView, item: SetupObject, at: str, name: str, alias: str | None, era: KataEra
) -> Finding[Location]:
    there = f"`{VENDOR}/{alias}`" if alias else f"names of models, such as `{VENDOR}/GH100_H100_PCIE`"
    assert era.plugin is not None, "its alias is known"
    return Finding(
        message=f"{item.name} is a pod of Kata and asks for `{name}`: the plugin for them offers {there}",
        place=item.place(f"{pod_template_pointer(item.data)}/spec{at}"),
        help=f"ask for {there}",
        related=(view.value_location(f"{era.plugin.component}.env"),),
        subject=item.name,
    )


def _is_off(view: SetupView, switch: str) -> bool:
    """A ClusterPolicy that says nothing of a manager has none; of values the chart's default counts."""
    asked = view.flag(switch)
    said_nothing = asked is None and view.values is not None and view.values.of_policy
    return asked is False or (said_nothing and switch.partition(".")[0] not in ON_WHEN_UNSAID)


def _sandboxed(view: SetupView) -> list[SetupNode]:
    return [
        node for node in view.nodes or () if takes_operands(node) and _workload(node, view) not in (None, "container")
    ]


def _workload(node: SetupNode, view: SetupView) -> str | None:
    """What the operator takes the node for; None where nobody can tell."""
    asked = node.labels.get(WORKLOAD)
    default = view.value("sandboxWorkloads.defaultWorkload")
    return asked if asked is not None else default if isinstance(default, str) else None
