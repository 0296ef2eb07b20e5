"""The pod that a workload comes to, as validating admission gets it."""

from __future__ import annotations

import copy

import pytest

from poolsmith.kubernetes.admission.pods import SOME_NODE, as_admitted_pod, creator_of
from poolsmith.kubernetes.pods.well_known import TOKEN_PATH

TEMPLATE = {
    "metadata": {"labels": {"app": "a"}, "annotations": {"note": "x"}},
    "spec": {"containers": [{"name": "main", "image": "nginx", "ports": [{"containerPort": 80}]}]},
}


def workload(kind, **spec):
    paths = {"CronJob": {"jobTemplate": {"spec": {"template": TEMPLATE}}}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": copy.deepcopy(paths.get(kind, {"template": TEMPLATE})) | spec,
    }


def with_pod(kind="Deployment", **pod):
    made = workload(kind)
    made["spec"]["template"]["spec"] |= pod
    return made


def owner_of(pod):
    (owner,) = pod["metadata"]["ownerReferences"]
    return owner["apiVersion"], owner["kind"], owner["name"].partition("-")[0], owner["controller"]


@pytest.mark.parametrize(
    ("kind", "owner", "api"),
    [
        ("DaemonSet", "DaemonSet", "apps/v1"),
        ("Deployment", "ReplicaSet", "apps/v1"),
        ("ReplicaSet", "ReplicaSet", "apps/v1"),
        ("StatefulSet", "StatefulSet", "apps/v1"),
        ("Job", "Job", "batch/v1"),
        ("CronJob", "Job", "batch/v1"),
    ],
)
def test_a_controller_names_owns_and_labels_its_pods(kind, owner, api):
    pod = as_admitted_pod(workload(kind))

    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    assert owner_of(pod) == (api, owner, "web", True)
    assert pod["metadata"]["generateName"].startswith("web-")
    assert pod["metadata"]["namespace"] == "shop"
    assert pod["metadata"]["annotations"] == {"note": "x"}
    assert pod["metadata"]["labels"]["app"] == "a"


def test_labels_of_each_controller():
    def labels(kind, kubernetes="1.34"):
        return set(as_admitted_pod(workload(kind), kubernetes=kubernetes)["metadata"]["labels"]) - {"app"}

    assert labels("DaemonSet") == {"controller-revision-hash", "pod-template-generation"}
    assert labels("Deployment") == {"pod-template-hash"}
    assert labels("ReplicaSet") == set()
    assert "apps.kubernetes.io/pod-index" in labels("StatefulSet")
    assert "apps.kubernetes.io/pod-index" not in labels("StatefulSet", "1.27")
    assert {"job-name", "batch.kubernetes.io/job-name"} <= labels("Job")


def test_what_makes_no_pods_has_none():
    assert as_admitted_pod({"kind": "ConfigMap"}) is None
    assert as_admitted_pod({"kind": "PodTemplate", "template": TEMPLATE}) is None


def test_a_pod_is_itself_completed_and_the_given_one_stays():
    given = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "a-"}, **TEMPLATE}
    given["metadata"] = {"generateName": "a-"}
    before = copy.deepcopy(given)

    pod = as_admitted_pod(given)

    assert given == before
    assert pod["metadata"]["name"].startswith("a-")
    assert pod["spec"]["serviceAccountName"] == "default"


def test_a_daemon_is_tied_to_a_node_and_stays_on_it():
    pod = as_admitted_pod(with_pod("DaemonSet", tolerations=[{"operator": "Exists", "key": "gpu"}]))["spec"]

    (term,) = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term == {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [SOME_NODE]}]}
    keys = [item["key"].removeprefix("node.kubernetes.io/") for item in pod["tolerations"]]
    assert keys == [
        "gpu",
        "not-ready",
        "unreachable",
        "disk-pressure",
        "memory-pressure",
        "pid-pressure",
        "unschedulable",
    ]
    assert all("tolerationSeconds" not in item for item in pod["tolerations"])


