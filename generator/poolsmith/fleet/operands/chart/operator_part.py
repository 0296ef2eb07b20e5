"""What the operator's chart brings, whatever the nodes: custom resources, and everything else."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from poolsmith.core.record import record
from poolsmith.fleet.operands.chart.extra_objects import PATH, extra_objects
from poolsmith.fleet.operands.chart.labels import chart_labels, common_labels
from poolsmith.fleet.operands.chart.project import HelmRelease, project
from poolsmith.fleet.operands.chart.workloads.chart_objects import ChartError, ChartWorkloads, ReleasePlace
from poolsmith.fleet.operands.chart.workloads.render import render
from poolsmith.fleet.operands.installation import Made, Maker
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads
from poolsmith.gpu.catalog.crds import read_crds
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.kubernetes.helm.go_template import TemplateError
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults
from poolsmith.kubernetes.server.admission import admit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from poolsmith.fleet.operands.expansion import KubernetesObject
    from poolsmith.gpu.catalog.charts import Chart

_REMEMBERED = 32
_GROUP = "nvidia.com/"


@record
class ChartPart:
    """`resources` are as the API server stores them, `existing` what the operator then finds. Never changed."""

    resources: tuple[KubernetesObject, ...] = ()
    existing: tuple[KubernetesObject, ...] = ()
    made: tuple[Made, ...] = ()
    errors: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class ChartParts:
    """Remembers the last ones: clusters of unlike nodes often have the same values."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, ChartPart] = OrderedDict()

    def of(
        self, chart: Chart, values: dict[str, Any], namespace: str, api_versions: frozenset[str] = frozenset()
    ) -> ChartPart:
        """`api_versions` are the APIs that the cluster serves."""
        key = repr((chart.name, chart.release, namespace, values, sorted(api_versions)))
        if key not in self._known:
            helm = HelmRelease(name=chart.name, api_versions=api_versions)
            self._known[key] = _chart_part(chart, values, namespace, helm)
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def stored(release: str, resources: Iterable[KubernetesObject]) -> tuple[tuple[KubernetesObject, ...], tuple[str, ...]]:
    """The custom resources of the operator as the API server stores them, and why it refuses others."""
    definitions = read_crds(release)
    taken: list[KubernetesObject] = []
    refused: list[str] = []
    for resource in resources:
        if resource["kind"] in definitions:
            admitted = admit(resource, definitions[resource["kind"]])
            name = f"{resource['kind']}/{resource['metadata']['name']}"
            refused.extend(f"the API server refuses {name}: {violation}" for violation in admitted.violations)
            if not admitted.violations:
                taken.append(admitted.resource)
    return tuple(taken), tuple(refused)


def _chart_part(chart: Chart, values: dict[str, Any], namespace: str, helm: HelmRelease) -> ChartPart:
    release = chart.release
    projection = read_projection(release)
    if projection is None:
        return ChartPart(unknown=(f"the custom resources that the chart of release {release} renders",))
    projected = project(projection, chart.defaults, values, helm)
    if projected.errors:
        return ChartPart(errors=tuple(f"the chart renders nothing: {error.message}" for error in projected.errors))
    merged = merge_over_defaults(chart.defaults, values)
    workloads = operator_chart_objects(release, merged, namespace, chart.name)
    if workloads.errors:
        return ChartPart(errors=tuple(error.message for error in workloads.errors))
    added = [item for item in workloads.objects if item["apiVersion"].startswith(_GROUP)]
    resources, refused = stored(release, (*projected.objects, *added))
    through = f"{chart.name} {release}"
    return ChartPart(
        resources=resources,
        existing=workloads.objects,
        made=(
            *(Made(item, Maker.CHART, through) for item in workloads.objects),
            *(Made(item, Maker.HOOK, through) for item in workloads.hooks),
        ),
        errors=refused,
        unknown=workloads.unknown,
    )


CHART = "gpu-operator"


def operator_chart_objects(
    release: str, values: Mapping[str, Any], namespace: str, release_name: str = CHART
) -> ChartWorkloads:
    """For `values` as templates see them, over the chart's own. Raises nothing, whatever they say."""
    entry = read_chart_workloads(CHART, release)
    projection = read_projection(release)
    if entry is None or projection is None:
        return ChartWorkloads(unknown=(f"workloads of the chart {CHART} {release} are not known",))
    merged = dict(values)
    place = ReleasePlace(helm_release=release_name, namespace=namespace, name=CHART)
    try:
        labels = chart_labels(projection, merged, release_name)
        common = common_labels(projection, merged, release_name)
    except TemplateError as error:
        return ChartWorkloads(errors=(ChartError(error.path, f"{CHART} {release} does not render: {error}"),))
    rendered = render(entry, merged, place, {"labels": labels, "commonLabels": common})
    if (PATH,) not in projection.templated:
        return rendered
    return rendered.with_more(extra_objects(merged, place))
