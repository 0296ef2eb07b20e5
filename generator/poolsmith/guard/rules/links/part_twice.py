"""Parts that two bring to the same nodes, or to one cluster, where only one may."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from poolsmith.core.diagnostics import RuleInfo, Severity
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.facts.versions import at_least
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word
from poolsmith.core.sources.pointer import value_at
from poolsmith.gpu.catalog.stack_objects import DRA_DRIVER_CHARTS, OPERATOR
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import Need, Offer, State, there
from poolsmith.guard.rules.setup.one_device_plugin import selected_labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.names.need import Verdict
    from poolsmith.guard.rules.setup.setup_view import SetupObject

RULE = RuleInfo.of("PSM788")


PART = "Part"
_DEFINITIONS, _SINCE = "definitions", "v26.7.0"


@record(slots=False, eq=False)
class Supplier:
    """`off` says how it is told not to; `place` is where."""

    part: str
    title: str
    place: Location
    off: str = ""
    speaks: bool = False
    takes_port: bool = False


def rows() -> dict[str, Mapping[str, Any]]:
    return {row["part"]: row for row in store.table("parts.yaml")["parts"]}


@kept_all
def suppliers(view: LinkView) -> Iterator[Supplier]:
    if view.is_whole or view.is_alone:
        yield from _of_definitions(view)
    for row in rows().values() if view.is_whole else ():
        for known in row["suppliers"]:
            yield from (_of_chart(row, known, chart) for chart in view.named(*known["charts"]) if _brings(chart, known))
        yield from _by_hand(view, row) if "image" in row else ()


def _brings(chart: LinkedChart, known: Mapping[str, Any]) -> bool:
    is_off = "path" in known and chart.value(known["path"]) is False
    is_off |= "asked" in known and chart.value(known["asked"]) is not True
    return not (chart.partial or is_off or any(map(chart.says, known.get("apart", ()))))


def _of_chart(row: Mapping[str, Any], known: Mapping[str, Any], chart: LinkedChart) -> Supplier:
    return Supplier(
        part=row["part"],
        title=f"the chart {chart.name}",
        place=chart.place(path) if (path := known.get("path", known.get("asked"))) else chart.declared_at,
        off=known.get("tell", ""),
        speaks=known.get("speaks", False),
        takes_port="port" in known and chart.value(known["port"]) is True,
    )


def _by_hand(view: LinkView, row: Mapping[str, Any]) -> Iterator[Supplier]:
    """DaemonSets on all nodes with GPUs."""
    for pod in view.pods:
        images = pod.images
        is_own = pod.owner.kind == "DaemonSet" and not pod.owner.metadata.get("ownerReferences")
        if is_own and any(row["image"] in image for image in images) and selected_labels(pod.spec) == {}:
            place = pod.owner.place("/metadata/name")
            yield Supplier(
                part=row["part"],
                title=pod.owner.name,
                place=place,
                speaks=True,
                takes_port=pod.spec.get("hostNetwork") is True,
            )


def _of_definitions(view: LinkView) -> Iterator[Supplier]:
    for item in view.of_kind("HelmRelease", "Application"):
        at, (chart, _) = _replaced_at(item), _chart(item)
        if at is not None:
            off = "`skipCrds: true`" if item.kind == "Application" else "`crds: Skip`"
            yield Supplier(
                part=_DEFINITIONS, title=item.name, place=item.place(at), off=off, speaks=chart in DRA_DRIVER_CHARTS
            )


def _chart(item: SetupObject) -> tuple[str, str]:
    """Its name and its version."""
    if item.kind == "Application":
        source = mapping(item.spec.get("source"))
        return word(source.get("chart")).rpartition("/")[2], word(source.get("targetRevision"))
    spec = mapping(value_at(item.spec, ("chart", "spec")))
    return word(spec.get("chart")), word(spec.get("version"))


def _replaced_at(item: SetupObject) -> str | None:
    """Where an object says that definitions of ComputeDomains are replaced, or where it would say the opposite."""
    chart, version = _chart(item)
    if chart not in DRA_DRIVER_CHARTS and not (chart in OPERATOR and version and at_least(version, _SINCE)):
        return None
    if item.kind == "Application":
        return None if value_at(item.spec, ("source", "helm", "skipCrds")) is True else "/spec/source"
    return "/spec/upgrade/crds" if value_at(item.spec, ("upgrade", "crds")) == "CreateReplace" else None


@kept_all
def part_needs(view: LinkView) -> Iterator[tuple[Supplier, Need]]:
    """One for each that speaks of the others."""
    return ((item, _need(item)) for item in suppliers(view) if item.speaks)


def _need(item: Supplier) -> Need:
    return Need(kind=PART, name=item.part, who=item.title, locate=there(item.place), pointer="", is_sole=True)


def part_offers(view: LinkView) -> Iterator[Offer]:
    return (Offer(kind=PART, name=item.part, via=item) for item in suppliers(view))


DOMAINS = (Domain(PART, lambda view: (need for _, need in part_needs(view)), part_offers),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    for own, need in part_needs(view):
        verdict = names_of(view).verdict(need)
        if verdict.state is State.TWICE:
            yield from _findings(own, verdict)


def _findings(own: Supplier, verdict: Verdict) -> Iterator[Finding[Location]]:
    assert verdict.offer is not None, "one of the two"
    found = [cast("Supplier", offer.via) for offer in (verdict.offer, *verdict.others)]
    for other in found:
        if other is not own and (not other.speaks or found.index(other) < found.index(own)):
            yield _finding(own, other)


def _finding(own: Supplier, other: Supplier) -> Finding[Location]:
    row, collides = rows()[own.part], own.takes_port and other.takes_port
    advice = " or ".join(f"write {item.off}" for item in (other, own) if item.off) or "take one of them away"
    return Finding(
        message=f"{own.title} {row['does']}, and so does {other.title}: {row['collides'] if collides else row['then']}",
        place=own.place,
        help=advice if own.off else f"{advice}, or take this one away",
        related=(other.place,),
        severity=Severity.ERROR if collides else Severity(row["severity"]),
    )
