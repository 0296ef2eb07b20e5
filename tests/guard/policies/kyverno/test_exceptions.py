"""Exceptions for Kyverno admit what is granted, and nothing else, by the JMESPath library and the chart's own rules."""

from __future__ import annotations

import copy
import datetime as dt
import fnmatch

import jmespath
import pytest

from poolsmith.core.sources.pod_template import account_of, containers_of, pod_template_of
from poolsmith.guard.ledger.grants.matching import GrantBook
from poolsmith.guard.policies.kyverno_exceptions import kyverno_exceptions
from poolsmith.interface.app.exported_grants import exported_grants
from poolsmith.project.run.cluster_run import plan_cluster
from poolsmith.project.run.project import open_project

TODAY = dt.date(2026, 11, 23)
CLUSTERS = ("prod-eu", "edge", "kata-a10", "lab-t4")


def violates(policy, pod):
    """Whether a pod breaks a policy of the chart kyverno-policies, as its patterns say."""
    containers = list(containers_of(pod))
    contexts = [item.get("securityContext") or {} for item in containers]
    return {
        "disallow-privileged-containers": any(item.get("privileged") for item in contexts),
        "disallow-host-path": any("hostPath" in item for item in pod.get("volumes", ())),
        "disallow-host-namespaces": any(pod.get(name) for name in ("hostPID", "hostIPC", "hostNetwork")),
        "disallow-host-ports": any(port.get("hostPort") for item in containers for port in item.get("ports", ())),
        "disallow-capabilities": any((item.get("capabilities") or {}).get("add") for item in contexts),
        "disallow-privilege-escalation": any(item.get("allowPrivilegeEscalation") is not False for item in contexts),
    }[policy]


def holds(exception, obj):
    """Whether an exception is for an object, as Kyverno reads it."""
    spec = exception["spec"]
    resources = spec["match"]["any"][0]["resources"]
    metadata = obj["metadata"]
    if obj["kind"] not in resources["kinds"] or metadata["namespace"] not in resources["namespaces"]:
        return False
    if not any(fnmatch.fnmatchcase(metadata["name"], name) for name in resources["names"]):
        return False
    conditions = spec["conditions"]["all"]
    assert all(item["operator"] == "Equals" and item["value"] == 0 for item in conditions)
    texts = [item["key"].removeprefix("{{ ").removesuffix(" }}") for item in conditions]
    assert not any("{" in text or "}" in text or "$" in text for text in texts), "Kyverno would read it as a variable"
    return all(jmespath.search(text, {"request": {"object": obj}}) == 0 for text in texts)


def excepted(documents, policy, obj):
    return any(
        item["spec"]["exceptions"][0]["policyName"] == policy and holds(item, obj)
        for item in documents
        if item["kind"] == "PolicyException"
    )


