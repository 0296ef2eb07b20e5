"""Names that pods and charts need, and that nothing supplies, that stand elsewhere, or that lack a key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import did_you_mean
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.sources.pod_template import mapping, mappings, word
from poolsmith.gpu.catalog.gpu_requests import CLASSES
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import (
    names_of,
    needs_of_bindings,
    needs_of_chart,
    needs_of_linked_pod,
    needs_of_objects,
)
from poolsmith.guard.rules.links.needs_from_outside import from_outside
from poolsmith.guard.rules.names.messages import changed, elsewhere, lacking, slip
from poolsmith.guard.rules.names.need import DEVICE_CLASS, Offer, State, Supply, spelled
from poolsmith.guard.rules.names.spelling import Spelling
from poolsmith.guard.rules.setup.runtime_class_not_made import BRINGS_ITS_OWN, NVIDIAS_OWN, made_by_operator

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView
    from poolsmith.guard.rules.names.need import Need, Verdict

RULE = RuleInfo.of("PSM773")
_SAID = {State.CHANGED: changed, State.NEAR: slip, State.ELSEWHERE: elsewhere, State.LACKS_KEY: lacking}
_COPIED = ("replicat", "reflector", "kubed", "kyverno")
"""Words in annotations of objects that a controller copies into other namespaces."""


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
    own = (item.own_name for item in view.of_kind(DEVICE_CLASS)) if view.is_whole else ()
    names = Spelling(sorted(known)), Spelling(own)
    return Supply(known=known, owns=unmade.__contains__, spelled=partial(_spelled, *names))


def runtime_supply(view: LinkView) -> Supply:
    found = set(NVIDIAS_OWN) if view.distributions & {*BRINGS_ITS_OWN} else set()
    for chart in view.charts:
        if chart.is_operator:
            found |= made_by_operator(chart.known, is_known=not chart.partial) or set()
    return Supply(known=found)


def _spelled(drivers: Spelling, own: Spelling, name: str) -> Offer | None:
    """Among the driver's, or those that somebody makes here."""
    return spelled(DEVICE_CLASS, drivers if name.endswith(_VENDOR) else own, name)


def class_finding(view: LinkView, verdict: Verdict) -> Finding[Location]:
    need, offer = verdict.need, verdict.offer
    asks = f"{need.who} asks for a device of class `{need.name}`, "
    if offer is not None:
        text = "and NVIDIA's driver has no such class" if need.name.endswith(_VENDOR) else "and nothing here makes it"
        advice = f"did you mean `{offer.name}`?"
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


DOMAINS = (Domain(DEVICE_CLASS, supply=class_supply), Domain("RuntimeClass", supply=runtime_supply))


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for pod in view.pods:
        yield from _claims(pod)
    yield from _judged(view, needs_of_objects(view))
    asking = [pod for pod in view.pods if pod.spec.get("resourceClaims") or pod.asks_for_gpus]
    for pod in asking:
        yield from _judged(view, needs_of_linked_pod(view, pod))
    if not view.is_whole:
        for chart in view.charts if view.is_alone else ():
            yield from from_outside(view, needs_of_chart(chart), kinds=("Namespace",)) if chart.engine == "k3s" else ()
        return
    for pod in asking:
        yield from from_outside(view, needs_of_linked_pod(view, pod), kinds=())
    yield from from_outside(view, needs_of_objects(view), kinds=("Kustomization", "HelmRelease"))
    yield from _judged(view, needs_of_bindings(view))
    for chart in view.charts:
        yield from _judged(view, needs_of_chart(chart))
        yield from from_outside(view, needs_of_chart(chart), kinds=("ConfigMap", "Namespace"))


def _judged(view: LinkView, needs: Iterable[Need]) -> Iterator[Finding[Location]]:
    """Of what nobody delivers classes of devices and what systems bring alone: these are known everywhere."""
    for need in needs:
        verdict = names_of(view).verdict(need)
        if need.kind == DEVICE_CLASS and verdict.state in (State.NEAR, State.UNDEFINED):
            yield class_finding(view, verdict)
        elif (
            (view.is_whole or _is_built_in(verdict))
            and verdict.state in _SAID
            and not need.may_be_absent
            and not _is_copied(verdict)
        ):
            yield _SAID[verdict.state](verdict)


def _is_built_in(verdict: Verdict) -> bool:
    """Whether what is near stands in no file: it is known everywhere."""
    return verdict.offer is not None and verdict.offer.item is None


def _is_copied(verdict: Verdict) -> bool:
    item = verdict.offer.item if verdict.offer is not None else None
    held = item.metadata.get("annotations") if item is not None else None
    return verdict.state is State.ELSEWHERE and any(mark in str(held).lower() for mark in _COPIED)


def _claims(pod: LinkedPod) -> Iterator[Finding[Location]]:
    """Those that containers use, among those of their pod."""
    has = [word(item.get("name")) for item in mappings(pod.spec.get("resourceClaims"))]
    for at, container in pod.containers:
        for number, claim in enumerate(mappings(mapping(container.get("resources")).get("claims"))):
            name = word(claim.get("name"))
            if name and name not in has:
                yield Finding(
                    message=f"a container of {pod.owner.name} uses the claim `{name}`, which its pod does not have: "
                    "the API server refuses the pod",
                    place=pod.place(f"{at}/resources/claims/{number}/name"),
                    help=f"{did_you_mean(name, has)} Add it to the pod's `resourceClaims`".strip(),
                )
