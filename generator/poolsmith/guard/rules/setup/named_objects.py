"""What the operator's values, a ClusterPolicy and NVIDIADrivers name, with the verdict on each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.facts import store
from poolsmith.core.sources.pointer import value_at
from poolsmith.guard.rules.names.kept import kept_all
from poolsmith.guard.rules.names.need import Names, Verdict
from poolsmith.guard.rules.names.needs_of_values import NamingFields, needs_of
from poolsmith.guard.rules.names.offers import offers_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.guard.rules.names.need import Need
    from poolsmith.guard.rules.setup.setup_view import SetupObject, SetupView


@kept_all
def verdicts(view: SetupView) -> Iterator[Verdict]:
    needs = (*_of_values(view), *_of_driver_objects(view))
    names = Names(offers_of(view.objects) if needs else (), needs)
    return map(names.verdict, needs)


def _of_values(view: SetupView) -> Iterator[Need]:
    if view.values is not None:
        fields = NamingFields(
            value=view.value, is_set=view.is_set, place=view.value_location, namespace=view.namespace, who=""
        )
        yield from needs_of(store.table("named_objects.yaml")["values"], fields)


def _of_driver_objects(view: SetupView) -> Iterator[Need]:
    for item in view.of_kind("NVIDIADriver", "nvidia.com"):
        yield from needs_of_driver(item, view.namespace)


def needs_of_driver(item: SetupObject, namespace: str | None) -> Iterator[Need]:
    """`namespace` is that of the operator, where its pods run."""
    yield from needs_of(store.table("named_objects.yaml")["driverObjects"], fields_of(item, namespace))


def fields_of(item: SetupObject, namespace: str | None) -> NamingFields:
    """Of an object whose spec has the fields."""
    return NamingFields(
        value=lambda path: value_at(item.spec, path.split(".")),
        is_set=lambda path: value_at(item.spec, path.split(".")) is not None,
        place=lambda path: item.place(f"/spec/{path.replace('.', '/')}"),
        namespace=namespace,
        who=item.name,
        shown="spec.",
    )
