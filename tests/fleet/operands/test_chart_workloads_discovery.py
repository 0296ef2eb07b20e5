"""Node feature discovery, which the GPU operator's chart brings: who may do what, and what it sees of the hosts."""

from __future__ import annotations

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults

RELEASES = ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"]
VERSIONS = {
    "v24.6.1": "v0.16.3",
    "v24.9.2": "v0.16.6",
    "v25.3.4": "v0.17.3",
    "v25.10.1": "v0.18.2",
    "v26.3.3": "v0.18.3",
    "v26.7.0": "v0.19.0",
}
NAME = "gpu-operator-node-feature-discovery"
SHARED_ACCOUNT = "node-feature-discovery"


def render(release, values=None, nfd=None, name="gpu-operator"):
    own = {**(values or {}), "node-feature-discovery": nfd or {}}
    merged = merge_over_defaults(read_chart("gpu-operator", release).defaults, own)
    return operator_chart_objects(release, merged, "gpu-operator", name)


def one(objects, kind, name):
    found = [item for item in objects if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1, f"{len(found)} {kind}s {name}"
    return found[0]


def pod(workload):
    return workload["spec"]["template"]["spec"]


def worker(rendered):
    return pod(one(rendered.objects, "DaemonSet", f"{NAME}-worker"))


def workloads(rendered):
    named = [item for item in (*rendered.objects, *rendered.hooks) if item["metadata"]["name"].startswith(NAME)]
    return [item for item in named if item["kind"] in ("DaemonSet", "Deployment", "Job")]


def verbs(role, resource):
    return {verb for rule in role["rules"] if resource in rule["resources"] for verb in rule["verbs"]}


def is_since(release, first):
    return RELEASES.index(release) >= RELEASES.index(first)


@pytest.mark.parametrize("release", RELEASES)
def test_nothing_of_it_is_there_where_it_is_switched_off(release):
    rendered = render(release, {"nfd": {"enabled": False}})

    named = [item for item in (*rendered.objects, *rendered.hooks) if "feature-discovery" in item["metadata"]["name"]]
    assert named == []


@pytest.mark.parametrize("release", RELEASES)
def test_there_are_a_master_a_collector_and_a_worker_on_every_node(release):
    rendered = render(release)

    assert {(item["kind"], item["metadata"]["name"]) for item in workloads(rendered)} == {
        ("Deployment", f"{NAME}-master"),
        ("Deployment", f"{NAME}-gc"),
        ("DaemonSet", f"{NAME}-worker"),
        ("Job", f"{NAME}-prune"),
    }


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_has_its_version_of_the_image(release):
    images = {container["image"] for item in workloads(render(release)) for container in pod(item)["containers"]}

    assert images == {f"registry.k8s.io/nfd/node-feature-discovery:{VERSIONS[release]}"}


@pytest.mark.parametrize("release", RELEASES)
def test_the_image_comes_from_a_mirror(release):
    nfd = {"image": {"repository": "registry.example/nfd", "tag": "v9"}, "imagePullSecrets": [{"name": "pull"}]}

    for item in workloads(render(release, nfd=nfd)):
        assert pod(item)["containers"][0]["image"] == "registry.example/nfd:v9"
        if item["kind"] != "Job" or is_since(release, "v25.10.1"):
            assert pod(item)["imagePullSecrets"] == [{"name": "pull"}]


@pytest.mark.parametrize("release", RELEASES)
def test_no_container_has_a_privilege(release):
    for item in workloads(render(release)):
        spec = pod(item)
        assert not [key for key in ("hostPID", "hostIPC", "hostNetwork") if spec.get(key)]
        for container in spec["containers"]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
                "runAsNonRoot": True,
            }


@pytest.mark.parametrize("release", RELEASES)
def test_the_worker_reads_folders_of_the_host_and_writes_none(release):
    spec = worker(render(release))

    paths = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume}
    drop_ins = "/etc/kubernetes/node-feature-discovery"
    expected = {"/boot", "/etc/os-release", "/sys", "/usr/lib", "/lib", "/proc/swaps", f"{drop_ins}/features.d/"}
    if not is_since(release, "v25.3.4"):
        expected.add(f"{drop_ins}/source.d/")
    assert set(paths.values()) == expected
    assert all(mount["readOnly"] for mount in spec["containers"][0]["volumeMounts"])


