"""Node groups of clouds that install a driver by themselves, for pools whose driver the operator brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping
from poolsmith.gpu.nodes.node_makers import image_choices, maker_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.gpu.nodes.node_makers import DriverSwitch, NodeMaker
    from poolsmith.guard.rules.beside.neighbour_view import NeighbourPool, NeighbourView
    from poolsmith.kubernetes.repository.node_templates import NodeTemplate

RULE = RuleInfo.of("PSM809")


def check(view: NeighbourView) -> Iterator[Finding[Location]]:
    for template, pool in view.pairs:
        if not template.is_partial and view.plan.chart:
            yield from _of_cloud(view, template, pool)
            yield from _of_image(template, pool)


def _of_cloud(view: NeighbourView, template: NodeTemplate, pool: NeighbourPool) -> Iterator[Finding[Location]]:
    body = mapping(template.body)
    known = maker_of(body)
    if known is None:
        return
    maker, switch = known
    said = switch.said(body)
    is_off, own = switch.is_off(body), pool.plan.own_driver
    place = template.at(f"{template.top}{said[0][0] if said else '/spec'}")
    related = (pool.place("/spec/driver/source", "the profile"),)
    if is_off and not maker.keeps_off(own_driver=own, has_operator=True):
        yield Finding(
            message=f"{template.title} forbids {maker.cloud} to install a driver, and the profile of pool "
            f"`{pool.name}` says that its nodes come with one",
            place=place,
            help="leave it out, or let the operator bring the driver: `driver: {source: container}`",
            related=related,
            severity=Severity.WARNING,
        )
    elif not is_off and (said or maker.installs(view.plan.cluster.spec.kubernetes.version)):
        yield from _lets(template, pool, maker, switch, place) if own or maker.always_off else ()


def _lets(
    template: NodeTemplate, pool: NeighbourPool, maker: NodeMaker, switch: DriverSwitch, place: Location
) -> Iterator[Finding[Location]]:
    """Beside a driver that the operator brings; or beside one that is there, which such nodes do not get."""
    own = pool.plan.own_driver
    other = f"the operator brings the driver of pool `{pool.name}`"
    late = f"the label that keeps its device plugin off pool `{pool.name}` keeps its installation off, too"
    advice = ", or `driver: {source: preinstalled}` into the profile" if not maker.always_off else ""
    yield Finding(
        message=f"{template.title} lets {maker.cloud} install a driver, and {other if own else late}",
        place=place,
        help=f"write {switch.shown}{advice}" if own else f"write {switch.shown}, and apply {maker.needs['installer']}",
        related=(pool.place("/spec/driver/source", "the profile"),),
        severity=None if own else Severity.WARNING,
    )


def _of_image(template: NodeTemplate, pool: NeighbourPool) -> Iterator[Finding[Location]]:
    whole = mapping(template.document.data)
    body = mapping(template.body)
    for choice in image_choices(body, body if "kind" in body else whole):
        if choice.has_driver is pool.plan.own_driver:
            has = (
                "a driver, and the operator brings one" if choice.has_driver else "no driver, and the profile wants one"
            )
            yield Finding(
                message=f"{template.title} makes nodes with {choice.value}, an image that has {has} for pool "
                f"`{pool.name}`",
                place=template.at(f"{template.top}{choice.pointer}"),
                help="take an image of the profile's system without a driver, or `driver: {source: preinstalled}`"
                if choice.has_driver
                else "take the image for instances with GPUs, or `driver: {source: container}`",
                related=(pool.place("/spec/driver/source", "the profile"),),
            )
