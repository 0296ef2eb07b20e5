"""The users' policies on what a cluster's profiles come to: findings at the lines of profiles, and what was seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.guard.ledger.privilege_check import privilege_view
from poolsmith.guard.policies import admission_check
from poolsmith.guard.policies.admission_check import AdmissionReviews, saw_nothing, sight_facts
from poolsmith.guard.policies.policy_files import AdmissionFile
from poolsmith.kubernetes.cel import engine_problem
from poolsmith.project.run.cluster_run import run_cluster
from poolsmith.project.run.project import open_project

pytestmark = pytest.mark.skipif(engine_problem() is not None, reason="there is no CEL engine")
PODS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
DAEMONS = PODS | {"apiGroups": ["apps"], "resources": ["daemonsets"]}
RENDERED = PODS | {"apiGroups": ["argoproj.io"], "apiVersions": ["v1alpha1"], "resources": ["applications"]}


def admission_file(expression, *, rules=(PODS,), actions=("Deny",), name="p", bound=True, version="v1", **spec):
    objects = [
        {
            "apiVersion": f"admissionregistration.k8s.io/{version}",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": name},
            "spec": {
                "matchConstraints": {"resourceRules": list(rules)},
                "validations": [{"expression": expression, "message": "not like this"}],
                **spec,
            },
        },
        {
            "apiVersion": f"admissionregistration.k8s.io/{version}",
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": "b" if name == "p" else f"b-{name}"},
            "spec": {"policyName": name, "validationActions": list(actions)},
        },
    ]
    text = "---\n".join(json.dumps(item, indent=1) + "\n" for item in objects[: 1 + bound])
    return AdmissionFile(f"policies/admission/{name}.yaml", text, tuple(read_documents(text)))


@pytest.fixture
def clusters(synthetic_fleet):
    """Runs of the clusters of a project, with the view of their privileges."""

    def run(count=1, *, edit=lambda text: text):
        root = synthetic_fleet(count, 2)
        for path in root.glob("profiles/*/cluster.yaml"):
            path.write_text(edit(path.read_text()))
        project = open_project(root)
        runs = [run_cluster(project, files) for files in project.select(())]
        return [(item.prediction, item.tree, privilege_view(item.prediction, item.loaded)) for item in runs]

    return run


@pytest.fixture
def judge(clusters):
    def run(*files):
        ((prediction, tree, view),) = clusters()
        return AdmissionReviews(files).judge(prediction, tree, view)

    return run


def codes(found):
    return sorted({item.code for item in found.diagnostics})


NOT_THE_DRIVER = "!object.metadata.name.startsWith('nvidia-gpu-driver-')"


@pytest.mark.parametrize(
    ("action", "code", "word"),
    [("Deny", "PSM901", "denied"), ("Warn", "PSM902", "warned of"), ("Audit", "PSM903", "audited")],
)
def test_a_refused_pod_is_a_finding_at_the_line_that_brings_its_workload(judge, action, code, word):
    found = judge(admission_file(NOT_THE_DRIVER, actions=[action]))

    assert codes(found) == [code]
    first = found.diagnostics[0]
    assert first.primary.span.path.startswith("profiles/c000/pool-")
    assert f" is {word} by policy p (binding b): not like this" in first.message
    assert first.message.startswith("the pod of DaemonSet/nvidia-gpu-driver-")
    (policy,) = first.related
    assert (policy.span.path, policy.pointer) == ("policies/admission/p.yaml", "/spec/validations/0/expression")
    assert first.subject.startswith("c000/gpu-operator/DaemonSet/nvidia-gpu-driver-")
    assert first.subject.endswith(" p")


def test_deny_and_audit_together_are_one_error(judge):
    assert codes(judge(admission_file(NOT_THE_DRIVER, actions=["Audit", "Deny"]))) == ["PSM901"]


def test_a_rule_for_daemon_sets_sees_the_workload_and_not_its_pod(judge):
    found = judge(admission_file("false", rules=[DAEMONS]))

    assert all(item.message.startswith("DaemonSet/") for item in found.diagnostics)
    assert found.sights["p"].predicted_pods == 0
    assert found.sights["p"].predicted_objects == len(found.diagnostics)


def test_a_rendered_object_stands_at_its_clusters_profile(judge):
    found = judge(admission_file("false", rules=[RENDERED]))

    first = found.diagnostics[0]
    assert first.primary.span.path == "profiles/c000/cluster.yaml"
    assert first.related[1].span.path.startswith("output/clusters/c000/delivery/")
    assert found.sights["p"].rendered_objects > 0


def test_pods_are_seen_as_they_are_admitted(judge):
    expression = (
        "object.spec.serviceAccountName != '' && (has(object.spec.automountServiceAccountToken) "
        "|| object.spec.volumes.exists(v, has(v.projected))) "
        "&& object.metadata.ownerReferences[0].kind in ['DaemonSet', 'ReplicaSet', 'Job', 'ClusterPolicy'] "
        "&& object.spec.restartPolicy != '' && request.namespace == object.metadata.namespace"
    )

    found = judge(admission_file(f"!has(object.metadata.ownerReferences) || ({expression})"))

    assert [item.message for item in found.diagnostics] == []
    assert found.sights["p"].predicted_pods > 10


def test_a_predicted_pod_is_sent_by_its_controller_and_a_rendered_object_by_nobody_known(judge):
    mine = "request.userInfo.username.startsWith('system:serviceaccount:kube-system:')"
    pods = judge(admission_file(f"!has(object.metadata.ownerReferences) || {mine}", rules=[PODS]))
    applied = judge(admission_file(mine, rules=[RENDERED]))

    assert "PSM901" not in codes(pods)
    assert (codes(applied), applied.not_evaluated > 0) == (["PSM904"], True)
    assert "who sends the request is not known" in applied.diagnostics[0].message


def test_labels_of_namespaces_that_the_files_make_are_known(judge):
    selector = {"matchLabels": {"pod-security.kubernetes.io/enforce": "privileged"}}
    spec = {"matchConstraints": {"resourceRules": [PODS], "namespaceSelector": selector}}

    found = judge(admission_file("namespaceObject.metadata.name == 'gpu-operator'", **spec))

    assert (found.diagnostics, found.not_evaluated) == ((), 0)
    assert found.sights["p"].predicted_pods > 10


def test_the_authorizer_is_not_evaluated_and_counted(judge):
    found = judge(admission_file("authorizer.group('').resource('pods').check('get').allowed()"))

    assert codes(found) == ["PSM904"]
    assert found.not_evaluated == found.sights["p"].predicted_pods


@pytest.mark.parametrize("expression", ["object.spec", "nobody == 1"])
def test_a_policy_that_the_api_server_would_refuse_judges_nothing(judge, expression):
    found = judge(admission_file(expression))

    assert codes(found) == ["PSM611", "PSM904"]
    assert found.not_evaluated == 1
    assert found.skipped[0].reason == "the API server would refuse it"
    assert "p" not in found.sights


def test_a_policy_without_a_binding_judges_nothing(judge):
    found = judge(admission_file("false", bound=False))

    assert codes(found) == ["PSM613"]
    assert found.sights["p"].predicted_pods == 0


def test_a_binding_without_its_policy(judge):
    file = admission_file("true")
    text = file.text.replace('"policyName": "p"', '"policyName": "q"')

    assert "PSM614" in codes(judge(AdmissionFile(file.path, text, tuple(read_documents(text)))))


def test_parameters_that_are_missing_and_objects_that_nobody_reads(judge):
    stray = '{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}'
    with_params = admission_file("params == null", paramKind={"apiVersion": "v1", "kind": "ConfigMap"})

    found = judge(with_params, AdmissionFile("policies/admission/s.yaml", stray, tuple(read_documents(stray))))

    assert codes(found) == ["PSM615", "PSM617"]


def test_clusters_that_are_too_old_for_policies_are_judged_as_the_first_that_has_them(clusters):
    ((prediction, tree, view),) = clusters(edit=lambda text: text.replace('"1.34"', '"1.27.3"'))

    found = AdmissionReviews([admission_file("sets.contains(['a'], ['a'])")])
    refused = AdmissionReviews([admission_file("false")])

    assert codes(found.judge(prediction, tree, view)) == []
    assert set(codes(refused.judge(prediction, tree, view))) == {"PSM901"}


def test_what_a_later_kubernetes_has_is_told_of_the_older_cluster(clusters):
    ((prediction, tree, view),) = clusters(edit=lambda text: text.replace('"1.34"', '"1.31"'))

    found = AdmissionReviews([admission_file("isSemver(object.metadata.name) || true")]).judge(prediction, tree, view)

    assert codes(found) == ["PSM612", "PSM904"]


def test_clusters_that_are_alike_share_the_verdicts(clusters, monkeypatch):
    asked = []
    real = admission_check.PolicyJob

    def counting(policies, requests, *rest, **options):
        asked.append(len(requests))
        return real(policies, requests, *rest, **options)

    monkeypatch.setattr(admission_check, "PolicyJob", counting)
    reviews = AdmissionReviews([admission_file(NOT_THE_DRIVER, rules=[PODS, DAEMONS])])

    results = [reviews.judge(*cluster) for cluster in clusters(4)]

    assert asked[0] > 20
    assert sum(asked[1:]) < asked[0] / 2
    assert len({len(item.diagnostics) for item in results}) == 1
    assert {item.subject.partition("/")[0] for item in results[3].diagnostics} == {"c003"}


def test_what_each_policy_saw_is_said_and_what_saw_nothing_noted(judge):
    files = [admission_file("true"), admission_file("true", name="blind", rules=[PODS | {"resources": ["secrets"]}])]
    sights = [judge(*files).sights]

    facts = sight_facts(sights * 2)
    (note,) = saw_nothing(files, sights)

    assert facts[0] == "policy blind saw nothing"
    assert facts[1].startswith("policy p saw ")
    assert (note.code, note.primary.span.path) == ("PSM619", "policies/admission/blind.yaml")


def test_reading_what_the_api_server_fills_in_is_noted(judge):
    file = admission_file("object.spec.updateStrategy.type != 'x' || true", rules=[DAEMONS])

    (note,) = saw_nothing([file], [judge(file).sights])

    assert note.code == "PSM618"


def test_findings_of_check_come_in_the_same_order_every_time(run_cli, synthetic_fleet):
    root = synthetic_fleet(2, 2)
    folder = Path(root) / "policies/admission"
    folder.mkdir(parents=True)
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(admission_file(NOT_THE_DRIVER, name=name, actions=["Warn"]).text)
    run_cli(["generate", "--root", root])

    first, second = (run_cli(["check", "--root", root, "--format", "json", "--jobs", "1"]) for _ in range(2))

    assert first.out == second.out
    assert {"PSM902", "PSM630"} >= {item["code"] for item in first.diagnostics if item["code"][:4] in ("PSM9", "PSM6")}
    assert sum(item["code"] == "PSM902" for item in first.diagnostics) == 8


def test_what_is_forgotten_between_the_question_and_the_verdict_is_not_missed(clusters, monkeypatch):
    monkeypatch.setattr(admission_check, "_REMEMBERED_CLUSTERS", 1)
    monkeypatch.setattr(admission_check, "_REMEMBERED_OBJECTS", 1)
    names = iter(("one", "two"))
    one, two = clusters(2, edit=lambda text: text.replace("  stack:\n", f"  stack:\n    namespace: {next(names)}\n"))
    assert one[0].shared.given.key != two[0].shared.given.key
    file = admission_file("false", rules=(PODS, RENDERED))
    alone = AdmissionReviews([file]).judge(*one)
    reviews = AdmissionReviews([file])
    reviews.judge(*one)
    first = reviews.ask(*one[:2])
    reviews.judge(*two)

    found = first.findings(one[2])

    assert alone.requests > 1
    assert (found.requests, found.diagnostics) == (alone.requests, alone.diagnostics)