@pytest.mark.parametrize("release", RELEASES)
def test_the_worker_sees_kernel_sources_where_values_ask_for_it(release):
    spec = worker(render(release, nfd={"worker": {"mountUsrSrc": True}}))

    assert {"name": "host-usr-src", "mountPath": "/host-usr/src", "readOnly": True} in spec["containers"][0][
        "volumeMounts"
    ]


@pytest.mark.parametrize("release", RELEASES)
def test_every_worker_may_patch_every_node_because_all_parts_share_an_account(release):
    rendered = render(release)

    assert {pod(item)["serviceAccountName"] for item in workloads(rendered) if item["kind"] != "Job"} == {
        SHARED_ACCOUNT
    }
    assert one(rendered.objects, "ServiceAccount", SHARED_ACCOUNT)
    binding = one(rendered.objects, "ClusterRoleBinding", NAME)
    assert [subject["name"] for subject in binding["subjects"]] == [SHARED_ACCOUNT]
    role = one(rendered.objects, "ClusterRole", NAME)
    assert verbs(role, "nodes") == {"get", "patch", "update", "list"}
    assert verbs(role, "nodes/status") == {"get", "patch", "update", "list"}


def test_an_account_of_its_own_takes_the_nodes_from_the_worker():
    rendered = render("v26.7.0", nfd={"worker": {"serviceAccount": {"create": True, "name": "nfd-worker"}}})

    assert worker(rendered)["serviceAccountName"] == "nfd-worker"
    bound = {
        (item["roleRef"]["kind"], item["roleRef"]["name"])
        for item in rendered.objects
        if item["kind"].endswith("Binding") and {"nfd-worker"} & {subject["name"] for subject in item["subjects"]}
    }
    assert bound == {("Role", f"{NAME}-worker")}


@pytest.mark.parametrize("release", RELEASES)
def test_the_master_watches_namespaces_since_25_3(release):
    role = one(render(release).objects, "ClusterRole", NAME)

    assert verbs(role, "namespaces") == ({"watch", "list"} if is_since(release, "v25.3.4") else set())


@pytest.mark.parametrize("release", RELEASES)
def test_the_collector_reaches_through_nodes_until_26_7(release):
    role = one(render(release).objects, "ClusterRole", f"{NAME}-gc")

    assert verbs(role, "nodes/proxy") == (set() if is_since(release, "v26.7.0") else {"get"})
    assert verbs(role, "nodes") == {"list", "watch"}


@pytest.mark.parametrize("release", RELEASES)
def test_the_worker_deletes_features_since_25_3(release):
    role = one(render(release).objects, "Role", f"{NAME}-worker")

    assert ("delete" in verbs(role, "nodefeatures")) is is_since(release, "v25.3.4")
    assert verbs(role, "pods") == {"get"}


@pytest.mark.parametrize(("owners", "reads"), [(["pod", "ds"], False), (["node"], True)])
def test_a_worker_that_lets_nodes_own_features_reads_nodes(owners, reads):
    rendered = render("v26.7.0", nfd={"worker": {"ownerRefs": owners}})

    roles = [item for item in rendered.objects if item["kind"] == "ClusterRole"]
    assert (f"{NAME}-worker" in {item["metadata"]["name"] for item in roles}) is reads


@pytest.mark.parametrize("release", RELEASES)
def test_a_job_cleans_nodes_up_after_removal_and_can_be_switched_off_since_25_10(release):
    by_default = render(release)
    job = one(by_default.hooks, "Job", f"{NAME}-prune")
    role = one(by_default.hooks, "ClusterRole", f"{NAME}-prune")

    assert job["metadata"]["annotations"]["helm.sh/hook"] == "post-delete"
    assert verbs(role, "nodes") == {"get", "patch", "update", "list"}
    switched_off = [item for item in render(release, nfd={"postDeleteCleanup": False}).hooks if "prune" in str(item)]
    assert bool(switched_off) is not is_since(release, "v25.10.1")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("part", ["master", "worker", "gc"])
def test_a_part_can_be_switched_off(release, part):
    names = {item["metadata"]["name"] for item in render(release, nfd={part: {"enable": False}}).objects}

    assert f"{NAME}-{part}" not in names


@pytest.mark.parametrize("release", RELEASES)
def test_a_part_without_roles_has_no_rights(release):
    off = {"rbac": {"create": False}}
    rendered = render(release, nfd={"master": off, "worker": off, "gc": off})

    assert not [item for item in rendered.objects if "Role" in item["kind"] and NAME in item["metadata"]["name"]]


