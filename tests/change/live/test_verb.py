"""poolsmith verify, from the command line."""

from __future__ import annotations

import json
import shutil
import sys

import pytest
import yaml

from change.live.conftest import ROOT
from poolsmith.kubernetes.live.snapshot import to_text
from support.live_cluster import read, recorded_snapshot, view


@pytest.fixture
def bundle(prod, tmp_path):
    path = tmp_path / "bundle.json"
    path.write_text(to_text(read(prod.scenario, prod.cluster)))
    return path


def test_a_clean_cluster_says_what_was_held_against_what(run_cli, bundle):
    result = run_cli(["verify", "prod-eu", "--root", ROOT, "--from", bundle])

    assert result.code == 0, result.out + result.err
    assert "held against what is committed: " in result.out
    assert "0 errors, 0 warnings, 0 notes" in result.out
    assert len(result.out.splitlines()) < 12


def test_a_finding_is_told_in_each_format(run_cli, bundle):
    bundle.write_text(bundle.read_text().replace('"kind": "NVIDIADriver",', '"kind": "NVIDIADriver", "x": 1,', 1))
    body = json.loads(bundle.read_text())
    for listed in body["lists"]:
        if listed["kind"] == "Deployment":
            listed["items"] = []
    bundle.write_text(json.dumps(body))
    for name in ("text", "json", "markdown", "html", "sarif", "junit", "github"):
        result = run_cli(["verify", "prod-eu", "--root", ROOT, "--from", bundle, "--format", name])

        assert result.code == 1, result.err
        assert "PSM850" in result.out


@pytest.fixture
def fleet(tmp_path):
    """The sample fleet with one cluster, and what the operator's own program has left of it."""
    root = tmp_path / "fleet"
    for name in ("profiles/_bases", "profiles/edge", "policies", "output/clusters/edge"):
        shutil.copytree(ROOT / name, root / name)
    saved = tmp_path / "edge.json"
    saved.write_text(to_text(recorded_snapshot(view(ROOT, "edge"))).replace("k8s-device-plugin:v", "edited:v"))
    return root, saved


def test_a_waiver_holds_for_one_object_of_a_cluster(run_cli, fleet):
    root, saved = fleet
    line = ["verify", "--root", root, "--from", saved, "--format", "json"]
    before = run_cli(line)
    subjects = {item["subject"] for item in before.diagnostics if item["code"] == "PSM851"}
    assert (before.code, "edge/gpu-operator/DaemonSet/nvidia-device-plugin-daemonset" in subjects) == (1, True)
    waivers = [
        {
            "rule": "differs-on-the-cluster",
            "subject": subject,
            "reason": "a build that is tried",
            "owner": "a",
            "expires": "2099-01-01",
        }
        for subject in sorted(subjects)
    ]
    body = {"apiVersion": "poolsmith/v1", "kind": "WaiverList", "metadata": {"name": "w"}, "spec": {"waivers": waivers}}
    (root / "policies/waivers.yaml").write_text(json.dumps(body))
    after = run_cli(line)

    assert after.code == 0, after.out
    assert {item["status"] for item in after.diagnostics if item["code"] == "PSM851"} == {"waived"}


def test_output_that_is_not_what_the_profiles_generate_is_a_finding(run_cli, fleet):
    root, saved = fleet
    saved.write_text(saved.read_text().replace("edited:v", "k8s-device-plugin:v"))
    assert run_cli(["verify", "--root", root, "--from", saved]).code == 0
    edited = root / "output/clusters/edge/README.md"
    edited.write_text(edited.read_text() + "edited")
    found = run_cli(["verify", "--root", root, "--from", saved, "--format", "json"])

    assert found.code == 1
    assert [(item["code"], item["primary"]["path"]) for item in found.diagnostics] == [
        ("PSM502", "output/clusters/edge/README.md")
    ]


