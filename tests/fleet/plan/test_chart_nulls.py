"""Nulls that a chart writes by itself are kept out of what is generated, unless the user decides there."""

from __future__ import annotations

import subprocess

import pytest
import yaml

from poolsmith.gpu.catalog.chart_contents import nulls_of
from poolsmith.gpu.catalog.projections import projected_releases

WITHOUT_CURE = ("v22.9.1", "v22.9.2")
"""Their charts write nulls as well; nothing is generated for them, and no value takes the null of the first away."""


def values_of(resolve, release, values=None):
    stack = {"release": release} | ({"values": values} if values else {})
    outcome = resolve({"stack": yaml.dump(stack, default_flow_style=True).strip()})
    assert outcome.plan is not None, outcome.findings
    return outcome.values


@pytest.mark.parametrize("release", projected_releases())
def test_each_null_of_a_release_is_cured(resolve, release):
    values = values_of(resolve, release)

    assert {path: values.get(path, "") for path in (item.dotted for item in nulls_of(release))} == {
        item.dotted: item.value for item in nulls_of(release)
    }


def test_two_releases_refuse_their_own_chart_without_a_cure(resolve):
    assert values_of(resolve, "v25.3.4")["validator.plugin"] is None
    assert "validator.plugin" not in values_of(resolve, "v25.10.1")


@pytest.mark.parametrize(
    ("values", "path"),
    [
        ({"validator": {"plugin": {"env": [{"name": "WITH_WORKLOAD", "value": "true"}]}}}, "validator.plugin"),
        ({"migManager": {"config": {"name": "my-layouts"}}}, "migManager.config.name"),
    ],
)
def test_who_sets_such_a_value_decides(resolve, values, path):
    ours = values_of(resolve, "v25.3.4", values)

    assert ours.get(path) in (None, "my-layouts")
    assert sum(name == path or name.startswith(f"{path}.") for name in ours) == 1


@pytest.mark.tool("helm")
def test_no_chart_writes_a_null_that_the_catalog_does_not_have(checkouts, tmp_path):
    """In custom resources; the server drops nulls of built-in kinds, and compares without them."""
    for folder in sorted(checkouts("POOLSMITH_CHARTS").iterdir()):
        release = folder.name
        if release in WITHOUT_CURE:
            continue
        assert nulls_in(folder / "gpu-operator") == {item.dotted for item in nulls_of(release)}, release
        cures = {}
        for item in nulls_of(release):
            node = cures
            for key in item.path[:-1]:
                node = node.setdefault(key, {})
            node[item.path[-1]] = item.value
        values = tmp_path / f"{release}.yaml"
        values.write_text(yaml.dump(cures))
        assert nulls_in(folder / "gpu-operator", "--values", str(values)) == set(), release


def nulls_in(chart, *more):
    """Paths below `spec` of the chart's own custom resources where Helm renders a null."""
    command = ["helm", "template", "gpu-operator", str(chart), "--kube-version", "1.34.1", *more]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = set()
    for item in yaml.load_all(run.stdout, yaml.CSafeLoader):
        if item and item["kind"] in ("ClusterPolicy", "NVIDIADriver", "GPUCluster"):
            found |= {".".join(path) for path in _nulls(item["spec"])}
    return found


def _nulls(node, path=()):
    for key, value in node.items():
        if value is None:
            yield (*path, key)
        elif isinstance(value, dict):
            yield from _nulls(value, (*path, key))