@pytest.mark.parametrize("release", ["v25.3.4", "v26.7.0"])
def test_parts_join_the_hosts_network_where_values_say_so(release):
    rendered = render(release, nfd={"worker": {"hostNetwork": True}})

    assert worker(rendered)["hostNetwork"] is True


@pytest.mark.parametrize("release", RELEASES)
def test_scheduling_of_the_worker_is_that_of_its_values(release):
    tolerations = [{"operator": "Exists"}]
    spec = worker(render(release, nfd={"worker": {"tolerations": tolerations, "nodeSelector": {"gpu": "yes"}}}))

    assert spec["tolerations"] == tolerations
    assert spec["nodeSelector"] == {"gpu": "yes"}
    assert spec["priorityClassName"] == "system-node-critical"


@pytest.mark.parametrize("release", RELEASES)
def test_the_workers_configuration_is_in_a_config_map(release):
    data = one(render(release).objects, "ConfigMap", f"{NAME}-worker-conf")["data"]

    assert read_documents(data["nfd-worker.conf"])[0]["sources"]["pci"]["deviceLabelFields"] == ["vendor"]


def test_the_topology_updater_reaches_the_kubelet_and_writes_to_its_socket():
    rendered = render("v26.7.0", nfd={"topologyUpdater": {"enable": True}})

    spec = pod(one(rendered.objects, "DaemonSet", f"{NAME}-topology-updater"))
    mounts = {mount["name"]: mount.get("readOnly", False) for mount in spec["containers"][0]["volumeMounts"]}
    assert mounts == {
        "kubelet-podresources-sock": False,
        "host-sys": False,
        "kubelet-state-files": True,
        "nfd-topology-updater-conf": True,
    }
    assert spec["containers"][0]["securityContext"]["runAsUser"] == 0
    assert "nodes/configz" in str(one(rendered.objects, "ClusterRole", f"{NAME}-topology-updater"))


@pytest.mark.parametrize("release", RELEASES[:-1])
def test_an_older_topology_updater_reaches_through_nodes(release):
    rendered = render(release, nfd={"topologyUpdater": {"enable": True}})

    assert "nodes/proxy" in str(one(rendered.objects, "ClusterRole", f"{NAME}-topology-updater"))


@pytest.mark.parametrize("release", ["v24.6.1", "v24.9.2"])
def test_without_the_feature_api_there_is_no_collector_but_a_service(release):
    rendered = render(release, nfd={"enableNodeFeatureApi": False})

    assert f"{NAME}-gc" not in {item["metadata"]["name"] for item in rendered.objects}
    assert one(rendered.objects, "Service", f"{NAME}-master")


@pytest.mark.parametrize("release", ["v24.9.2", "v25.3.4"])
def test_variables_that_the_chart_writes_among_the_containers_are_refused(release):
    rendered = render(release, nfd={"master": {"extraEnvs": [{"name": "A", "image": "evil"}]}})

    assert "master.extraEnvs" in rendered.errors[0].message


@pytest.mark.parametrize("release", ["v25.10.1", "v26.3.3", "v26.7.0"])
def test_pull_secrets_of_all_charts_reach_it(release):
    rendered = render(release, {"global": {"imagePullSecrets": [{"name": "shared"}]}})

    assert worker(rendered)["imagePullSecrets"] == [{"name": "shared"}]


@pytest.mark.parametrize(
    ("nfd", "helm_release", "expected"),
    [
        ({}, "gpus", "gpus-node-feature-discovery-worker"),
        ({}, "my-node-feature-discovery", "my-node-feature-discovery-worker"),
        ({"fullnameOverride": "nfd"}, "gpus", "nfd-worker"),
        ({"nameOverride": "nfd"}, "gpus", "gpus-nfd-worker"),
    ],
)
def test_names_follow_the_helm_release_and_its_overrides(nfd, helm_release, expected):
    rendered = render("v26.7.0", nfd=nfd, name=helm_release)

    assert one(rendered.objects, "DaemonSet", expected)


def test_it_can_live_in_a_namespace_of_its_own():
    rendered = render("v26.7.0", nfd={"namespaceOverride": "discovery"})

    assert one(rendered.objects, "DaemonSet", f"{NAME}-worker")["metadata"]["namespace"] == "discovery"
    binding = one(rendered.objects, "ClusterRoleBinding", NAME)
    assert [subject["namespace"] for subject in binding["subjects"]] == ["discovery"]
