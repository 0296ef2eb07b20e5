"""Parts of the stack that the operator brings to nodes whose image, or whose cloud, has them already."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, cast

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import reached
from poolsmith.gpu.catalog.node_labels import DEPLOY
from poolsmith.gpu.nodes.node_makers import image_choices, maker_of
from poolsmith.guard.rules.links.machine_images import (
    TALOS,
    known_images,
    machine_images,
    names_gpu_machine,
    names_gpus,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.nodes.node_makers import DriverSwitch, NodeMaker
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo(
    code="PSM782",
    name="part-of-the-host",
    severity=Severity.WARNING,
    applies_to="manifest",
    what="Files beside the operator describe GPU nodes whose image brings a driver, a toolkit or a device plugin "
    "(Talos, images of EKS for GPUs), or whose cloud brings a driver or a plugin unless that is switched off (AKS, "
    "GKE), and the operator's values bring the same part. No file opts those nodes out by labels "
    "`nvidia.com/gpu.deploy.*`. Or a label of GKE that is to keep its plugin off keeps off the driver that nobody "
    "else brings.",
    why="The second driver can't unload the first, the toolkit writes to a file that is not its own, and of two device "
    "plugins the kubelet takes whichever registers last.",
    fix="switch the part off in one of the two places",
    bad="# beside managedNodeGroups: [{amiFamily: Bottlerocket, instanceType: g6.xlarge}]\ndriver: {enabled: true}\n",
    good="# beside managedNodeGroups: [{amiFamily: Bottlerocket, instanceType: g6.xlarge}]\n"
    "driver: {enabled: false}\ntoolkit: {enabled: false}\ndevicePlugin: {enabled: false}\n",
    symptom="`nvidia-driver-ctr` in CrashLoopBackOff, `driver is in use`; `read-only file system`",
    references=("data/machines/brought.yaml", "data/node_makers.yaml", "NVIDIA/aicr pull requests 1998 and 2047"),
)
_PLUGIN = "devicePlugin"
_INSTANCES = (("instanceType",), ("instanceTypes", "*"), ("instancesDistribution", "instanceTypes", "*"))


@record
class _Host:
    """Nodes, what brings `parts` to them, and where that stands; or why the operator's part is of no use there."""

    title: str
    parts: tuple[str, ...]
    place: Location
    advice: str = ""
    useless: str = ""


def check(view: LinkView) -> Iterator[Finding[Location]]:
    charts = [chart for chart in view.charts if chart.is_operator]
    if not view.is_alone or len(charts) != 1 or charts[0].partial:
        return
    yield from _forfeited(view, charts[0])
    yield from _without_extension(view)
    told: set[str] = set()
    for host in _hosts(view) if not any(label.startswith(DEPLOY) for label in view.labels_said) else ():
        doubled = [part for part in host.parts if part not in told and charts[0].value(f"{part}.enabled") is True]
        if doubled:
            told.update(doubled)
            yield _finding(charts[0], host, doubled)


def _finding(chart: LinkedChart, host: _Host, doubled: list[str]) -> Finding[Location]:
    off = ", ".join(f"{part}: {{enabled: false}}" for part in doubled)
    has = "have" if host.title.startswith("nodes") else "brings"
    also = f"{has} {listed(doubled)} already, and the operator brings {'it' if len(doubled) == 1 else 'them'} too"
    return Finding(
        message=f"{host.title} {host.useless or also}",
        place=chart.place(f"{doubled[0]}.enabled"),
        help=f"write `{off}`" + (f", or {host.advice}" if host.advice else ""),
        related=(host.place,),
    )


_MADE = "hosts"


def _hosts(view: LinkView) -> tuple[_Host, ...]:
    """In the order of the files; looked for once."""
    if _MADE not in view.machines.made:
        templates = chain.from_iterable(map(_of_template, view.machines.templates))
        view.machines.made[_MADE] = (*_of_images(view), *templates)
    return cast("tuple[_Host, ...]", view.machines.made[_MADE])


