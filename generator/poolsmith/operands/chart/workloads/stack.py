"""What the charts of a hand-installed stack bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.catalog.chart_workloads import chart_versions, read_chart_workloads
from poolsmith.operands.chart.workloads.render import ChartWorkloads, ReleasePlace, over_defaults, render

if TYPE_CHECKING:
    from collections.abc import Mapping


def stack_objects(
    chart: str, version: str, values: Mapping[str, Any], namespace: str, release_name: str = ""
) -> ChartWorkloads:
    """What `chart` installs for values of one's own; its release is called like the chart unless said otherwise.

    Raises nothing, whatever the values say. A chart or version that is not known is in `unknown`.
    """
    if not chart_versions(chart):
        return ChartWorkloads(unknown=(f"workloads of {chart} are not known",))
    entry = read_chart_workloads(chart, version)
    if entry is None or entry.defaults is None:
        return ChartWorkloads(unknown=(f"workloads of {chart} {version} are not known",))
    place = ReleasePlace(helm_release=release_name or chart, namespace=namespace, name=chart)
    return render(entry, over_defaults(entry, values), place)
