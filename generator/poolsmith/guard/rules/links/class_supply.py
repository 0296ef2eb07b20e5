"""Classes of devices that the chart of NVIDIA's DRA driver makes, and classes of runtimes that the operator does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics.message_text import nearest
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.gpu.catalog.gpu_requests import CLASSES
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS
from poolsmith.guard.rules.names.need import DEVICE_CLASS, Offer, Supply
from poolsmith.guard.rules.setup.runtime_class_not_made import BRINGS_ITS_OWN, NVIDIAS_OWN, made_by_operator

if TYPE_CHECKING:
    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.names.need import Verdict

_VENDOR = ".nvidia.com"
_OTHER_CLASSES = (
    "compute-domain-daemon.nvidia.com",
    "compute-domain-default-channel.nvidia.com",
    "imex.nvidia.com",  # of drivers before compute domains
)
_SWITCHES = {"resources.gpus.enabled": CLASSES, "resources.computeDomains.enabled": _OTHER_CLASSES[:2]}
"""Values of the driver's chart, and the classes that it makes while they are on."""


def class_supply(view: LinkView) -> Supply:
    unmade = _unmade(view) if view.is_whole else {}
    known = frozenset((*CLASSES, *_OTHER_CLASSES)) - unmade.keys()
    return Supply(known=known, owns=unmade.__contains__, spelled=partial(_spelled, known))


def runtime_supply(view: LinkView) -> Supply:
    found = set(NVIDIAS_OWN) if view.distributions & {*BRINGS_ITS_OWN} else set()
    for chart in view.charts:
        if chart.is_operator:
            found |= made_by_operator(chart.known, is_known=not chart.partial) or set()
    return Supply(known=found)


def _spelled(known: frozenset[str], name: str) -> Offer | None:
    right = nearest(name, sorted(known), certain=True) if name.endswith(_VENDOR) else None
    return None if right is None else Offer(kind=DEVICE_CLASS, name=right)


def class_finding(view: LinkView, verdict: Verdict) -> Finding[Location]:
    need, offer = verdict.need, verdict.offer
    asks = f"{need.who} asks for a device of class `{need.name}`, "
    if offer is not None:
        text, advice = "and NVIDIA's driver has no such class", f"did you mean `{offer.name}`?"
        return Finding(message=asks + text, place=need.place, help=advice)
    driver, path = _unmade(view)[need.name]
    return Finding(
        message=f"{asks}which the chart {driver.name} here does not make: `{path}` is off",
        place=need.place,
        help=f"write `{path}: true`, or ask for a GPU of the device plugin",
        related=(driver.place(path),),
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