def test_a_daemon_in_the_host_network_tolerates_that_there_is_none_yet():
    pod = as_admitted_pod(with_pod("DaemonSet", hostNetwork=True))["spec"]

    assert pod["tolerations"][-1]["key"] == "node.kubernetes.io/network-unavailable"
    assert pod["containers"][0]["ports"] == [{"containerPort": 80, "protocol": "TCP", "hostPort": 80}]


def test_other_pods_leave_a_lost_node_after_five_minutes():
    pod = as_admitted_pod(workload("Deployment"))["spec"]

    assert [(item["key"], item["tolerationSeconds"]) for item in pod["tolerations"]] == [
        ("node.kubernetes.io/not-ready", 300),
        ("node.kubernetes.io/unreachable", 300),
    ]
    assert as_admitted_pod(with_pod(tolerations=[{"operator": "Exists"}]))["spec"]["tolerations"] == [
        {"operator": "Exists"}
    ]


def test_the_token_is_mounted_into_every_container_that_starts_with_the_pod():
    pod = as_admitted_pod(with_pod(initContainers=[{"name": "init", "image": "a"}]))["spec"]

    (volume,) = pod["volumes"]
    assert volume["name"].startswith("kube-api-access-")
    assert [next(iter(source)) for source in volume["projected"]["sources"]] == [
        "serviceAccountToken",
        "configMap",
        "downwardAPI",
    ]
    for container in (*pod["containers"], *pod["initContainers"]):
        assert container["volumeMounts"] == [{"name": volume["name"], "readOnly": True, "mountPath": TOKEN_PATH}]


@pytest.mark.parametrize("where", ["pod", "account"])
def test_no_token_where_that_is_turned_off(where):
    account = {"kind": "ServiceAccount", "metadata": {"name": "default", "namespace": "shop"}}
    pod = {"automountServiceAccountToken": False} if where == "pod" else {}
    if where == "account":
        account["automountServiceAccountToken"] = False

    assert "volumes" not in as_admitted_pod(with_pod(**pod), service_accounts=[account])["spec"]


def test_the_pod_overrules_its_account_on_the_token():
    account = {
        "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": "shop"},
        "automountServiceAccountToken": False,
        "imagePullSecrets": [{"name": "ngc"}],
    }

    pod = as_admitted_pod(with_pod(automountServiceAccountToken=True), service_accounts=[account])["spec"]

    assert pod["volumes"]
    assert pod["imagePullSecrets"] == [{"name": "ngc"}]


def test_both_names_of_the_service_account_are_there():
    old, new = (
        as_admitted_pod(with_pod(**{field: "gpu"}))["spec"] for field in ("serviceAccount", "serviceAccountName")
    )

    assert [old[name] for name in ("serviceAccount", "serviceAccountName")] == ["gpu", "gpu"]
    assert old == new


def test_a_runtime_class_brings_overhead_and_scheduling():
    kata = {
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"memory": "120Mi"}},
        "scheduling": {"nodeSelector": {"kata": "true"}, "tolerations": [{"key": "kata", "operator": "Exists"}]},
    }

    pod = as_admitted_pod(with_pod(runtimeClassName="kata", nodeSelector={"gpu": "true"}), [kata])["spec"]

    assert pod["overhead"] == {"memory": "120Mi"}
    assert pod["nodeSelector"] == {"gpu": "true", "kata": "true"}
    assert {"key": "kata", "operator": "Exists"} in pod["tolerations"]


