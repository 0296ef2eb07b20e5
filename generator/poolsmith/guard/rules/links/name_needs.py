"""Everything that one cluster's pods, charts and drivers name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts import store
from poolsmith.core.sources.pointer import MISSING
from poolsmith.guard.rules.names.need import Need
from poolsmith.guard.rules.names.needs_of_pods import needs_of_pod
from poolsmith.guard.rules.names.needs_of_values import NamingFields, needs_of
from poolsmith.guard.rules.setup.named_objects import needs_of_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkView


def needs_of_view(view: LinkView) -> Iterator[Need]:
    for pod in view.pods:
        yield from needs_of_pod(pod)
    for chart in view.charts:
        yield from needs_of_chart(chart)
    operator = next((chart.namespace for chart in view.charts if chart.is_operator), None)
    for item in view.of_kind("NVIDIADriver"):
        yield from needs_of_driver(item, operator)


def needs_of_chart(chart: LinkedChart) -> Iterator[Need]:
    facts = store.read_yaml("named_objects.yaml")
    rows = facts["values"] if chart.is_operator else facts["charts"].get(chart.name, ())
    yield from needs_of(rows, _fields(chart))
    if chart.namespace_wanted_at is not None and chart.namespace:
        yield Need(
            kind="Namespace",
            name=chart.namespace,
            where="the namespace",
            who=f"the chart {chart.name}",
            place=chart.namespace_wanted_at,
        )


def _fields(chart: LinkedChart) -> NamingFields:
    def value(path: str) -> Any:
        found = chart.value(path)
        return None if found is MISSING else found

    return NamingFields(
        value=value,
        is_set=chart.says,
        place=chart.place,
        namespace=chart.namespace,
        who=f"the chart {chart.name}",
    )
