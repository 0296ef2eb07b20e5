"""The exporters of GPU metrics of a cluster: which series they have, and by which names they are found."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern
from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, word, words
from poolsmith.core.sources.pointer import MISSING, reached
from poolsmith.guard.rules.names.need import Need, Offer, Supply
from poolsmith.guard.rules.names.spelling import Spelling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

EXPORTER = "dcgm-exporter"
SERIES = "Series"
_SERIES = pattern(r"\bDCGM_(?:FI|EXP)_[A-Z0-9_]+\b")
_FLAG = "-m"


@record
class Series:
    """`names` are what an exporter has; `is_own` whether somebody wrote the list, at `place`."""

    names: frozenset[str]
    is_own: bool
    place: Location


def exporters(view: LinkView) -> Iterator[LinkedChart]:
    """Charts that run one."""
    for chart in view.charts:
        is_off = chart.is_operator and chart.value("dcgmExporter.enabled") is False
        if (chart.is_operator or chart.name == EXPORTER) and not is_off:
            yield chart


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
    found = next((item for item in view.of_kind("ConfigMap") if item.own_name == name), None)
    return None if found is None else _own(mapping(found.data.get("data")).get(key), place)


def _default(chart: LinkedChart) -> Series:
    names = frozenset(store.table("exporter_lists.yaml")["series"])
    return Series(names=names, is_own=False, place=chart.declared_at)


def _own(text: Any, place: Location) -> Series | None:
    """Lines of a list: the field, its type and its help; `#` begins a comment."""
    if not isinstance(text, str) or "{{" in text or "${" in text:
        return None
    lines = (line.partition(",")[0].strip() for line in text.splitlines() if not line.lstrip().startswith("#"))
    return Series(names=frozenset(filter(None, lines)), is_own=True, place=place)


def lists_of(view: LinkView) -> tuple[Series, ...]:
    """Of all exporters here; empty where nobody can tell what one of them has."""
    return view.kept("lists of series", lambda: _lists_of(view))


def _lists_of(view: LinkView) -> Iterator[Series]:
    found = [series_of(view, chart) for chart in exporters(view)]
    known = [item for item in found if item is not None]
    yield from known if len(known) == len(found) else ()


def series_needs(view: LinkView) -> tuple[Need, ...]:
    """Series of the exporter that alerts read."""
    return view.kept("series needs", lambda: _series_needs(view))


def _series_needs(view: LinkView) -> Iterator[Need]:
    """`where` is the number of the object and the expression in it."""
    for index, item in enumerate(view.of_kind("PrometheusRule", "VMRule") if view.is_whole else ()):
        for at, text in reached(item.spec, ("groups", "*", "rules", "*", "expr")):
            for name in dict.fromkeys(_SERIES.findall(str(text))):
                where, pointer = f"{index}{at}", f"/spec{at}"
                yield Need(kind=SERIES, name=name, where=where, who=item.name, locate=item.place, pointer=pointer)


def series_supply(view: LinkView) -> Supply:
    lists = lists_of(view) if series_needs(view) else ()
    names = frozenset(name for item in lists for name in item.names)
    return Supply(known=names, owns=lambda _: bool(lists), spelled=partial(_spelled, Spelling(sorted(names))))


def _spelled(names: Spelling, name: str) -> Offer | None:
    right = names.nearest(name)
    return None if right is None else Offer(kind=SERIES, name=right)
