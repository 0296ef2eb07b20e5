"""ConfigMaps of the chart itself."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults


def made(values, release="v26.3.3"):
    merged = merge_over_defaults(read_chart("gpu-operator", release).defaults, values)
    rendered = operator_chart_objects(release, merged, "gpu", "gpu-operator")
    if rendered.errors:
        return None
    own = [item for item in rendered.objects if item["kind"] == "ConfigMap"]
    items = [item for item in own if "node-feature-discovery" not in item["metadata"]["name"]]
    assert {item["metadata"]["namespace"] for item in items} <= {"gpu"}
    return {item["metadata"]["name"]: item["data"] for item in items}


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ({}, {}),
        ({"devicePlugin": {"config": {"create": True, "name": "ts", "data": {"a": "x", "b": "y"}}}}, {"ts": {"a": "x", "b": "y"}}),
        ({"devicePlugin": {"config": {"create": False, "name": "ts", "data": {"a": "x"}}}}, {}),
        ({"devicePlugin": {"config": {"create": True, "name": "ts", "data": {}}}}, {}),
        ({"devicePlugin": {"config": {"create": True, "data": {"a": "x"}}}}, None),
        ({"devicePlugin": {"config": None}}, None),
        ({"devicePlugin": None}, None),
        ({"migManager": {"config": {"create": True, "name": "mig", "data": {"config.yaml": "x"}}}}, {"mig": {"config.yaml": "x"}}),
        ({"dcgmExporter": {"config": {"create": True, "name": "own", "data": "DCGM_FI_DEV_GPU_UTIL"}}}, {"own": {"dcgm-metrics.csv": "DCGM_FI_DEV_GPU_UTIL\n"}}),
        ({"dcgmExporter": {"config": {"create": True, "data": "DCGM_FI_DEV_GPU_UTIL"}}}, None),
        ({"dcgmExporter": {"config": {"create": True, "name": "own", "data": "  a\nb"}}}, None),
        ({"dcgmExporter": {"config": {"create": True, "name": "own"}}}, {}),
        ({"dcgmExporter": {"config": {"name": "own"}}}, {}),
    ],
    ids=str,
)  # fmt: skip
def test_values_make_them(values, wanted):
    assert made(values) == wanted


def test_an_older_chart_has_fewer():
    assert made({"dcgmExporter": {"config": {"create": True}}}, "v24.6.1") == {}
