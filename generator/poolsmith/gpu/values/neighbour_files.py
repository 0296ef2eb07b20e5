"""Files of values that nobody installs, of the charts beside the operator's: known by keys that no other chart has."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from poolsmith.core.pattern import pattern
from poolsmith.core.sources.pointer import join, value_at
from poolsmith.gpu.catalog.stack_objects import CHART_OF, OPERATOR
from poolsmith.gpu.catalog.stack_words import NEIGHBOUR_KEYS, OWN_KEYS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.kubernetes.repository.manifest_files import CheckedDocument

_TELLING = {
    "node-feature-discovery": ("worker", "master", "gc", "featureGates", "prometheus"),
    "nvidia-device-plugin": (
        "gfd",
        "migStrategy",
        "failOnInitError",
        "nvidiaDriverRoot",
        "mps",
        "gdsEnabled",
        "config",
    ),
    "dcgm-exporter": ("arguments", "extraEnv", "kubeletPath", "basicAuth", "tlsServerConfig", "customMetrics"),
    "nvidia-dra-driver-gpu": ("nvidiaDriverRoot", "altProcDevices", "kubeletPlugin", "featureGates"),
    "network-operator": ("deployCR", "nfd", "operator", "secondaryNetwork", "sriovDevicePlugin"),
    "kata-deploy": ("shims", "defaultShim", "runtimeClasses", "snapshotter", "env"),
}
"""Keys that others have too: one of them, and the chart's name in the path or in the image."""
_IMAGES = {
    "k8s-device-plugin": "nvidia-device-plugin",
    "dcgm-exporter": "dcgm-exporter",
    "node-feature-discovery": "node-feature-discovery",
    "kata-deploy": "kata-deploy",
    "k8s-dra-driver-gpu": "nvidia-dra-driver-gpu",
    "dra-driver-nvidia-gpu": "nvidia-dra-driver-gpu",
}
_SWITCH = "enabled"
_NAME = pattern(
    r"(?:^|[/_.-])(?:" + "|".join(map(re.escape, sorted(CHART_OF, key=len, reverse=True))) + r"|nfd)(?=$|[/_.-])"
)
_FREE = ("global",)
_MOST_OF_THEM = 0.75
"""Of the keys at the top: one may be misspelt."""


def neighbour_blocks(document: CheckedDocument) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Of each chart whose values a file has: its name, the pointer to them, and they without the switch of a parent."""
    data = document.data
    if not isinstance(data, dict) or "apiVersion" in data or "kind" in data or not OWN_KEYS.isdisjoint(data):
        return
    chart = _chart_of(data, document.path)
    if chart is not None:
        yield chart, "", data
        return
    for key, block in data.items():
        if key not in CHART_OF:
            continue
        inner = {name: value for name, value in block.items() if name != _SWITCH} if isinstance(block, dict) else {}
        if inner and _chart_of(inner, key) == CHART_OF[key]:
            yield CHART_OF[key], join("", key), inner


def is_of_neighbour(document: CheckedDocument) -> bool:
    """Whether the last chart that a file's path names is one beside the operator's, and no key is the operator's."""
    path, names = document.path, _names(document.path)
    is_last = bool(names) and names[-1] in CHART_OF and path.rfind(OPERATOR[0]) < path.rfind(names[-1])
    return is_last and isinstance(document.data, dict) and OWN_KEYS.isdisjoint(document.data)


def _names(path: str) -> list[str]:
    """The charts that a path names."""
    return [match[0].strip("/_.-") for match in _NAME.finditer(path)]


def _chart_of(values: dict[str, Any], path: str) -> str | None:
    sure = [chart for chart, keys in NEIGHBOUR_KEYS.items() if any(_has(values, key) for key in keys)]
    if sure:
        return sure[0] if len(sure) == 1 and 2 * len(_known(values, sure[0])) >= len(values) else None
    named = _named(values, path)
    if named is None or len(_known(values, named)) < _MOST_OF_THEM * len(values):
        return None
    return named if any(key in values for key in _TELLING[named]) else None


def _has(values: dict[str, Any], path: str) -> bool:
    return value_at(values, path.split("."), _has) is not _has


def _known(values: dict[str, Any], chart: str) -> list[str]:
    """The keys at the top that some release of a chart has."""
    from poolsmith.gpu.catalog.value_paths import value_paths  # on demand

    paths = value_paths(chart)
    known = {*paths.keys_below(()), *paths.subcharts, *_FREE}
    return [key for key in values if key in known]


def _named(values: dict[str, Any], path: str) -> str | None:
    """The chart that the image of the values, or the nearest part of their path, names."""
    image = value_at(values, ("image", "repository")) or value_at(values, ("image", "reference"))
    if isinstance(image, str) and (chart := _IMAGES.get(posixpath.basename(image).partition(":")[0])):
        return chart
    names = _names(path)
    return CHART_OF.get(names[-1], "node-feature-discovery") if names else None
