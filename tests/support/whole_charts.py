"""All that the operator's chart installs, as we predict it, in a form in which it equals what Helm renders.

Nothing is left out but nulls, which the API server takes for nothing. Helm leaves the namespace to whoever installs. Of
a definition, only what it is called and what it defines: its schema is feature discovery's, and is not predicted.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.fleet.operands.chart.operator_part import CLUSTER_WIDE, operator_chart_objects
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.projections import read_projection
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults

NAMESPACE = "gpu-operator"
_DIGITS = 3
_OF_A_DEFINITION = ("group", "names", "scope")


def predicted(release: str, values: dict[str, Any], apis: Iterable[str]) -> dict[str, Any]:
    """Of the chart and those that it brings, hooks too. An error of ours is one of the test."""
    projection, chart = read_projection(release), read_chart("gpu-operator", release)
    assert projection is not None, release
    assert chart is not None, release
    projected = project(projection, chart.defaults, values, HelmRelease(api_versions=tuple(apis)))
    workloads = operator_chart_objects(release, merge_over_defaults(chart.defaults, values), NAMESPACE)
    assert projected.errors + workloads.errors == (), release
    return by_key((*projected.objects, *workloads.objects, *workloads.hooks))


def by_key(objects: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Objects by kind, namespace and name."""
    found: dict[str, Any] = {}
    for item in objects:
        body = _without_nulls(item)
        metadata = body["metadata"]
        if body["kind"] in CLUSTER_WIDE:
            metadata.pop("namespace", None)
        else:
            metadata.setdefault("namespace", NAMESPACE)
        if body["kind"] == "CustomResourceDefinition":
            body["metadata"] = {"name": metadata["name"]}
            body["spec"] = {key: body["spec"][key] for key in _OF_A_DEFINITION}
        key = f"{body['kind']}/{metadata.get('namespace', '')}/{metadata['name']}"
        assert key not in found, f"{key} stands twice"
        found[key] = body
    return found


def digest(body: dict[str, Any]) -> str:
    """A few letters of an object's hash: enough to tell two apart, and few enough to record many."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def differences(theirs: Any, ours: Any, path: str = "") -> Iterator[str]:
    """Each field that differs, with both values."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in sorted({*theirs, *ours}):
            yield from differences(theirs.get(key), ours.get(key), f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for index, (left, right) in enumerate(zip(theirs, ours, strict=True)):
            yield from differences(left, right, f"{path}[{index}]")
    elif theirs != ours or type(theirs) is not type(ours):
        yield f"{path}: Helm has {json.dumps(theirs)[:300]}, we {json.dumps(ours)[:300]}"


def _without_nulls(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_nulls(value) for key, value in node.items() if value is not None}
    if isinstance(node, list):
        return [_without_nulls(item) for item in node]
    return int(node) if isinstance(node, float) and node.is_integer() else node
