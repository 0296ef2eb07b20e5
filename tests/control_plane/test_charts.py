"""What Helm itself renders of the operator's chart, with values as generated, is taken by a real API server."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from control_plane.delivered import MONITORING, Step, apply_twice, release_of
from poolsmith.gpu.catalog.chart_contents import REFUSED, nulls_of
from poolsmith.gpu.catalog.projections import projected_releases

pytestmark = pytest.mark.real("an API server, asked many times")

ROOT = Path(__file__).resolve().parents[2]
CLUSTERS = [path for path in sorted((ROOT / "output/clusters").iterdir()) if release_of(path)]
NAMESPACE = "gpu-operator"
NAMESPACE_STEP = Step("namespace", ({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},))


def rendered(charts: Path, release: str, values: Path | None = None) -> Step:
    """All objects of the chart, its hooks and definitions too, as Helm would send them."""
    command = ["helm", "template", "gpu-operator", str(charts / release / "gpu-operator"), "--namespace", NAMESPACE]
    command += ["--include-crds", "--kube-version", "1.34.1"]
    command += ["--values", str(values)] if values else []
    run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stderr
    found = [item for item in yaml.load_all(run.stdout, yaml.CSafeLoader) if item]
    first = ("CustomResourceDefinition", "ServiceAccount")
    return Step("chart", tuple(sorted(found, key=lambda item: item["kind"] not in first)), "helm")


@pytest.mark.tool("helm")
@pytest.mark.parametrize("folder", CLUSTERS, ids=lambda folder: folder.name)
def test_what_helm_renders_from_committed_values_is_applied_twice_strictly(control_plane, checkouts, folder):
    chart = rendered(checkouts("POOLSMITH_CHARTS"), release_of(folder), folder / "platform/values/gpu-operator.yaml")
    server = control_plane.scenario()
    try:
        found = apply_twice(server.client(), [MONITORING, NAMESPACE_STEP, chart])
    finally:
        server.end()

    assert (found.refused, found.changed) == ([], [])


@pytest.mark.tool("helm")
@pytest.mark.parametrize("release", projected_releases())
def test_the_defaults_of_a_chart_are_refused_only_where_the_catalog_says_so(control_plane, checkouts, release):
    chart = rendered(checkouts("POOLSMITH_CHARTS"), release)
    server = control_plane.scenario()
    try:
        found = apply_twice(server.client(), [MONITORING, NAMESPACE_STEP, chart])
    finally:
        server.end()

    known = [item.dotted for item in nulls_of(release) if item.effect == REFUSED]
    assert [text for text in found.refused if not any(path in text for path in known)] == []
    assert all(any(path in text for text in found.refused) for path in known)
