"""A chart that no value reaches is left out where values are judged: by its own defaults nothing is wrong with it."""

from __future__ import annotations

import pytest

from poolsmith.fleet.operands.chart import judgement
from poolsmith.fleet.operands.chart.judgement import Workloads, chart_errors
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.operator_names import OPERATOR_CHART
from poolsmith.guard.rules.schema.rendered_values import refused_values
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults

TAGS = chart_versions(OPERATOR_CHART)
PART = "node-feature-discovery"
GIVEN = {
    "another chart's": {"devicePlugin": {"config": {"name": "shared"}}},
    "wrong": {"toolkit": {"env": [{"name": 7}]}, "driver": {"version": ["a"]}},
    "its switch": {"nfd": {"enabled": False}},
    "its own": {PART: {"worker": {"tolerations": [{"operatr": "Exists"}]}}},
    "its own, and it stops": {PART: {"master": 3}},
    "null": {PART: None},
    "all charts'": {"global": {"imagePullSecrets": [{"nam": "a"}]}},
    "none": {},
}


def told(tag, values):
    return list(refused_values(tag, values, values)), chart_errors(tag, values)


@pytest.mark.rows(8, "each release renders it alike but for what its versions of the chart change")
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("tag", TAGS)
def test_the_same_is_told_as_of_all_charts(tag, given, monkeypatch):
    found = told(tag, GIVEN[given])
    whole = judgement.operator_chart_objects
    monkeypatch.setattr(judgement, "operator_chart_objects", lambda *asked: whole(*asked[:4]))

    assert found == told(tag, GIVEN[given])


@pytest.mark.parametrize("tag", TAGS)
def test_only_what_no_value_reaches_is_left_out(tag):
    chart = read_chart(OPERATOR_CHART, tag)
    if chart is None:
        return

    def made(given):
        merged = merge_over_defaults(chart.defaults, given)
        return operator_chart_objects(tag, merged, "gpu-operator", given=given).objects

    whole, less = made({}), made(GIVEN["another chart's"])
    assert [item for item in whole if item in less] == list(less)
    assert len(less) < len(whole) == len(made(GIVEN["all charts'"])) == len(made({PART: {}}))


def test_what_is_remembered_is_of_the_values_that_were_asked():
    chart, workloads = read_chart(OPERATOR_CHART, TAGS[-1]), Workloads()
    first, second = GIVEN["another chart's"], GIVEN["its own"]
    made = [len(workloads.of(chart, TAGS[-1], given, judgement.HelmRelease()).objects) for given in (first, second)]

    assert made[0] < made[1]
