"""Alerts over series that no exporter of the cluster has."""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from poolsmith.core.diagnostics import RuleInfo
from poolsmith.core.diagnostics.message_text import listed, shorten
from poolsmith.core.diagnostics.rule_engine import Finding
from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import word, words
from poolsmith.core.sources.pointer import MISSING, reached
from poolsmith.guard.rules.links.link_view import Domain
from poolsmith.guard.rules.links.name_needs import names_of
from poolsmith.guard.rules.links.scraping import exporters
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import Need, State, Supply, spelled
from poolsmith.guard.rules.names.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView
    from poolsmith.guard.rules.names.need import Verdict

RULE = RuleInfo.of("PSM779")
_FEW = 3


SERIES = "Series"
_SERIES = pattern(r"\bDCGM_(?:FI|EXP)_[A-Z0-9_]+\b")
_FLAG = "-m"


@record
class Series:
    """`names` are what an exporter has; `is_own` whether somebody wrote the list, at `place`."""

    names: frozenset[str]
    is_own: bool
    place: Location


def series_of(view: LinkView, chart: LinkedChart) -> Series | None:
    """None where nobody can tell."""
    if chart.partial:
        return None
    if chart.is_operator:
        return _of_operator(view, chart)
    if isinstance(chart.value("customMetrics"), str) and chart.value("customMetrics"):
        return _own(chart.value("customMetrics"), chart.place("customMetrics"))
    arguments = words(chart.value("arguments"))
    if _FLAG not in arguments:
        return _default(chart)
    name = arguments[-1].partition(":")[2] if arguments[-2:-1] == (_FLAG,) else ""
    return _of_config_map(view, name, "metrics", chart.place("arguments"))


def _of_operator(view: LinkView, chart: LinkedChart) -> Series | None:
    config = "dcgmExporter.config"
    name = chart.value(f"{config}.name")
    if name in (MISSING, None, ""):
        return None if chart.says("dcgmExporter.env") else _default(chart)
    if chart.value(f"{config}.create") is True:
        return _own(chart.value(f"{config}.data"), chart.place(f"{config}.data"))
    return _of_config_map(view, word(name), "dcgm-metrics.csv", chart.place(f"{config}.name"))


def _of_config_map(view: LinkView, name: str, key: str, place: Location) -> Series | None:
    found = view.texts_of(name)
    return None if found is None else _own(found.get(key), place)


def _default(chart: LinkedChart) -> Series:
    names = frozenset(store.table("exporter_lists.yaml")["series"])
    return Series(names=names, is_own=False, place=chart.declared_at)


def _own(text: Any, place: Location) -> Series | None:
    """Lines of a list: the field, its type and its help; `#` begins a comment."""
    if not isinstance(text, str) or "{{" in text or "${" in text:
        return None
    lines = (line.partition(",")[0].strip() for line in text.splitlines() if not line.lstrip().startswith("#"))
    return Series(names=frozenset(filter(None, lines)), is_own=True, place=place)


@kept_all
def lists_of(view: LinkView) -> Iterator[Series]:
    """Of all exporters here; empty where nobody can tell what one of them has."""
    found = [series_of(view, chart) for chart in exporters(view)]
    known = [item for item in found if item is not None]
    yield from known if len(known) == len(found) else ()


@kept_all
def series_needs(view: LinkView) -> Iterator[Need]:
    """Series of the exporter that alerts read; `where` is the number of the object and the expression in it."""
    for index, item in enumerate(view.of_kind("PrometheusRule", "VMRule") if view.is_whole else ()):
        for at, text in reached(item.spec, ("groups", "*", "rules", "*", "expr")):
            for name in dict.fromkeys(_SERIES.findall(str(text))):
                where, pointer = f"{index}{at}", f"/spec{at}"
                yield Need(kind=SERIES, name=name, where=where, who=item.name, locate=item.place, pointer=pointer)


def series_supply(view: LinkView) -> Supply:
    lists = lists_of(view) if series_needs(view) else ()
    names = frozenset(name for item in lists for name in item.names)
    return Supply(known=names, owns=lambda _: bool(lists), spelled=partial(spelled, SERIES, Spelling(sorted(names))))


DOMAINS = (Domain(SERIES, series_needs, supply=series_supply),)


def check(view: LinkView) -> Iterator[Finding[Location]]:
    """One finding for each expression."""
    for _, needs in groupby(series_needs(view), key=lambda need: need.where):
        verdicts = [names_of(view).verdict(need) for need in needs]
        missing = [verdict for verdict in verdicts if verdict.state in (State.NEAR, State.UNDEFINED)]
        if missing and lists_of(view):
            yield _finding(view, missing)


def _finding(view: LinkView, missing: list[Verdict]) -> Finding[Location]:
    need, near = missing[0].need, missing[0].offer
    lists = lists_of(view)
    own = next((found for found in lists if found.is_own), None)
    return Finding(
        message=f"{need.who} reads {listed((shorten(item.need.name) for item in missing), _FEW)}, which "
        + ("the list of metrics here does not have" if own else "no list of the exporter's image has"),
        place=need.place,
        help=f"did you mean `{near.name}`?" if near is not None else "add it to the exporter's list of metrics",
        related=((own or lists[0]).place,),
    )
