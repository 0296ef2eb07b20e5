"""The chart kata-deploy, as the real Helm renders it: each set of values, sets at random, and each preset.

POOLSMITH_KATA_DEPLOY_CHARTS names a folder with the charts, `<version>/kata-deploy`; without it, nothing is proved here.
"""

from __future__ import annotations

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.operands.chart.chart_objects import stack_objects
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.importing.chart_import import entry_from_chart
from support.chart_objects import comparable, delta
from support.circles import DEEP
from support.kata_deploy import NAMESPACE, RELEASE, random_set, refused_sets, value_sets
from support.kata_deploy_helm import chart_alone, rendered

pytestmark = pytest.mark.tool("helm")
VERSIONS = chart_versions(RELEASE)
RANDOM = 200 if DEEP else 12


@pytest.fixture
def chart(checkouts, tmp_path):
    return lambda version: chart_alone(checkouts("POOLSMITH_KATA_DEPLOY_CHARTS"), version, tmp_path)


def ours(version, values):
    found = stack_objects(RELEASE, version, values, NAMESPACE)
    return None if found.errors else comparable((*found.objects, *found.hooks), NAMESPACE)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_set_of_values_is_what_helm_renders(version, chart):
    folder = chart(version)
    sets = {**value_sets(version), **{f"{number}": random_set(version, number) for number in range(RANDOM)}}
    for name, values in sets.items():
        assert delta(rendered("helm", folder, values), ours(version, values)) == [], name


@pytest.mark.parametrize("version", VERSIONS)
def test_what_we_refuse_is_what_helm_refuses(version, chart):
    folder = chart(version)

    assert [
        name for name, values in refused_sets(version).items() if rendered("helm", folder, values) is not None
    ] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_the_presets_of_the_chart_in_daemonset_mode(version, chart):
    folder = chart(version)
    for preset in sorted(folder.glob("try-*.values.yaml")):
        values = {**read_documents(preset.read_text("utf-8"))[0], "deploymentMode": "daemonset"}
        values = (
            values if version != "3.24.0" else {key: item for key, item in values.items() if key != "deploymentMode"}
        )
        assert delta(rendered("helm", folder, values), ours(version, values)) == [], preset.name


@pytest.mark.parametrize("version", VERSIONS)
def test_the_entry_is_made_from_the_chart_as_it_is(version, chart):
    folder = chart(version)
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    made = entry_from_chart(files, release=version)
    known = read_chart(RELEASE, version)

    assert {"defaults": known.defaults, "dead": list(known.dead)} == {key: made[key] for key in ("defaults", "dead")}
    discovery = {path: kind for path, kind in known.paths.items() if path == "node-feature-discovery.enabled"}
    assert {**made["paths"], **discovery} == known.paths