def test_a_list_that_is_not_there_fails_strictly(run_cli, bundle):
    body = json.loads(bundle.read_text())
    nodes = next(item for item in body["lists"] if item["kind"] == "Node")
    nodes.update(state="forbidden", reason="`list` of `nodes` is not allowed", items=[])
    bundle.write_text(json.dumps(body))
    plain = run_cli(["verify", "prod-eu", "--root", ROOT, "--from", bundle])
    strict = run_cli(["verify", "prod-eu", "--root", ROOT, "--from", bundle, "--strict"])

    assert (plain.code, strict.code) == (1, 1)
    assert "1 not evaluated" in plain.out
    assert "`list` of `nodes` is not allowed" in plain.out


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"kind": "ClusterSnapshot", "version": 2}', "\x00", "null"])
def test_what_is_no_snapshot_is_refused(run_cli, tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    result = run_cli(["verify", "prod-eu", "--root", ROOT, "--from", path])

    assert result.code == 2
    assert "snapshot" in result.err


def test_in_ci_nothing_is_asked_by_default(run_cli, monkeypatch):
    monkeypatch.setenv("CI", "true")
    result = run_cli(["verify", "prod-eu", "--root", ROOT])

    assert result.code == 2
    assert "which cluster is meant" in result.err


def test_in_a_cluster_no_kubeconfig_counts(run_cli, monkeypatch, prod):
    monkeypatch.setenv("KUBECONFIG", str(prod.scenario.kubeconfig()))
    result = run_cli(["verify", "prod-eu", "--root", ROOT, "--in-cluster"])

    assert result.code == 2
    assert "there is no service account of a pod here" in result.err


def test_in_a_cluster_the_account_of_the_pod_counts(run_cli, monkeypatch, prod, tmp_path):
    """With the roles that are printed, and a token of the very account that they are for."""
    from kr8s._auth import KubeAuth

    made = [
        item
        for item in yaml.safe_load_all(run_cli(["live", "rbac", "prod-eu", "--root", ROOT, "--around"]).out)
        if item
    ]
    for item in made:
        assert prod.client.apply(item).taken
    token = prod.client.request(
        "POST", "/api/v1/namespaces/poolsmith/serviceaccounts/poolsmith-reader/token", {"spec": {}}
    ).body["status"]["token"]
    (tmp_path / "token").write_text(token)
    shutil.copy(prod.scenario.authority, tmp_path / "ca.crt")
    host, port = prod.client.url.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    load = KubeAuth._load_service_account

    async def here(auth):
        auth._serviceaccount = str(tmp_path)
        await load(auth)

    monkeypatch.setattr(KubeAuth, "_load_service_account", here)
    try:
        result = run_cli(["verify", "prod-eu", "--root", ROOT, "--in-cluster", "--format", "json"])
    finally:
        for item in reversed(made):
            metadata = item["metadata"]
            prod.client.delete(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace"))
        prod.client.request("PUT", "/api/v1/namespaces/poolsmith/finalize", {**made[0], "spec": {"finalizers": []}})

    summary = result.report["summary"]
    assert (summary["notEvaluated"], summary["errors"]) == (0, 0), result.out


def test_without_kr8s_one_line_says_how_to_get_it(run_cli, monkeypatch, tmp_path):
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text("{}")
    monkeypatch.setitem(sys.modules, "kr8s", None)
    monkeypatch.setitem(sys.modules, "kr8s.asyncio", None)
    result = run_cli(["verify", "prod-eu", "--root", ROOT, "--kubeconfig", kubeconfig])

    assert result.code == 2
    assert "requirements-live.lock" in result.err


@pytest.mark.parametrize("text", ["users: [{token: hunter2", "[]", "null", "\x00", "users: hunter2"])
def test_a_kubeconfig_that_is_none_is_one_line_without_its_text(run_cli, tmp_path, text):
    kubeconfig = tmp_path / "config"
    kubeconfig.write_text(text)
    result = run_cli(["verify", "edge", "--root", ROOT, "--kubeconfig", kubeconfig, "--timeout", "2"])

    assert result.code in (1, 2)
    assert len(result.err.splitlines()) == 1
    assert "hunter2" not in result.err


def test_of_several_clusters_one_has_to_be_named(run_cli, bundle):
    result = run_cli(["verify", "--root", ROOT, "--from", bundle])

    assert result.code == 2
    assert "which cluster is it" in result.err


def test_what_is_read_can_be_saved(run_cli, prod, tmp_path):
    saved = tmp_path / "saved.json"
    kubeconfig = prod.scenario.kubeconfig()
    asked = run_cli(["verify", "prod-eu", "--root", ROOT, "--kubeconfig", kubeconfig, "--save", saved])
    again = run_cli(["verify", "prod-eu", "--root", ROOT, "--from", saved])

    assert asked.out == again.out
    assert asked.code == 0
