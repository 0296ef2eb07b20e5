"""What an imported release still needs from people.

A release counts as read by people once `chart_workloads/gpu_operator.yaml` lists it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.core.sources.pointer import value_at

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from tools.catalog_data import CatalogData

_OPERATOR = "chart_workloads/gpu_operator.yaml"
_DISCOVERY = "chart_workloads/node_feature_discovery.yaml"
_DISCOVERY_CHART = "node-feature-discovery"


def by_hand(
    release: str, behaviours: Mapping[str, int], chart: Mapping[str, Any], data: CatalogData, made: Container[str]
) -> list[str]:
    """`behaviours` counts those of each overlay, `chart` is the Chart.yaml of the operator's chart.

    `made` are the entries that the import itself makes.
    """
    if release in _versions(data, _OPERATOR):
        return []
    discovery = _discovery_version(chart)
    lines = [
        f"{kind}/overlay.yaml: nobody has read yet whether {release} keeps to the rules that cover it "
        f"({count} behaviours); where it does not, end one with `before: {release}` and begin another"
        for kind, count in behaviours.items()
        if count
    ]
    if discovery and discovery not in _versions(data, _DISCOVERY):
        lines.append(f"{_DISCOVERY}: under `versions` {discovery} is missing, and what is new in it")
    lines.append(f"{_OPERATOR}: under `versions`, when all this is done: {_version_line(release, discovery)}")
    lines += [
        f"{path}: not made from these files; without it values are not expanded, custom resources are"
        for path in (f"charts/gpu-operator/{release}.json", f"projection/{release}.json")
        if path not in made and not data.has(path)
    ]
    return lines


def _versions(data: CatalogData, path: str) -> Mapping[str, Any]:
    found = value_at(data.mapping(path), ("versions",))
    return found if isinstance(found, dict) else {}


def _discovery_version(chart: Mapping[str, Any]) -> str | None:
    dependencies = chart.get("dependencies")
    for item in dependencies if isinstance(dependencies, list) else ():
        if isinstance(item, dict) and item.get("name") == _DISCOVERY_CHART:
            return str(item.get("version")).removeprefix("v")
    return None


def _version_line(release: str, discovery: str | None) -> str:
    return f"`{release}: {{appVersion: {release}, nodeFeatureDiscovery: {discovery or 'see Chart.yaml'}}}`"