def _of_images(view: LinkView) -> Iterator[_Host]:
    known = known_images()
    for image, place in machine_images(view.machines.tree.documents).items():
        yield _Host(title=image, parts=tuple(known[image]["parts"]), place=place)


def _of_template(template: NodeTemplate) -> Iterator[_Host]:
    body = mapping(template.body)
    has_machines = any(names_gpu_machine(word(value)) for path in _INSTANCES for _, value in reached(body, path))
    for choice in image_choices(body, body if "kind" in body else mapping(template.document.data)):
        if choice.parts and (choice.is_for_gpus or has_machines):
            place = template.at(f"{template.top}{choice.pointer}")
            yield _Host(title=f"nodes of {choice.value}", parts=choice.parts, place=place)
    known = maker_of(body)
    if known is not None and names_gpus(body) and not template.is_partial:
        yield from _of_cloud(template, body, *known)


def _of_cloud(
    template: NodeTemplate, body: Mapping[str, Any], maker: NodeMaker, switch: DriverSwitch
) -> Iterator[_Host]:
    is_kept_off = any(mark.key == maker.plugin_off for mark in template.labels)
    if not switch.is_off(body) and not is_kept_off:
        yield _Host(
            title=f"{maker.cloud}, where {template.document.name} does not forbid it,",
            parts=("driver",),
            place=_driver_place(template, body, switch),
            advice=f"write {switch.shown} there",
        )
    elif switch.is_off(body) and maker.is_unfit(body, switch):
        yield _Host(
            title=f"{template.document.name} makes nodes of {maker.unfit['shown']},",
            parts=("driver",),
            place=_driver_place(template, body, switch),
            advice=f"take another image; with this one {maker.needs['installer']}",
            useless="for which there is no driver image, and on which none can be compiled",
        )
    if maker.plugin_off and not is_kept_off:
        yield _Host(
            title=f"{maker.cloud}, where {template.document.name} does not have the label `{maker.plugin_off}`,",
            parts=(_PLUGIN,),
            place=template.at(f"{template.top}/spec"),
            advice=f"label its nodes `{maker.plugin_off}: 'true'`",
        )


def _driver_place(template: NodeTemplate, body: Mapping[str, Any], switch: DriverSwitch) -> Location:
    said = switch.said(body)
    return template.at(f"{template.top}{said[0][0] if said else '/spec'}")


def _without_extension(view: LinkView) -> Iterator[Finding[Location]]:
    """Machines of Talos that load modules which their installer does not have."""
    row = known_images()[TALOS]
    for document in view.machines.tree.documents:
        machine = mapping(mapping(document.data).get("machine")) if not document.is_object else {}
        modules = [word(mapping(item).get("name")) for _, item in reached(machine, ("kernel", "modules", "*"))]
        install = mapping(machine.get("install"))
        is_plain = word(install.get("image")).startswith(tuple(row["plain"])) and not install.get("extensions")
        if is_plain and any(name.startswith("nvidia") for name in modules):
            yield Finding(
                message="these machines load NVIDIA's modules, and the installer without extensions has none",
                place=document.source.locate("/machine/install/image"),
                help="take the installer of the image factory whose schematic has NVIDIA's extensions",
            )


def _forfeited(view: LinkView, chart: LinkedChart) -> Iterator[Finding[Location]]:
    """Pools whose label turns off more than the plugin: nobody installs their driver."""
    for template in view.machines.templates if chart.value("driver.enabled") is False else ():
        body = mapping(template.body)
        known = maker_of(body)
        if known is None or not names_gpus(body) or known[1].is_off(body):
            continue
        maker, switch = known
        if any(mark.key == maker.plugin_off for mark in template.labels):
            yield Finding(
                message=f"{template.title} lets {maker.cloud} install a driver, and the label `{maker.plugin_off}` "
                "keeps that off together with its device plugin: new nodes have none",
                place=_driver_place(template, body, switch),
                help=f"write {switch.shown}, and apply {maker.needs['installer']}",
                related=(chart.place("driver.enabled"),),
            )
