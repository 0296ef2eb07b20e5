"""Parts of the stack that the operator brings to nodes whose image, or whose cloud, has them already."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, cast

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import reached
from poolsmith.gpu.catalog.node_labels import DEPLOY
from poolsmith.gpu.nodes.node_makers import image_choices, maker_of
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.machine_images import (
    known_images,
    names_gpu_machine,
    names_gpus,
)
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.talos_machines import talos_machines
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import WHOLE, Need, Offer, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.nodes.node_makers import DriverSwitch, NodeMaker
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView, Machines
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM782")
_PLUGIN, _PART = "devicePlugin", "HostPart"
_INSTALLER, _TOLD = "gpu-installer", "cloud.google.com/gke-gpu-driver-version"
_INSTANCES = (("instanceType",), ("instanceTypes", "*"), ("instancesDistribution", "instanceTypes", "*"))


@record
class _Host:
    """Nodes, what brings `parts` to them, and where that stands; or why the operator's part is of no use there."""

    title: str
    parts: tuple[str, ...]
    place: Location
    advice: str = ""
    useless: str = ""


@record(slots=False, eq=False)
class _Group:
    """Nodes with GPUs whose cloud is to install the driver, for nobody else does."""

    need: Need
    template: NodeTemplate
    maker: NodeMaker
    switch: DriverSwitch

    @property
    def is_forfeited(self) -> bool:
        """Whether a label turns off more than the plugin."""
        return any(mark.key == self.maker.plugin_off for mark in self.template.labels)


def _operator(view: LinkView) -> LinkedChart | None:
    charts = [chart for chart in view.charts if chart.is_operator]
    return charts[0] if view.is_alone and len(charts) == 1 and not charts[0].partial else None


@kept_all
def _brought_twice(view: LinkView) -> Iterator[Need]:
    """Parts of the operator that some nodes may have already."""
    chart = _operator(view)
    if chart is None or any(label.startswith(DEPLOY) for label in view.labels_said):
        return
    for part in dict.fromkeys(part for host in _hosts(view.machines) for part in host.parts):
        pointer = f"{part}.enabled"
        if chart.value(pointer) is True:
            yield Need(kind=_PART, name=part, locate=chart.place, pointer=pointer, is_sole=True)


@kept_all
def _groups(view: LinkView) -> Iterator[_Group]:
    chart = _operator(view)
    if chart is None or chart.value("driver.enabled") is not False:
        return
    for template in view.machines.templates:
        body = mapping(template.body)
        known = maker_of(body)
        if known is not None and names_gpus(body) and not known[1].is_off(body):
            pointer = _driver_pointer(template, body, known[1])
            name = f"driver of {pointer} {template.title}"
            need = Need(kind=_PART, name=name, locate=template.at, pointer=pointer)
            yield _Group(need=need, template=template, maker=known[0], switch=known[1])


def _needs(view: LinkView) -> Iterator[Need]:
    return chain(_brought_twice(view), (group.need for group in _groups(view)))


def _offers(view: LinkView) -> Iterator[Offer]:
    """The operator's own parts first."""
    yield from (Offer(kind=_PART, name=need.name) for need in _brought_twice(view))
    for host in _hosts(view.machines) if _brought_twice(view) else ():
        yield from (Offer(kind=_PART, name=part, via=host) for part in host.parts)
    by_hand = any(map(_installs, view.pods))
    yield from (Offer(kind=_PART, name=group.need.name) for group in _groups(view) if by_hand or not group.is_forfeited)


def _installs(pod: LinkedPod) -> bool:
    """Whether it brings a driver to nodes, also to those for which the cloud was told to bring one."""
    is_installer = any(_INSTALLER in image for image in pod.images)
    return is_installer and pod.owner.kind == "DaemonSet" and _TOLD not in str(pod.spec.get("affinity"))


DOMAINS = (Domain(_PART, _needs, _offers, lambda _: WHOLE),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    yield from talos_machines(view)
    chart, names = _operator(view), names_of(view)
    if chart is None:
        return
    for group in _groups(view):
        if names.verdict(group.need).state is State.UNDEFINED:
            yield _forfeited(group, chart)
    doubled: dict[int, tuple[_Host, list[str]]] = {}
    for verdict in map(names.verdict, _brought_twice(view)):
        if verdict.state is State.TWICE:
            host = cast("_Host", verdict.others[0].via)
            doubled.setdefault(id(host), (host, []))[1].append(verdict.need.name)
    yield from (_finding(chart, host, parts) for host, parts in doubled.values())


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


@kept_all
def _hosts(machines: Machines) -> Iterator[_Host]:
    """In the order of the files."""
    yield from _of_images(machines)
    yield from chain.from_iterable(map(_of_template, machines.templates))


def _of_images(machines: Machines) -> Iterator[_Host]:
    known = known_images()
    for image, place in machines.images.items():
        row = known[image]
        yield _Host(title=image, parts=tuple(row["parts"]), place=place, advice=row.get("advice", ""))


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
            place=template.at(_driver_pointer(template, body, switch)),
            advice=f"write {switch.shown} there",
        )
    elif switch.is_off(body) and maker.is_unfit(body, switch):
        yield _Host(
            title=f"{template.document.name} makes nodes of {maker.unfit['shown']},",
            parts=("driver",),
            place=template.at(_driver_pointer(template, body, switch)),
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


def _driver_pointer(template: NodeTemplate, body: Mapping[str, Any], switch: DriverSwitch) -> str:
    said = switch.said(body)
    return f"{template.top}{said[0][0] if said else '/spec'}"


def _forfeited(group: _Group, chart: LinkedChart) -> Finding[Location]:
    template, maker = group.template, group.maker
    return Finding(
        message=f"{template.title} lets {maker.cloud} install a driver, and the label `{maker.plugin_off}` "
        "keeps that off together with its device plugin: new nodes have none",
        place=group.need.place,
        help=f"write {group.switch.shown}, and apply {maker.needs['installer']}",
        related=(chart.place("driver.enabled"),),
    )