def test_defaults_of_the_api_server():
    pod = as_admitted_pod(
        with_pod(
            containers=[
                {
                    "name": "main",
                    "image": "registry:5000/a@sha256:" + "0" * 64,
                    "resources": {"limits": {"cpu": "1"}},
                    "livenessProbe": {"httpGet": {"port": 80}},
                    "env": [{"name": "N", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                }
            ],
            volumes=[
                {"name": "a"},
                {"name": "b", "secret": {"secretName": "x"}},
                {"name": "c", "hostPath": {"path": "/x"}},
            ],
        )
    )["spec"]

    (container,) = pod["containers"]
    assert (pod["restartPolicy"], pod["dnsPolicy"], pod["schedulerName"]) == (
        "Always",
        "ClusterFirst",
        "default-scheduler",
    )
    assert (pod["priority"], pod["preemptionPolicy"], pod["enableServiceLinks"]) == (0, "PreemptLowerPriority", True)
    assert pod["securityContext"] == {}
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["terminationMessagePolicy"] == "File"
    assert container["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}
    assert container["livenessProbe"]["httpGet"] == {"port": 80, "path": "/", "scheme": "HTTP"}
    assert container["livenessProbe"]["periodSeconds"] == 10
    assert container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] == "v1"
    assert [next(key for key in item if key != "name") for item in pod["volumes"]][:3] == [
        "emptyDir",
        "secret",
        "hostPath",
    ]
    assert pod["volumes"][1]["secret"]["defaultMode"] == 0o644


@pytest.mark.parametrize(
    ("image", "policy"), [("a", "Always"), ("a:latest", "Always"), ("a:1", "IfNotPresent"), ("r:5000/a", "Always")]
)
def test_images_without_a_fixed_tag_are_always_pulled(image, policy):
    pod = as_admitted_pod(with_pod(containers=[{"name": "a", "image": image}]))["spec"]

    assert pod["containers"][0]["imagePullPolicy"] == policy


def test_critical_classes_have_their_priority_and_unknown_ones_none():
    assert as_admitted_pod(with_pod(priorityClassName="system-node-critical"))["spec"]["priority"] == 2_000_001_000
    assert "priority" not in as_admitted_pod(with_pod(priorityClassName="mine"))["spec"]


APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
DEFAULT = {"type": "RuntimeDefault"}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("1.29", {"old": "runtime/default"}),
        ("1.30", {"new": "localhost/x"}),
        ("1.33", {"new": "localhost/x"}),
        ("1.34", {}),
    ],
)
def test_profiles_of_app_armor_are_copied_to_fields_since_1_30_and_to_annotations_until_1_33(version, expected):
    local = {"type": "Localhost", "localhostProfile": "x"}
    containers = [{"name": "old"}, {"name": "new", "securityContext": {"appArmorProfile": local}}, {"name": "bare"}]
    metadata = {"name": "p", "annotations": {f"{APP_ARMOR}old": "runtime/default", f"{APP_ARMOR}bare": ""}}
    pod = as_admitted_pod({"kind": "Pod", "metadata": metadata, "spec": {"containers": containers}}, (), version)
    copied = DEFAULT if version != "1.29" else None
    assert [own.get("securityContext", {}).get("appArmorProfile") for own in pod["spec"]["containers"]] == [
        copied,
        local,
        None,
    ]
    annotations = {f"{APP_ARMOR}{name}": text for name, text in expected.items()}
    assert pod["metadata"]["annotations"] == metadata["annotations"] | annotations


@pytest.mark.parametrize("where", [{"securityContext": {"appArmorProfile": DEFAULT}}, {"os": {"name": "windows"}}])
def test_an_annotation_that_the_pod_says_itself_is_not_copied_and_none_on_windows(where):
    metadata = {"name": "p", "annotations": {f"{APP_ARMOR}c": "runtime/default"}}
    pod = as_admitted_pod({"kind": "Pod", "metadata": metadata, "spec": {"containers": [{"name": "c"}], **where}})
    assert "securityContext" not in pod["spec"]["containers"][0]


def test_who_creates_pods():
    assert creator_of(workload("DaemonSet")) == "system:serviceaccount:kube-system:daemon-set-controller"
    assert creator_of({"kind": "Pod"}) is None


@pytest.mark.parametrize("wrong", [None, 3, "text", [], {}, [None], [3], {"a": None}])
@pytest.mark.parametrize(
    "field", ["containers", "volumes", "tolerations", "affinity", "initContainers", "nodeSelector", "hostNetwork"]
)
def test_fields_of_the_wrong_type_raise_nothing(field, wrong):
    for kind in ("DaemonSet", "Deployment", "StatefulSet"):
        assert as_admitted_pod(with_pod(kind, **{field: wrong}))["kind"] == "Pod"