def pod_of(body):
    """A pod as the controller of a workload makes it."""
    template = copy.deepcopy(pod_template_of(body))
    metadata = {"name": body["metadata"]["name"].replace("*", "x1"), "namespace": body["metadata"]["namespace"]}
    if body["kind"] != "Pod":
        owner = {"kind": body["kind"], "name": metadata["name"], "controller": True}
        if body["kind"] == "Deployment":
            owner = {"kind": "ReplicaSet", "name": f"{metadata['name']}-5f6", "controller": True}
        metadata |= {"name": f"{metadata['name']}-abcde", "ownerReferences": [owner]}
    spec = template["spec"] | {"serviceAccountName": account_of(template)}
    token = {
        "name": "kube-api-access-q",
        "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        "readOnly": True,
    }
    spec["volumes"] = [*spec.get("volumes", ()), {"name": "kube-api-access-q", "projected": {}}]
    for container in containers_of(spec):
        container["volumeMounts"] = [*container.get("volumeMounts", ()), token]
    return {"kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.fixture(scope="module")
def project(repository):
    return open_project(repository)


@pytest.fixture(scope="module", params=CLUSTERS)
def prediction(project, request):
    return plan_cluster(project, project.select([request.param])[0]).prediction


def exported(prediction, book, today=TODAY):
    return kyverno_exceptions(prediction, book, today, "kyverno").documents


POLICIES = (
    "disallow-privileged-containers",
    "disallow-host-path",
    "disallow-host-namespaces",
    "disallow-host-ports",
    "disallow-capabilities",
    "disallow-privilege-escalation",
)


def broken(prediction):
    """Workloads with the policies that their pods break."""
    for made in prediction.installation.made:
        if pod_template_of(made.body) is not None:
            pod = pod_of(made.body)
            for policy in POLICIES:
                if violates(policy, pod["spec"]):
                    yield made.body, pod, policy


def test_all_that_is_granted_is_admitted_and_its_controllers_too(project, prediction):
    documents = exported(prediction, project.policies.book)
    found = list(broken(prediction))
    assert len(found) > 10
    for body, pod, policy in found:
        assert excepted(documents, policy, pod), f"{body['metadata']['name']}: {policy}"
        if body["kind"] != "Pod":
            assert excepted(documents, policy, body), f"{body['kind']} {body['metadata']['name']}: {policy}"


def test_without_grants_nothing_is_excepted(prediction):
    assert exported(prediction, GrantBook(())) == ()


def test_expired_grants_are_not_exported(project, prediction):
    last = max(grant.last_day or dt.date.min for grant in project.policies.book.grants)
    assert exported(prediction, project.policies.book, last + dt.timedelta(days=1)) == ()


@pytest.mark.rows(2, "a row takes 0.6 s; each value of each column is seen first")
def test_a_policy_is_lifted_for_nobody_whose_grants_lack_one_privilege(project, prediction):
    """Each grant is taken away in turn: what it gave to a container is refused."""
    book = project.policies.book
    for place, grant in enumerate(book.grants):
        if place not in book.of_cluster(prediction.plan.name) or place % 4:
            continue
        rest = GrantBook([item for item in book.grants if item is not grant])
        documents = exported(prediction, rest)
        needed = {line.workload for line in ungranted(prediction, rest) if line.privilege.name == "privileged"}
        for body, pod, policy in broken(prediction):
            if policy == "disallow-privileged-containers" and f"{body['kind']}/{body['metadata']['name']}" in needed:
                assert not excepted(documents, policy, pod), grant.name


def ungranted(prediction, book):
    given = book.of_cluster(prediction.plan.name)
    repositories = book.repositories(prediction.installation.made, {})
    for line in prediction.ledger.lines:
        if not book.allows(line, repositories.get((line.namespace, line.workload, line.container), ""), given):
            yield line


def more(pod):
    """The pod with one thing more that nobody granted, and the policy that is about it."""
    evil = {"name": "more", "image": "example.org/evil:1", "securityContext": {"allowPrivilegeEscalation": False}}

    def with_container(**fields):
        return pod["spec"] | {"containers": [*pod["spec"]["containers"], evil | fields]}

    yes = {"privileged": True, "allowPrivilegeEscalation": False}
    yield "disallow-privileged-containers", with_container(securityContext=yes)
    yield "disallow-privilege-escalation", with_container(securityContext={})
    yield "disallow-capabilities", with_container(securityContext={"capabilities": {"add": ["SYS_ADMIN"]}})
    yield "disallow-host-ports", with_container(ports=[{"hostPort": 31337}])
    for path in ("/etc", "/", "/*", "*"):
        volumes = [*pod["spec"]["volumes"], {"name": "more", "hostPath": {"path": path}}]
        yield "disallow-host-path", pod["spec"] | {"volumes": volumes}
    for volume in pod["spec"]["volumes"]:
        if "hostPath" in volume:
            yield "disallow-host-path", with_container(volumeMounts=[{"name": volume["name"], "mountPath": "/x"}])
            changed = [
                item | {"hostPath": {"path": "/root"}} if item is volume else item for item in pod["spec"]["volumes"]
            ]
            yield "disallow-host-path", pod["spec"] | {"volumes": changed}
    for field in ("hostPID", "hostIPC", "hostNetwork"):
        if not pod["spec"].get(field):
            yield "disallow-host-namespaces", pod["spec"] | {field: True}
    for policy in POLICIES:
        if violates(policy, pod["spec"]):
            yield policy, pod["spec"] | {"serviceAccountName": "other"}
            renamed = [item | {"image": "nvcr.io.example.org/evil:1"} for item in pod["spec"]["containers"]]
            if violates(policy, {"containers": renamed}):
                yield policy, pod["spec"] | {"containers": renamed}


def test_a_pod_that_holds_more_is_not_excepted(project, prediction):
    documents = exported(prediction, project.policies.book)
    tried = 0
    for made in prediction.installation.made:
        if pod_template_of(made.body) is None:
            continue
        pod = pod_of(made.body)
        for policy, spec in more(pod):
            assert not excepted(documents, policy, pod | {"spec": spec}), f"{made.key}: {policy}: {spec}"
            tried += 1
    assert tried > 100


def test_mounts_that_give_more_are_not_excepted(project, prediction):
    documents = exported(prediction, project.policies.book)
    for body, pod, policy in broken(prediction):
        if policy != "disallow-host-path":
            continue
        paths = {item["name"] for item in pod["spec"]["volumes"] if "hostPath" in item}
        for container in containers_of(pod["spec"]):
            for mount in container["volumeMounts"]:
                if mount["name"] in paths and mount.get("readOnly"):
                    mount["readOnly"] = False
                    assert not excepted(documents, policy, pod), f"{body['metadata']['name']}: {mount}"
                    mount["readOnly"] = True
                if mount["name"] in paths and mount.get("mountPropagation") != "Bidirectional":
                    kept = mount.pop("mountPropagation", None)
                    mount["mountPropagation"] = "Bidirectional"
                    assert not excepted(documents, policy, pod), f"{body['metadata']['name']}: {mount}"
                    mount["mountPropagation"] = kept or "None"
                    assert excepted(documents, policy, pod)


def test_pods_that_nobody_owns_and_other_namespaces_are_not_excepted(project, prediction):
    documents = exported(prediction, project.policies.book)
    for body, pod, policy in broken(prediction):
        assert not excepted(documents, policy, pod | {"metadata": pod["metadata"] | {"namespace": "default"}})
        if body["kind"] != "Pod":
            assert not excepted(documents, policy, pod | {"metadata": pod["metadata"] | {"ownerReferences": []}})


def test_names_differ_and_are_those_that_kubernetes_takes(project, prediction):
    names = [item["metadata"]["name"] for item in exported(prediction, project.policies.book)]
    assert len(names) == len(set(names))
    assert all(len(name) <= 253 and name.replace("-", "").isalnum() and name == name.lower() for name in names)


def test_an_exception_ends_the_day_after_the_first_of_its_grants(project, prediction):
    for item in exported(prediction, project.policies.book):
        used = item["metadata"]["annotations"]["poolsmith.dev/grants"].split(", ")
        days = [grant.last_day for grant in project.policies.book.grants if grant.name in used and grant.last_day]
        end = dt.date.fromisoformat(item["metadata"]["labels"]["cleanup.kyverno.io/ttl"])
        assert end == min(days) + dt.timedelta(days=1)


def test_the_command_prints_documents_for_one_cluster_only(repository, run_cli):
    result = run_cli(
        ["grants", "--export", "kyverno", "--cluster", "edge", "--today", "2026-11-23", "--root", repository]
    )
    assert result.code == 0
    assert result.out.startswith("apiVersion: kyverno.io/v2\nkind: PolicyException\n")
    assert "no exception for run-as-root" in result.err
    assert run_cli(["grants", "--export", "kyverno", "--root", repository]).code == 2
    assert run_cli(["grants", "--export", "kyverno", "--write", "--cluster", "edge", "--root", repository]).code == 2


def test_a_project_with_mistakes_has_no_exceptions(sample_project, run_cli):
    pool = sample_project / "profiles/edge/l4.yaml"
    pool.write_text(pool.read_text().replace("driver:", "diver:"))
    result = run_cli(["grants", "--export", "kyverno", "--cluster", "edge", "--root", sample_project])

    assert result.code == 1
    assert "PolicyException" not in result.out


def test_the_use_case_is_the_same(repository, project):
    result = exported_grants(repository, ["edge"], today=TODAY, namespace="kyverno")
    edge = plan_cluster(project, project.select(["edge"])[0]).prediction
    assert result.export is not None
    assert result.export.documents == exported(edge, project.policies.book)
