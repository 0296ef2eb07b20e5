"""Labels of nodes that pods of the stack, and those of its charts, have to find: without them no node is taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.core.sources.pod_template import mapping, mappings, word, words
from poolsmith.core.sources.pointer import MISSING, join, value_at
from poolsmith.gpu.catalog.gpu_requests import asks_for_gpus
from poolsmith.guard.rules.names.needs_of_values import FILLED_LATER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from poolsmith.core.diagnostics import Location
    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView

TERMS = ("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms")
_CHART_PODS = ("", "kubeletPlugin", "daemonsets", "worker")
"""Where charts of the stack take selectors of their pods."""


@record
class Selection:
    """`values` are those of which a node needs one; empty where any will do. `who` asks.

    `locate` leads to the place of `pointer`; it is asked only where something is wrong.
    """

    who: str
    key: str
    values: tuple[str, ...]
    locate: Callable[[str], Location]
    pointer: str

    @property
    def place(self) -> Location:
        return self.locate(self.pointer)


def selections(view: LinkView) -> Iterator[Selection]:
    for pod in view.pods:
        if asks_for_gpus(pod.spec):
            yield from selected(pod.spec, pod.place, pod.owner.name)
    for chart in view.charts:
        for part in _CHART_PODS:
            yield from _of_chart(chart, part)


def _of_chart(chart: LinkedChart, part: str) -> Iterator[Selection]:
    """The user's own alone: those of charts are a rule's of their own."""
    held = value_at(chart.values, part.split("."), MISSING) if part else chart.values

    def place(pointer: str) -> Location:
        field = pointer.split("/")[1]
        return chart.place(f"{part}.{field}" if part else field)

    yield from selected(mapping(held), place, f"the chart {chart.name}")


def selected(spec: Mapping[str, Any], place: Callable[[str], Location], who: str) -> Iterator[Selection]:
    """Of a spec: its nodeSelector, and the term of its affinity where there is one alone."""
    for key, value in mapping(spec.get("nodeSelector")).items():
        if isinstance(value, str) and not FILLED_LATER.search(f"{key}{value}"):
            at = join("/nodeSelector", str(key))
            yield Selection(who=who, key=str(key), values=(value,), locate=place, pointer=at)
    terms = value_at(spec, TERMS)
    if not isinstance(terms, list) or len(terms) != 1:
        return
    for index, item in enumerate(mappings(mapping(terms[0]).get("matchExpressions"))):
        found = words(item.get("values"))
        if item.get("operator") in ("In", "Exists") and not any(map(FILLED_LATER.search, found)):
            at = join("", *TERMS, 0, "matchExpressions", index)
            yield Selection(who=who, key=word(item.get("key")), values=found, locate=place, pointer=at)
