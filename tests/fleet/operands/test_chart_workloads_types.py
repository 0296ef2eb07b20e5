"""Values of any type are answered: with objects, or with why there are none."""

from __future__ import annotations

import copy

import pytest

from poolsmith.fleet.operands.chart.chart_objects import ChartWorkloads, stack_objects
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.chart_workloads import read_chart_workloads
from poolsmith.gpu.catalog.charts import read_chart

WRONG = [None, "text", 5, True, ["a"], {"a": "b"}]
READ = ("operator", "nfd", "validator", "platform", "node-feature-discovery", "extraObjects")


def paths(values, above=()):
    """Every path of nested values, its parents first."""
    for key, value in values.items():
        yield (*above, key)
        if isinstance(value, dict):
            yield from paths(value, (*above, key))


def with_value(values, path, value):
    """A copy that has one value replaced."""
    changed = copy.deepcopy(values)
    node = changed
    for key in path[:-1]:
        node = node.setdefault(key, {})
    node[path[-1]] = value
    return changed


def answered(rendered):
    assert isinstance(rendered, ChartWorkloads)
    assert rendered.objects or rendered.errors


@pytest.mark.rows(2, "a value of each type at every path of a release")
@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_the_operators_chart_answers_whatever_a_value_is(wrong):
    defaults = read_chart("gpu-operator", "v26.7.0").defaults
    discovery = read_chart_workloads("node-feature-discovery", "0.19.0").defaults
    own = [path for path in paths(defaults) if path[0] in READ]

    for path in [*own, *(("node-feature-discovery", *path) for path in paths(discovery))]:
        answered(operator_chart_objects("v26.7.0", with_value(defaults, path, wrong), "gpu-operator"))


@pytest.mark.parametrize(("chart", "version"), [("nvidia-device-plugin", "0.20.0"), ("dcgm-exporter", "4.8.2")])
@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_chart_of_the_stack_answers_whatever_a_value_is(chart, version, wrong):
    for path in paths(read_chart_workloads(chart, version).defaults):
        answered(stack_objects(chart, version, with_value({}, path, wrong), "nvidia"))
