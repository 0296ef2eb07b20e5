"""Taints in rules of Node Feature Discovery, whose master may not set any."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mappings
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import OPEN, WHOLE, Need, Offer, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

RULE = RuleInfo.of("PSM934")
_NFD, _TAINTER = "node-feature-discovery", "Tainter"
_SWITCHES = ("master.enableTaints", "master.config.enableTaints")


@kept_all
def _needs(view: LinkView) -> Iterator[Need]:
    for item in view.of_kind("NodeFeatureRule"):
        for index, rule in enumerate(mappings(item.spec.get("rules"))):
            if rule.get("taints"):
                pointer = f"/spec/rules/{index}/taints"
                yield Need(kind=_TAINTER, name=_NFD, who=item.name, locate=item.place, pointer=pointer)


@kept_all
def _discoveries(view: LinkView) -> Iterator[tuple[LinkedChart, str]]:
    """Each with the path of its values."""
    yield from ((chart, "") for chart in view.named(_NFD))
    yield from (
        (chart, f"{_NFD}.") for chart in view.charts if chart.is_operator and chart.value("nfd.enabled") is not False
    )


def _offers(view: LinkView) -> Iterator[Offer]:
    """By those that set taints, or may."""
    for chart, top in _discoveries(view):
        if chart.partial or any(chart.value(f"{top}{path}") is True for path in _SWITCHES):
            yield Offer(kind=_TAINTER, name=_NFD)


DOMAINS = (Domain(_TAINTER, _needs, _offers, lambda view: WHOLE if _discoveries(view) else OPEN),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for need in _needs(view):
        if names_of(view).verdict(need).state is State.UNDEFINED:
            chart, top = _discoveries(view)[0]
            yield Finding(
                message=f"{need.who} has taints, and Node Feature Discovery sets none: `enableTaints` is off",
                place=need.place,
                help="write `master: {enableTaints: true}` into its values",
                related=(chart.place(f"{top}master.enableTaints"),),
            )
