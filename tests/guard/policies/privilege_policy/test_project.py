"""A project with grants: which clusters get the policy, with which actions, and what is said of the others."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.input_tree import InputTree
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit
from poolsmith.guard.ledger.claims.claim_table import granted_claims
from poolsmith.guard.ledger.grants.grant import written_privileges
from poolsmith.guard.ledger.grants.matching import GrantBook
from poolsmith.guard.policies.enforcement import (
    DEFAULT_ENFORCEMENT,
    EnforcementAction,
    EnforcementSpec,
    load_enforcement,
)
from poolsmith.interface.app import generate
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

FILE = "platform/admission/privilege-grants.yaml"


@pytest.fixture
def project(sample_project):
    """The sample fleet; whatever its ledgers hold is granted."""
    opened = open_project(sample_project)
    lines = [line for files in opened.select(()) for line in plan_cluster(opened, files).prediction.ledger.lines]
    _write(sample_project, written_privileges(line.privilege for line in lines))
    return sample_project


def _write(root, privileges):
    folder = root / "policies/privileges"
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.yaml"):
        path.unlink()
    spec = {"clusters": ["*"], "pools": ["*"], "workload": "*", "privileges": list(privileges)}
    spec |= {"reason": "the sample needs it", "owner": "gpu-platform", "expires": "2027-06-30"}
    grant = {"apiVersion": "poolsmith/v1", "kind": "PrivilegeGrant", "metadata": {"name": "all"}, "spec": spec}
    (folder / "all.yaml").write_text(emit(grant))


def _enforcement(root, **spec):
    body = {"apiVersion": "poolsmith/v1", "kind": "PrivilegeEnforcement", "metadata": {"name": "all"}, "spec": spec}
    (root / "policies/enforcement.yaml").write_text(emit(body))


def _documents(root, cluster):
    return read_documents((root / "output/clusters" / cluster / FILE).read_text(), [])


@pytest.mark.sample
def test_clusters_from_1_30_get_it_and_the_others_are_named(project):
    result = generate(project)
    having = {path.parts[-4] for path in project.glob(f"output/clusters/*/{FILE}")}
    assert {"edge", "edge-talos", "lab-t4", "prod-eu", "prod-rke2", "claims", "sealed"} <= having
    assert not having & {"a40-precompiled", "kata-a10", "manual"}
    found = {(item.name, item.subject) for item in result.outcome.diagnostics}
    assert {("grants-not-enforced", "a40-precompiled"), ("grants-not-enforced", "kata-a10")} <= found
    assert ("namespace-not-held", "manual") in found
    listed = (project / "output/clusters/prod-eu/platform/kustomization.yaml").read_text()
    assert "admission/privilege-grants.yaml" in listed


def test_it_warns_and_audits_until_somebody_says_deny(project):
    generate(project)
    assert _documents(project, "prod-eu")[1]["spec"]["validationActions"] == ["Warn", "Audit"]
    _enforcement(project, clusters=["prod-*"], actions=["Audit", "Deny"])
    generate(project)
    assert _documents(project, "prod-eu")[1]["spec"]["validationActions"] == ["Deny", "Audit"]
    assert _documents(project, "edge")[1]["spec"]["validationActions"] == ["Warn", "Audit"]


def test_what_all_is_granted_is_what_the_predicted_pods_have(project, helpers):
    opened = open_project(project)
    (files,) = opened.select(("prod-eu",))
    table = granted_claims(plan_cluster(opened, files).prediction, opened.policies.book)
    assert table == helpers._cluster("prod-eu").table


def test_a_pod_is_refused_for_what_nobody_granted(project, helpers):
    opened = open_project(project)
    (files,) = opened.select(("prod-eu",))
    prediction = plan_cluster(opened, files).prediction
    judge = helpers.Judge(granted_claims(prediction, GrantBook(())))
    message = judge.message(helpers._cluster("prod-eu").pods["DaemonSet/nvidia-dcgm-exporter"])
    assert message.startswith(
        "container toolkit-validation of service account gpu-operator/nvidia-dcgm-exporter wants privileged, "
        "which no PrivilegeGrant gives it; container nvidia-dcgm-exporter of service account"
    )


@pytest.mark.rows(2, "a fleet of its own each")
@pytest.mark.parametrize("field", ["containers", "images", "pools", "clusters", "workload"])
def test_a_grant_for_others_is_none(project, helpers, field):
    path = project / "policies/privileges/all.yaml"
    (grant,) = read_documents(path.read_text(), [])
    grant["spec"][field] = "other" if field == "workload" else ["other"]
    path.write_text(emit(grant))
    opened = open_project(project)
    (files,) = opened.select(("prod-eu",))
    table = granted_claims(plan_cluster(opened, files).prediction, opened.policies.book)
    assert not any("privileged" in texts for texts in table.identities.values())
    of_pods = any("host-pid" in texts for texts in table.identities.values())
    assert of_pods == (field in ("containers", "images"))


@pytest.mark.sample
def test_a_newer_cluster_with_kata_says_what_is_not_known(project, monkeypatch):
    """A unit of somebody else's manifests; every script has its text in the catalog."""
    monkeypatch.setattr("poolsmith.fleet.operands.cc_runtime.brought_objects", lambda *_: None)
    path = project / "profiles/kata-a10/cluster.yaml"
    path.write_text(path.read_text().replace('"1.27.3"', '"1.31"'))
    result = generate(project)
    found = {item.name: item.message for item in result.outcome.diagnostics if item.subject == "kata-a10"}
    assert "script-not-known" not in found
    assert "not predicted: confidential-containers-system" in found["namespace-not-held"]
    assert "is not complete" in found["incomplete-privilege-policy"]
    assert _documents(project, "kata-a10")[1]["spec"]["validationActions"] == ["Warn", "Audit"]


