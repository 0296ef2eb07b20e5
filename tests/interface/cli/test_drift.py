"""poolsmith drift, as people and programs read it."""

from __future__ import annotations

import json

import pytest

from support.clusters import CLUSTER, POOL, profile

pytestmark = pytest.mark.sample


@pytest.fixture
def project(tmp_path):
    """A project with a cluster `prod`: fields of its spec over the defaults."""

    def write(**cluster):
        folder = tmp_path / "profiles/prod"
        folder.mkdir(parents=True)
        (folder / "cluster.yaml").write_text(profile("Cluster", "prod", {**CLUSTER, **cluster}))
        (folder / "a.yaml").write_text(profile("NodePool", "a", POOL))
        return tmp_path

    return write


def test_a_clean_fleet_is_a_line_for_each_cluster(run_cli, sample_project):
    result = run_cli(["drift", "--root", sample_project])
    heads = [line for line in result.out.splitlines() if not line.startswith(" ")]

    assert result.code == 0
    assert len(heads) == 13
    assert all(": in sync (" in line for line in heads)


def test_what_fails_is_told_with_its_line_and_only_by_the_diff_that_fails(run_cli, project):
    root = project(stack="{release: v26.3.3, values: {dcgm: {enabled: null}}}")
    result = run_cli(["drift", "--root", root])

    assert result.out.splitlines()[:3] == [
        "prod: 1 field will make it fail (v26.3.3, Kubernetes 1.33, Argo CD, server-side diff)",
        "  ClusterPolicy/cluster-policy /spec/dcgm/enabled: server-side apply refuses null here; it fails",
        "    from profiles/prod/cluster.yaml:6",
    ]
    legacy = run_cli(["drift", "--root", root, "--diff", "legacy"])
    assert legacy.out.startswith("prod: in sync (v26.3.3, Kubernetes 1.33, Argo CD, legacy diff)\n")


def test_programs_read_everything(run_cli, project):
    root = project(stack="{release: v25.10.0}")
    result = run_cli(["drift", "--root", root, "--format", "json", "--engine", "flux", "--diff", "legacy"])
    body = json.loads(result.out)
    (cluster,) = body["clusters"]

    assert body["version"] == 1
    assert (cluster["engine"], cluster["diff"]) == ("flux", "server-side")
    (cured,) = [item for item in cluster["drift"] if item["field"] == "/spec/cdi/default"]
    assert cured["cure"] == {"kind": "value", "text": "cdi.default: false"}
    assert (cured["stored"], cured["reportedBy"], cured["told"]) == (False, ["argocd/structured-merge"], False)
    assert cured["from"] == {"path": "profiles/prod/cluster.yaml", "pointer": "/spec/stack/release", "line": 6}


def test_profiles_with_errors_are_findings_and_flags_are_checked(run_cli, project):
    root = project(stack="{release: v1.2.3}")

    assert run_cli(["drift", "--root", root]).code == 1
    assert run_cli(["drift", "--root", root, "--cluster", "other"]).code == 2
    assert run_cli(["drift", "--root", root, "--diff", "other"]).code == 2
