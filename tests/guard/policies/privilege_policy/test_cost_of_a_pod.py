"""A predicted pod that the API server could not judge is an error of the profiles, and no other pod is."""

from __future__ import annotations

import pytest

from poolsmith.guard.ledger.claims.claim_table import COST_LIMIT, ClaimTable, judging_cost
from poolsmith.guard.ledger.claims.pod_claims import claims_of
from poolsmith.guard.policies.privilege_policy.validating_policy import privilege_policy
from poolsmith.kubernetes.admission.pods import as_admitted_pod
from poolsmith.kubernetes.pods.pod import Pod
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project


def _variables(own, spec, number):
    own["env"] = [{"name": f"VARIABLE_{index}", "value": "v" * 40} for index in range(number)]


def _mounts(own, spec, number):
    spec["volumes"] = [{"name": f"v{index}", "hostPath": {"path": f"/etc/x{index}"}} for index in range(number)]
    own["volumeMounts"] = [{"name": f"v{index}", "mountPath": f"/mnt/{index}"} for index in range(number)]


def _containers(own, spec, number):
    context = {"privileged": True}
    spec["containers"] = [{**own, "name": f"c{index}", "securityContext": context} for index in range(number)]


GROWS = {"variables": _variables, "mounts": _mounts, "containers": _containers}


def workload(grow, number):
    own = {"name": "c", "image": "registry.example.com/a:1"}
    spec = {"serviceAccountName": "x", "containers": [own]}
    grow(own, spec, number)
    metadata = {"name": "x", "namespace": "gpu-operator"}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "spec": {"template": {"spec": spec}}}


COSTS = {
    "variables": {10: 2_009, 100: 16_409, 200: 51_409, 800: 681_409, 900: 856_409},
    "mounts": {10: 5_591, 100: 137_666, 200: 484_016, 280: 912_296},
    "containers": {10: 10_531, 100: 102_511, 280: 286_651, 800: 818_611, 900: 920_911},
}
"""What k8s.io/apiserver 0.34.1 counts for such a pod; from 300 mounts on it ends in an error."""


@pytest.mark.parametrize("what", GROWS)
def test_the_bound_is_a_little_above_what_the_api_server_counts(what):
    for number, counted in COSTS[what].items():
        template = workload(GROWS[what], number)["spec"]["template"]
        assert counted <= judging_cost(Pod.of(template), claims_of(template, "gpu-operator")) < counted * 1.2 + 2_000


@pytest.mark.parametrize(("what", "least"), [("variables", 850), ("mounts", 250), ("containers", 800)])
def test_what_is_told_could_not_be_judged(what, least, helpers):
    def is_told(number):
        return helpers.claim_table([workload(GROWS[what], number)], lambda *_: True).costly != ()

    first = next(number for number in range(100, 2000, 10) if is_told(number))
    item = workload(GROWS[what], first * 5 // 4)
    judge = helpers.Judge(helpers.claim_table([item], lambda *_: True))

    assert first > least
    assert judge.verdict(as_admitted_pod(item)) in ("error", "notEvaluated")


def test_predicted_pods_are_far_from_the_limit(cluster, helpers):
    templates = [item["spec"]["template"] for item in cluster.objects if item["kind"] == "DaemonSet"]
    costs = [judging_cost(Pod.of(item), helpers.claims_of(item, "gpu-operator")) for item in templates]
    assert max(costs) < COST_LIMIT / 10


def test_it_is_an_error_at_the_cluster(sample_project, monkeypatch):
    opened = open_project(sample_project)
    (files,) = opened.select(("prod-eu",))
    run = plan_cluster(opened, files)
    table = ClaimTable({}, (), (), ("a",), costly=("a/DaemonSet/large",))
    monkeypatch.setattr("poolsmith.guard.policies.privilege_policy.validating_policy.granted_claims", lambda *_: table)
    made = privilege_policy(run.prediction, opened.policies.book, run.loaded.file, ())
    (found,) = (item for item in made.diagnostics if item.code == "PSM647")
    assert found.severity == "error"
    assert "`a/DaemonSet/large`: more than 1,000,000 units" in found.message
