"""The recorded charts beside the operator's, and what operands read, against what others recorded and what the catalog has."""

from __future__ import annotations

import pytest

from poolsmith.core.facts.versions import at_least
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.operand_inputs import operand_inputs
from poolsmith.gpu.catalog.stack_objects import CHART_OF
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.judge import judge_values
from support.recordings import recording

PROBES = recording("chart_probes")
PROBED = sorted({tuple(key.split("/")[:2]) for key in PROBES})


def read_by_helm(chart, version):
    """The paths for which some value changed what Helm renders."""
    for key, answers in PROBES.items():
        parts = key.split("/")
        if parts[:2] == [chart, version] and len(parts) == 4 and any(answers.values()):
            yield parts[3]


OTHER_TYPE, REFUSED_WORD = "PSM303", "PSM323"
"""What is wrong with the text itself, which is put at each path."""


def placed(path):
    *above, last = path.split(".")
    values: dict[str, object] = {last: "text"}
    for key in reversed(above):
        values = {key: values}
    return values


@pytest.mark.parametrize(("chart", "version"), PROBED)
def test_what_helm_renders_otherwise_is_told_as_read(chart, version):
    release = value_paths(chart).release(version)
    paths = [path for path in sorted(set(read_by_helm(chart, version))) if not path.rpartition(".")[2].isdigit()]

    assert paths
    for path in paths:
        told = judge_values(placed(path), release).findings
        assert {item.rule.code for item in told} <= {OTHER_TYPE, REFUSED_WORD}, path


@pytest.mark.parametrize("chart", ["node-feature-discovery", "nvidia-device-plugin", "dcgm-exporter", "kata-deploy"])
def test_each_chart_of_the_catalog_is_recorded(chart):
    assert [version for version in chart_versions(chart) if value_paths(chart).release(version) is None] == []


def test_each_chart_that_comes_inside_of_another_is_recorded():
    for chart in ("gpu-operator", *set(CHART_OF.values())):
        paths = value_paths(chart)
        for name, item in paths.subcharts.items():
            for tag, version in item.versions.items() if item.chart in CHART_OF and chart != "network-operator" else ():
                assert value_paths(item.chart).release(version) is not None, (chart, tag, name)


@pytest.mark.parametrize("tag", value_paths().tags)
def test_configurations_of_discovery_are_recorded_of_each_release_since_its_chart_has_them(tag):
    version = value_paths().subchart(tag)

    assert operand_inputs("discovery").tag_of(version) is not None or not at_least(tag, "v23.6.0")
