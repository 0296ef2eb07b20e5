"""Every values file of the sample fleet is rendered, and the API server takes all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.operands.chart.chart_projection import HelmRelease
from poolsmith.gpu.catalog.projections import read_crds
from poolsmith.interface.app.template import template
from poolsmith.kubernetes.server.storing import stored

REPOSITORY = Path(__file__).resolve().parents[3]
FILES = sorted((REPOSITORY / "output/clusters").glob("*/**/values/gpu-operator.yaml"))


SERVED = HelmRelease(api_versions=("resource.k8s.io/v1/DeviceClass",))
"""What a cluster of this decade serves, and the chart asks for before it makes a GPUCluster."""


def release_of(path):
    cluster = path.relative_to(REPOSITORY / "output/clusters").parts[0]
    (profile,) = read_documents((REPOSITORY / "profiles" / cluster / "cluster.yaml").read_text("utf-8"))
    return profile["spec"]["stack"]["release"]


def test_there_are_values_to_look_at():
    assert len(FILES) > 1


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(REPOSITORY / "output/clusters").parts[0])
def test_a_generated_values_file_is_rendered_and_taken_whole(path):
    release = release_of(path)
    result = template(release, [path], helm=SERVED)
    assert not result.failed
    assert len({"ClusterPolicy", "GPUCluster"} & {item["kind"] for item in result.objects}) == 1
    for item in result.objects:
        answer = stored(item, read_crds(release)[item["kind"]].checks)

        assert (answer.refused, answer.pruned) == ((), ())
