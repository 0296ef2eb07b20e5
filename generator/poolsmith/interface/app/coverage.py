"""What of the GPU stack's configurations in anyone's files was judged, and what was not: a finding each, and one line.

A configuration is a chart of the stack that something installs, a file of its values, or a ClusterPolicy that stands
without any. Values of which only a part is known are judged as far as they are; the rest is counted as unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import diagnose
from poolsmith.core.diagnostics.codes.hygiene import NOT_JUDGED
from poolsmith.core.diagnostics.message_text import shorten
from poolsmith.core.diagnostics.outcome import Coverage, Unjudged
from poolsmith.gpu.catalog.stack_objects import CHART_OF, CHARTS, OPERATOR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from poolsmith.core.diagnostics import Diagnostic, Location
    from poolsmith.gpu.values.values_places import FoundValues
    from poolsmith.guard.rules.setup.repository_setups import Setup
    from poolsmith.kubernetes.repository.delivered import ChartInstallation


def coverage_of(
    values: list[FoundValues], installations: Iterable[ChartInstallation], setups: Iterable[Setup]
) -> tuple[Coverage, list[Diagnostic]]:
    """`values` are those that rules read, `installations` those of all charts; of `setups` some may have no values."""
    others = [item for item in installations if item.chart in CHARTS - {*OPERATOR}]
    places = (*(item.locate(()) for item in values), *(item.locate(()) for item in others))
    charts = set(map(_key, places)) if len(places) > 1 else places  # no place is looked for to be told from no other
    setups = tuple(setups)
    unjudged = (*_of_values(values), *_of_templates(others), *_of_unread(others), *_of_many(setups))
    told = {_key(place): (place, item) for place, item in unjudged}
    found = len(charts) + sum(item.found is None for item in setups)
    coverage = Coverage(found=found, unjudged=tuple(item for _, item in told.values()))
    return coverage, [_finding(place, item) for place, item in told.values()]


def _key(place: Location) -> str:
    return f"{place.span} {place.pointer}"


def _finding(place: Location, item: Unjudged) -> Diagnostic:
    return diagnose(NOT_JUDGED, f"this is not judged: {item.why}", place, help=item.add)


def _of_values(found: Iterable[FoundValues]) -> Iterator[tuple[Location, Unjudged]]:
    for item in found:
        by, place = item.judged_by, item.locate(())
        if item.table is None:
            continue  # a chart that nobody has recorded
        if item.has_values and not by.tags:
            age = "older" if by.is_older else "newer"
            why = f"{shorten(by.said)} is {age} than all releases of {item.installation.chart} that are known"
            add = "pin a later release" if by.is_older else "take a newer poolsmith, or give --release TAG"
            yield place, Unjudged(what=_named(place, item.installation), why=why, add=add)
        else:
            yield from _of_templates((item.installation,))


def _of_templates(installations: Iterable[ChartInstallation]) -> Iterator[tuple[Location, Unjudged]]:
    """Values that stand here, and that only their tool can read."""
    for item in installations:
        made = next((unknown for unknown in item.unknown if unknown.is_here), None)
        if made is not None and not any(layer.values for layer in item.layers):
            add = "check what its tool renders of it"
            yield made.place, Unjudged(what=_named(made.place, item), why=made.what, add=add)


def _of_unread(installations: Iterable[ChartInstallation]) -> Iterator[tuple[Location, Unjudged]]:
    """Values of charts that nobody has recorded."""
    for item in installations:
        if item.chart not in CHART_OF and any(layer.values for layer in item.layers):
            place, why = item.locate(()), f"the values of the chart {item.chart} are not known"
            yield place, Unjudged(what=_named(place, item), why=why, add="check what `helm template` renders of it")


def _of_many(setups: Iterable[Setup]) -> Iterator[tuple[Location, Unjudged]]:
    """Installations that one place declares more often than rules over a cluster's files look at."""
    for setup in setups:
        if setup.found is not None and setup.left_out:
            place = setup.found.locate(())
            why = f"{setup.left_out:,} of its installations are left out, as they are many"
            yield place, Unjudged(what=_named(place, setup.found.installation), why=why, add="check a few at a time")


def _named(place: Location, item: ChartInstallation) -> str:
    return f"{place.span}, {item.chart}"
