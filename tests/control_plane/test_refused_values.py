"""What is said of values is what a real API server says of the objects that the chart makes of them."""

from __future__ import annotations

import re

import pytest

from control_plane.delivered import MONITORING, definitions
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease, project
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.projections import projected_releases, read_projection
from poolsmith.guard.rules.schema.rendered_values import refused_values
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults
from support.circles import DEEP
from support.value_sets import for_release, served, value_set

pytestmark = pytest.mark.real("an API server, asked many times")

SETS = 60 if DEEP else 4
RELEASES = projected_releases() if DEEP else ("v25.3.4", "v26.7.0")
NAMESPACE = "gpu-operator"
NOT_ASKED = ("PodMonitor", "SecurityContextConstraints")
"""Kinds that this server has no definition of."""


def objects_of(release, values, helm):
    defaults = read_chart("gpu-operator", release).defaults
    projected = project(read_projection(release), defaults, values, helm)
    rendered = operator_chart_objects(release, merge_over_defaults(defaults, values), NAMESPACE)
    for item in (*projected.objects, *rendered.objects, *rendered.hooks):
        if item["kind"] not in NOT_ASKED:
            yield {**item, "metadata": {"namespace": NAMESPACE, **item["metadata"]}}


@pytest.mark.parametrize("release", RELEASES)
def test_a_set_of_values_is_refused_if_the_server_refuses_what_comes_of_it(control_plane, release):
    server = control_plane.scenario()
    client, wrong, refusals = server.client(), [], 0
    try:
        for item in (*definitions(release, "").objects, *MONITORING.objects):
            client.apply(item)
        client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
        for seed in range(SETS):
            helm = HelmRelease(api_versions=served(seed))
            values = for_release(value_set(seed), release, served(seed))
            ours = {
                re.search(r"into (\S+),", item.message)[1] for item in refused_values(release, values, values, helm)
            }
            theirs = {}
            for item in objects_of(release, values, helm):
                answer = client.apply(item, dry_run=True)
                if not answer.taken:
                    theirs[f"{item['kind']}/{item['metadata']['name']}"] = answer.message
            refusals += bool(theirs)
            wrong += [f"set {seed}: {name} is taken" for name in ours - set(theirs)]
            wrong += [f"set {seed}: {theirs}"] if theirs and not ours else []
    finally:
        server.end()

    assert wrong == []
    assert refusals > SETS // 4
