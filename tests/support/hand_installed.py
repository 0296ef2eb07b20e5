"""Clusters without the operator, and the charts that their profiles install: what Helm is asked for, and what we say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from poolsmith.fleet.operands.chart.chart_objects import stack_objects
from poolsmith.fleet.plan.plan import values_tree
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.chart_workloads import chart_releases
from support.chart_objects import comparable, tidied
from support.clusters import resolve_in

if TYPE_CHECKING:
    from pathlib import Path

RELEASES = chart_releases("nvidia-device-plugin")
SCRIPT = "gpu-feature-discovery-imex-init"
"""A container of v0.17.0 with a script of the chart's, which nobody copies."""
_HOST = {"driver": "{source: preinstalled, version: 550.163.01}"}
_A100 = "product: NVIDIA-A100-SXM4-80GB, count: 2"
_TAINTED = {"nodes": "{taints: [{key: example.com/gpu, value: a, effect: NoExecute}]}"}
_ANSWERED = {"acknowledge": "[{fact: mig-partitions}]"}
_SLICED = {**_HOST, "sharing": "{timeSlicing: {replicas: 4, renameByDefault: true}}"}
_SHARED = {**_HOST, "sharing": "{mps: {replicas: 4}}"}
_SAME = {**_HOST, **_ANSWERED, "gpu": f"{{{_A100}, mig: {{layout: all-1g.10gb}}}}"}
_UNLIKE = {**_HOST, **_ANSWERED, "gpu": f"{{{_A100}, mig: {{layout: all-balanced}}}}"}
_FULL = "gpuFeatureDiscovery: true, dcgmExporter: {release: 4.5.3-4.8.2, serviceMonitor: true}"
_MIRROR = "{mirrors: {nvcr.io: mirror.example.com/n, registry.k8s.io: mirror.example.com/k}, pullSecrets: [pull]}"
_K3S = '{version: "1.33", distribution: k3s}'

CASES: dict[str, tuple[str, dict[str, str], dict[str, dict[str, str]]]] = {
    "sliced": ("", {}, {"a": _SLICED}),
    "shared": ("", {"kubernetes": _K3S}, {"a": {**_SHARED, **_TAINTED}, "b": _SLICED, "c": _HOST}),
    "partitioned": ("namespace: gpu", {}, {"a": _SAME}),
    "discovered": (_FULL, {}, {"a": _HOST}),
    "everything": (f"namespace: gpu, {_FULL}", {"registry": _MIRROR}, {"a": {**_SLICED, **_TAINTED}, "b": _UNLIKE}),
    "partitions and MPS": (_FULL, {}, {"a": _SHARED, "b": _SAME}),
}
"""Fields of the stack, of the cluster, and of its pools."""


def charts_of(root: Path, release: str, case: str) -> list[tuple[str, str, str, dict[str, Any]]]:
    """Chart, version, namespace and values of each unit with a chart, as profiles below `root` resolve."""
    stack, cluster, pools = CASES[case]
    given = {"stack": f"{{kind: device-plugin, release: {release}{', ' if stack else ''}{stack}}}", **cluster}
    plan: Any = resolve_in(root, Catalog(), given, pools).plan
    return [
        (unit.chart.name, unit.chart.version, unit.namespace, values_tree(unit.values))
        for unit in plan.units
        if unit.chart is not None
    ]


def ours(chart: str, version: str, namespace: str, values: dict[str, Any]) -> dict[str, Any]:
    """All objects that we say the chart installs."""
    rendered = stack_objects(chart, version, values, namespace)
    assert (rendered.unknown, rendered.errors) == ((), ())
    return without_script(comparable((*rendered.objects, *rendered.hooks), namespace))


def theirs(objects: list[dict[str, Any]], namespace: str) -> dict[str, Any]:
    """All objects that Helm renders; what charts bring as custom resource definitions is none of them."""
    return without_script(tidied(comparable(objects, namespace)))


def without_script(objects: dict[str, Any]) -> dict[str, Any]:
    """The same, but for a text of the chart."""
    for item in objects.values():
        pod = item.get("spec", {}).get("template", {}).get("spec", {}) if item.get("kind") == "DaemonSet" else {}
        for container in pod.get("initContainers", ()):
            if container["name"] == SCRIPT:
                container.pop("args")
    return objects