def test_without_a_folder_for_grants_there_is_no_policy(sample_project):
    folder = sample_project / "policies/privileges"
    if folder.exists():
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    result = generate(sample_project)
    assert not list(sample_project.glob(f"output/clusters/*/{FILE}"))
    assert not any(item.name == "grants-not-enforced" for item in result.outcome.diagnostics)


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (["Deny", "Warn"], "Deny and Warn"),
        ([], "is empty"),
        (["Refuse"], "Refuse"),
        (["Deny", "Deny"], "Deny"),
    ],
)
def test_actions_that_the_api_server_does_not_take_are_refused(tmp_path, actions, said):
    (tmp_path / "policies").mkdir()
    _enforcement(tmp_path, actions=actions)
    spec, problems = load_enforcement(InputTree(tmp_path), "policies/enforcement.yaml")
    assert spec is None
    assert said in problems[0].message


def test_the_file_says_where_how_and_with_which_scripts(tmp_path):
    (tmp_path / "policies").mkdir()
    _enforcement(tmp_path, clusters=["lab-*"], actions=["Deny"], scripts=["#!/bin/sh\nexit 0\n"])
    spec, problems = load_enforcement(InputTree(tmp_path), "policies/enforcement.yaml")
    assert problems == ()
    assert spec == EnforcementSpec(
        clusters=("lab-*",), actions=(EnforcementAction.DENY,), scripts=("#!/bin/sh\nexit 0\n",)
    )
    assert spec.actions_for("lab-t4") == (EnforcementAction.DENY,)
    assert spec.actions_for("edge") == DEFAULT_ENFORCEMENT.actions_for("edge") == ("Warn", "Audit")


@pytest.mark.deep("every pod of every cluster without each grant")
def test_the_grants_of_this_repository_are_all_that_its_pods_need(repository, helpers):
    """And no more than the policies that let everything predicted pass."""
    opened = open_project(repository)
    for files in opened.select(()):
        prediction = plan_cluster(opened, files).prediction
        table = granted_claims(prediction, opened.policies.book)
        known = helpers._cluster(prediction.plan.name)
        blind = helpers.claim_table(prediction.installation.objects, lambda *_: True)
        assert table == blind
        if not table.unknown:
            judge = helpers.Judge(table)
            assert {judge.verdict(pod) for pod in known.pods.values()} == {"allow"}
