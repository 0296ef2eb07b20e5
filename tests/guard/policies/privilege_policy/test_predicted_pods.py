"""Each pod that is predicted passes, however it comes; what only looks like one does not."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.pointer import copied
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.guard.policies.privilege_policy.validating_policy import SHARED_NAMESPACES
from poolsmith.kubernetes.admission.pods import as_admitted_pod


@pytest.mark.rows(2, "clusters whose pools differ most")
def test_every_predicted_pod_passes(cluster):
    refused = {
        name: cluster.judge.message(pod) for name, pod in cluster.pods.items() if "deny" in verdict(cluster, pod)
    }
    assert refused == {}
    assert {verdict(cluster, pod) for pod in cluster.pods.values()} == {"allow"}


def verdict(cluster, pod):
    return cluster.judge.verdict(pod)


@pytest.mark.rows(3, "the same job with other images")
def test_smoke_tests_pass_in_the_operators_namespace(cluster, repository):
    held = set(cluster.table.namespaces) - SHARED_NAMESPACES
    if not held:
        assert cluster.table.namespaces, "all that it has are shared, and the policy holds none of them"
        return
    jobs = [
        item
        for path in sorted((repository / "output/clusters" / cluster.name / "smoke").glob("*.yaml"))
        for item in read_documents(path.read_text(), [])
    ]
    assert jobs
    for job in jobs:
        job["metadata"]["namespace"] = min(held)
        assert cluster.judge.message(as_admitted_pod(job)) == ""


@pytest.mark.rows(3, "each version and each annotation")
@pytest.mark.parametrize("version", ["1.30", "1.34"])
@pytest.mark.parametrize(
    ("annotations", "whole"),
    [
        ({"container.apparmor.security.beta.kubernetes.io/main": "localhost/x"}, {}),
        ({"container.apparmor.security.beta.kubernetes.io/main": "runtime/default"}, {"type": "Unconfined"}),
        ({}, {"type": "Localhost", "localhostProfile": "x"}),
    ],
)
def test_a_predicted_pod_passes_with_what_the_server_copies_of_app_armor(annotations, whole, version, helpers):
    own = {"name": "main", "image": "example.com/a", "securityContext": {"privileged": False}}
    spec = {"containers": [own], "hostPID": True, "securityContext": {"appArmorProfile": whole} if whole else {}}
    metadata = {"name": "p", "namespace": "gpu-operator", "annotations": annotations}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    granted = {"host-pid", "allow-escalation"}
    judge = helpers.Judge(helpers.claim_table([pod], lambda *asked: str(asked[3]) in granted))
    admitted = as_admitted_pod(pod, (), version)
    assert judge.message(admitted) == ""
    own = admitted["spec"]["containers"][0]["securityContext"]
    own["appArmorProfile"] = {"type": "Unconfined"}
    admitted["metadata"]["annotations"] = {}
    assert "wants apparmor:unconfined" in judge.message(admitted)


def test_other_namespaces_are_not_held(prod, driver):
    driver["metadata"]["namespace"] = "default"
    assert prod.judge.verdict(driver) == "skipped"


@pytest.mark.rows(6, "a row takes 0.093 s; each value of each column is seen first")
@pytest.mark.parametrize(
    "change",
    [
        lambda pod: pod["spec"].update(tolerations=[{"operator": "Exists"}]),
        lambda pod: pod["spec"].update(priority=1, nodeName="node-1", schedulerName="other"),
        lambda pod: pod["metadata"].setdefault("annotations", {}).update({"example.com/team": "x"}),
        lambda pod: pod["metadata"].setdefault("labels", {}).update({"x": "y"}),
        lambda pod: pod["spec"]["containers"][0].update(image="nvcr.io/nvidia/driver:another-tag"),
        lambda pod: pod["spec"]["containers"][0].update(image=f"nvcr.io/nvidia/driver@sha256:{'a' * 64}"),
        lambda pod: pod["spec"]["containers"][0].update(image=f"nvcr.io/nvidia/driver:1@sha256:{'a' * 64}"),
        lambda pod: pod["spec"]["containers"][0].update(resources={"limits": {"memory": "1Gi"}}),
        lambda pod: pod["spec"]["containers"][0].update(imagePullPolicy="Always"),
        lambda pod: pod["spec"].update(imagePullSecrets=[{"name": "registry"}]),
        lambda pod: pod["spec"]["initContainers"][0].update(volumeMounts=[]),
        lambda pod: pod["spec"]["containers"][0].update(env=[]),
    ],
)
def test_what_runs_no_other_code_passes(prod, driver, helpers, change):
    pod = copied(driver)
    change(pod)
    assert pod != driver
    mounted = {
        mount["name"]
        for field in helpers.pod_mutations.SORTS
        for own in pod["spec"][field]
        for mount in own["volumeMounts"]
    }
    pod["spec"]["volumes"] = [item for item in pod["spec"]["volumes"] if item["name"] in mounted]
    assert prod.judge.message(pod) == ""


def test_a_digest_known_only_in_the_cluster_may_be_anything(prod, driver):
    env = driver["spec"]["containers"][0]["env"]
    digest = next(item for item in env if item["name"] == "DRIVER_CONFIG_DIGEST")
    digest["value"] = "12345=67"
    assert prod.judge.message(driver) == ""


def test_a_token_at_its_usual_place_passes(prod):
    pod = copied(prod.pods["DaemonSet/nvidia-dcgm-exporter"])
    pod["spec"].pop("automountServiceAccountToken")
    fresh = as_admitted_pod(pod)
    assert any("projected" in volume for volume in fresh["spec"]["volumes"])
    assert prod.judge.message(fresh) == ""
