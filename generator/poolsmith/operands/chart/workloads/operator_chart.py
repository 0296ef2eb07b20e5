"""What the GPU operator's chart installs: the operator, its rights, its jobs, and node feature discovery.

Not here: the custom resources (`operands.project`) and the ConfigMaps of values (`operands.chart_config_maps`).

"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.chart_workloads import read_chart_workloads
from poolsmith.catalog.projections import read_projection
from poolsmith.operands.chart.go_template import TemplateError
from poolsmith.operands.chart.labels import chart_labels
from poolsmith.operands.chart.workloads.render import ChartWorkloads, ReleasePlace, render

if TYPE_CHECKING:
    from collections.abc import Mapping

_CHART = "gpu-operator"


def operator_chart_objects(
    release: str, values: Mapping[str, Any], namespace: str, release_name: str = _CHART
) -> ChartWorkloads:
    """For `values` as templates see them, over the chart's own. Raises nothing, whatever they say."""
    entry = read_chart_workloads(_CHART, release)
    projection = read_projection(release)
    if entry is None or projection is None:
        return ChartWorkloads(unknown=(f"workloads of the chart {_CHART} {release} are not known",))
    merged = dict(values)
    place = ReleasePlace(helm_release=release_name, namespace=namespace, name=_CHART)
    try:
        labels = chart_labels(projection, merged, release_name)
    except TemplateError as error:
        return ChartWorkloads(unknown=(f"{_CHART} {release} does not render: {error}",))
    return render(entry, merged, place, {"labels": labels})
