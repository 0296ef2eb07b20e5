"""Everything that one cluster's pods, charts and drivers name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from poolsmith.core.facts import store
from poolsmith.core.sources.pointer import MISSING
from poolsmith.guard.rules.names.need import Names, Need
from poolsmith.guard.rules.names.needs_of_pods import NamingPod, needs_of_pod
from poolsmith.guard.rules.names.needs_of_values import NamingFields, needs_of
from poolsmith.guard.rules.names.offers import offers_of
from poolsmith.guard.rules.setup.named_objects import needs_of_driver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.guard.rules.links.link_view import LinkedChart, LinkedPod, LinkView


_MADE = "names"


def names_of(view: LinkView) -> Names:
    """What is named in a view, and what supplies it; made by the first rule that asks."""
    if _MADE not in view.made:
        view.made[_MADE] = Names(offers_of(view.objects), needs_of_view(view))
    return cast("Names", view.made[_MADE])


def needs_of_view(view: LinkView) -> Iterator[Need]:
    for pod in view.pods:
        yield from needs_of_linked_pod(pod)
    for chart in view.charts:
        yield from needs_of_chart(chart)
    operator = next((chart.namespace for chart in view.charts if chart.is_operator), None)
    for item in view.of_kind("NVIDIADriver"):
        yield from needs_of_driver(item, operator)


def needs_of_linked_pod(pod: LinkedPod) -> Iterator[Need]:
    yield from needs_of_pod(
        NamingPod(spec=pod.spec, place=pod.place, namespace=pod.namespace or None, who=pod.owner.name)
    )


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
