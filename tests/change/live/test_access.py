"""The roles that are printed are enough for the whole verification, and each right is needed."""

from __future__ import annotations

import pytest
import yaml

from change.live.conftest import ROOT
from poolsmith.change.verify.live_view import AROUND, EVERYWHERE
from poolsmith.kubernetes.live.api_resources import NODES, reading_around, reading_roles
from support.live_cluster import read, told


@pytest.fixture
def granted(prod):
    """Gives `nobody` what the roles give to a service account; gone afterwards."""
    made = []

    def give(resources, *, around=True):
        subject = ("poolsmith", "poolsmith-reader")
        roles = reading_roles(resources, prod.cluster.namespaces, subject)
        for item in (*roles, *(reading_around((*AROUND, *EVERYWHERE), subject) if around else ())):
            if "subjects" in item:
                item["subjects"] = [{"kind": "User", "name": "nobody", "apiGroup": "rbac.authorization.k8s.io"}]
            answer = prod.client.apply(item)
            assert answer.taken, answer.message
            made.append(item)

    yield give
    for item in reversed(made):
        metadata = item["metadata"]
        prod.client.delete(item["apiVersion"], item["kind"], metadata["name"], metadata.get("namespace"))


def test_with_these_roles_everything_is_read(prod, granted):
    granted(prod.cluster.required)
    snapshot = read(prod.scenario, prod.cluster, user="nobody")

    assert list(snapshot.unread) == []
    assert told(prod.cluster, snapshot) == []


def test_without_one_of_them_its_list_is_not_evaluated(prod, granted):
    granted([item for item in prod.cluster.required if item != NODES])
    strict_outcome, counted = told(prod.cluster, read(prod.scenario, prod.cluster, user="nobody"))

    assert strict_outcome.startswith(
        "PSM873 list of nodes of cluster `prod-eu` was not read: `list` of `nodes` is not allowed"
    )
    assert counted.startswith("not evaluated: list of nodes: `list` of `nodes` is not allowed")


def test_without_the_further_rights_their_questions_are_not_evaluated(prod, granted):
    granted(prod.cluster.required, around=False)
    found = told(prod.cluster, read(prod.scenario, prod.cluster, user="nobody"))

    assert len(found) == 3
    assert all(text.startswith("not evaluated: wh") and "live rbac --around" in text for text in found)


def test_the_verb_prints_them_with_lists_only(run_cli):
    result = run_cli(["live", "rbac", "prod-eu", "--root", ROOT, "--cron-job", "registry.example.com/fleet:1.0"])

    assert result.code == 0, result.err
    assert "kind: CronJob" in result.out
    verbs = [line for line in result.out.splitlines() if line.strip().startswith("verbs:")]
    after = [result.out.splitlines()[n + 1].strip() for n, line in enumerate(result.out.splitlines()) if line in verbs]
    assert set(after) == {"- list"}


def test_the_server_takes_what_the_verb_prints(prod, run_cli):
    result = run_cli(["live", "rbac", "prod-eu", "--root", ROOT, "--cron-job", "registry.example.com/fleet:1.0"])
    for item in yaml.safe_load_all(result.out):
        answer = prod.client.apply(item, dry_run=True)
        assert answer.taken or "namespaces" in answer.message, answer.message


def test_what_only_this_cluster_has_is_read_in_its_namespaces_too(run_cli, tmp_path):
    """On GKE a quota admits critical pods."""
    folder = tmp_path / "profiles/gke"
    folder.mkdir(parents=True)
    cluster = (ROOT / "profiles/lab-t4/cluster.yaml").read_text()
    (folder / "cluster.yaml").write_text(
        cluster.replace("lab-t4", "gke").replace("distribution: kubeadm", "distribution: gke")
    )
    pool = (ROOT / "profiles/lab-t4/t4.yaml").read_text()
    (folder / "t4.yaml").write_text(pool.replace("name: docker", "name: containerd"))
    result = run_cli(["live", "rbac", "--root", tmp_path])

    assert result.code == 0, result.err
    roles = {item["metadata"]["name"]: item for item in yaml.safe_load_all(result.out) if item["kind"] == "ClusterRole"}
    allowed = {name: {each for rule in role["rules"] for each in rule["resources"]} for name, role in roles.items()}
    assert "resourcequotas" in allowed["poolsmith-reader-of-namespaces"]
    assert "resourcequotas" not in allowed["poolsmith-reader"]
