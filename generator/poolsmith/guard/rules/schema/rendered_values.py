"""What server-side apply would refuse of the objects that the chart makes of values, led back to the values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.facts.packs import remembered
from poolsmith.core.record import record
from poolsmith.core.sources.pointer import join, reach, split
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease
from poolsmith.fleet.operands.chart.judgement import Workloads
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.gpu_clusters import served_by
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.gpu.catalog.schema_versions import schema_versions
from poolsmith.kubernetes.schema.schemas import NoSchema, newest_kubernetes, schemas_for
from poolsmith.kubernetes.schema.violation import What

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from poolsmith.kubernetes.schema.violation import Violation

Place = tuple[str | int, ...]

MOST = 20
"""More of one document say no more."""
_SHORTEST = 2
"""Steps: one key alone, such as `driver`, is no place that says anything."""
_LEFT_TO_OTHERS = (What.NULL, What.NOT_EVALUATED)
_ROOTS: Mapping[str, tuple[Place, ...]] = {
    "ClusterPolicy": ((),),
    "NVIDIADriver": (("driver", "nvidiaDriverCRD"), ("driver",)),
    "GPUCluster": ((),),
}
"""Where the values of a resource's fields stand: below `spec`, the paths are mostly those of the values."""


@record(kw_only=False)
class RefusedValue:
    """A place in the values, and what is wrong with what the chart makes of it.

    `is_null`: the chart writes a null there, which a plain create drops without harm.
    """

    place: Place
    message: str
    help: str | None
    is_null: bool


def refused_values(
    release: str,
    values: dict[str, Any],
    written: dict[str, Any],
    helm: HelmRelease | None = None,
    workloads: Workloads | None = None,
) -> Iterator[RefusedValue]:
    """In the order of the objects, at most MOST. `written` are those of the `values` that somebody answers for.

    Nothing of a release that the catalog can't render, and nothing of what the chart alone leads to.
    """
    told: set[Place] = set()
    helm = helm or HelmRelease(api_versions=served_by(release, None))
    for item, violation in _violations(release, values, helm, workloads or Workloads()):
        if (item["kind"], violation.pointer) in _of_the_chart(release):
            continue
        place = _place(item, violation, written)
        if not place or any(place[: len(other)] == other for other in told):
            continue
        told.add(place)
        name = f"{item['kind']}/{item['metadata']['name']}"
        value, is_there = reach(item, violation.pointer)
        is_null = is_there and value is None
        message = f"the chart writes it into {name}, where `{violation.dotted}` {violation.message}"
        advice = "write a value there, or leave the block above it out" if is_null else violation.help
        yield RefusedValue(place, message, advice, is_null)
        if len(told) >= MOST:
            return


def _is_dropped(violation: Violation) -> bool:
    return violation.what is What.UNKNOWN_FIELD


@remembered
def _of_the_chart(release: str) -> frozenset[tuple[str, str]]:
    """What is wrong without any values: no line of the user's leads to it."""
    return frozenset(
        (item["kind"], violation.pointer) for item, violation in _violations(release, {}, HelmRelease(), Workloads())
    )


def _violations(
    release: str, values: dict[str, Any], helm: HelmRelease, workloads: Workloads
) -> Iterator[tuple[dict[str, Any], Violation]]:
    projection, chart = read_projection(release), read_chart(OPERATOR_CHART, release)
    if projection is None or chart is None:
        return
    projected = workloads.resources(projection, chart, values, helm)
    if projected.errors:
        return
    rendered = workloads.of(chart, release, values, helm)
    schemas = schemas_for(schema_versions(kubernetes=newest_kubernetes(), operator=release))
    for item in (*projected.objects, *rendered.objects, *rendered.hooks):
        schema = schemas.find(item["apiVersion"], item["kind"])
        if not isinstance(schema, NoSchema):
            for violation in schema.violations(item):
                if violation.what not in _LEFT_TO_OTHERS and (violation.grave or _is_dropped(violation)):
                    yield item, violation


def _place(item: dict[str, Any], violation: Violation, written: dict[str, Any]) -> Place:
    """Where the values say it: by the resource's own path, else below the one place that has the same key and value."""
    steps = _steps(violation.pointer, item)
    if steps[:1] == ("spec",):
        for root in _ROOTS.get(item["kind"], ()):
            place = (*root, *steps[1:])
            if reach(written, join("", *place))[1]:
                return place
    for length in range(len(steps), _SHORTEST, -1):
        for root in _ROOTS.get(item["kind"], ()) if steps[:1] == ("spec",) else ():
            above = (*root, *steps[1:length])
            if len(above) >= _SHORTEST and reach(written, join("", *above))[1]:
                return above  # the chart fills in the rest of a block that the values begin
        places = list(_same(written, steps[length - 1], reach(item, join("", *steps[:length]))[0]))
        if len(places) == 1:
            return (*places[0], *steps[length:])
    return ()


def _steps(pointer: str, item: Any) -> Place:
    """The steps of a JSON pointer, as keys and indices of this object."""
    steps: list[str | int] = []
    node = item
    for word in split(pointer):
        step: str | int = int(word) if isinstance(node, list) and word.isdigit() else word
        steps.append(step)
        node, _ = reach(node, join("", word))
    return tuple(steps)


def _same(node: Any, key: str | int, wanted: Any, above: Place = ()) -> Iterator[Place]:
    """Places of that key with that value."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, value in items:
        if step == key and value == wanted and isinstance(key, str):
            yield (*above, step)
        else:
            yield from _same(value, key, wanted, (*above, step))
