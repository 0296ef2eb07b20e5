"""What the GPU operator's chart installs itself: the operator, its rights, and jobs around an installation."""

from __future__ import annotations

import json

import pytest

from poolsmith.fleet.operands.chart.operator_part import operator_chart_objects
from poolsmith.gpu.catalog.chart_workloads import chart_versions
from poolsmith.gpu.catalog.charts import read_chart
from poolsmith.gpu.catalog.projections import projected_releases
from poolsmith.kubernetes.helm.values_merge import merge_over_defaults
from support.recordings import recording

RELEASES = ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"]
"""One of each line; all releases are compared in test_value_sets.py."""
RENDERINGS = recording("chart_renderings")
CASES = [case for case in RENDERINGS if "error" not in RENDERINGS[case]["result"]]
"""Those in which the chart rendered something."""
CUSTOM = ("ClusterPolicy", "NVIDIADriver", "GPUCluster")


def render(release, values=None, **place):
    merged = merge_over_defaults(read_chart("gpu-operator", release).defaults, values or {})
    return operator_chart_objects(
        release, merged, place.get("namespace", "gpu-operator"), place.get("name", "gpu-operator")
    )


def one(objects, kind, name="gpu-operator"):
    found = [item for item in objects if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    assert len(found) == 1, f"{len(found)} {kind}s {name}"
    return found[0]


def pod(workload):
    return workload["spec"]["template"]["spec"]


def operator(rendered):
    return pod(one(rendered.objects, "Deployment"))


def verbs(role, group, resource):
    """All verbs that a role has for a resource, by any of its rules."""
    return {
        verb
        for rule in role["rules"]
        if group in rule["apiGroups"] and resource in rule["resources"]
        for verb in rule["verbs"]
    }


def hook_names(rendered, kind="Job"):
    return {item["metadata"]["name"] for item in rendered.hooks if item["kind"] == kind}


def since(release):
    """The releases from one on."""
    return RELEASES[RELEASES.index(release) :]


def test_every_supported_release_is_known():
    assert set(chart_versions("gpu-operator")) == set(projected_releases()) > set(RELEASES)


@pytest.mark.parametrize("case", CASES)
def test_the_chart_installs_what_was_recorded(case):
    recorded = RENDERINGS[case]
    result = recorded["result"]
    release = case.partition("/")[0]

    rendered = render(release, {**recorded["inputs"]["values"], "nfd": {"enabled": False}})

    ours = sorted((item["kind"], item["metadata"]["name"]) for item in (*rendered.objects, *rendered.hooks))
    theirs = sorted((item["kind"], item["name"]) for item in result["objects"] if item["kind"] not in CUSTOM)
    assert ours == theirs
    container = operator(rendered)["containers"][0]
    assert {key: container.get(key) for key in ("image", "args", "env")} == {
        key: result["operator"][key] for key in ("image", "args", "env")
    }
    scheduling = ("nodeSelector", "priorityClassName", "tolerations")
    assert {key: operator(rendered).get(key) for key in scheduling} == {
        key: result["operator"][key] for key in scheduling
    }


@pytest.mark.parametrize("release", RELEASES)
def test_defaults_leave_nothing_unknown_and_nothing_unfilled(release):
    rendered = render(release)

    assert rendered.unknown == ()
    assert "${" not in json.dumps([*rendered.objects, *rendered.hooks])
    assert "$when" not in json.dumps([*rendered.objects, *rendered.hooks])


@pytest.mark.parametrize("release", RELEASES)
def test_the_operator_runs_without_a_security_context_and_outside_of_host_namespaces(release):
    spec = operator(render(release))

    assert "securityContext" not in spec
    assert "securityContext" not in spec["containers"][0]
    assert not {"hostPID", "hostIPC", "hostNetwork"} & spec.keys()


@pytest.mark.parametrize("release", RELEASES)
def test_the_operator_reads_the_hosts_os_release_before_26_3(release):
    spec = operator(render(release))

    if release in since("v26.3.3"):
        assert "volumes" not in spec
        return
    assert spec["volumes"] == [{"name": "host-os-release", "hostPath": {"path": "/etc/os-release"}}]
    assert spec["containers"][0]["volumeMounts"] == [
        {"name": "host-os-release", "mountPath": "/host-etc/os-release", "readOnly": True}
    ]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("discovery", [True, False])
def test_before_25_3_the_account_of_node_feature_discovery_has_the_operators_rights(release, discovery):
    binding = one(render(release, {"nfd": {"enabled": discovery}}).objects, "ClusterRoleBinding")

    accounts = [subject["name"] for subject in binding["subjects"]]
    assert accounts == ["gpu-operator"] if release in since("v25.3.4") else ["gpu-operator", "node-feature-discovery"]


FULL = {"create", "get", "list", "watch", "update", "patch", "delete"}
READ = {"get", "list", "watch"}


@pytest.mark.parametrize(
    ("group", "resource", "expected"),
    [
        ("", "services", {"v24.6.1": FULL, "v24.9.2": set()}),
        ("coordination.k8s.io", "leases", {"v24.6.1": FULL, "v24.9.2": set(), "v26.7.0": {"get", "create", "update"}}),
        ("apps", "controllerrevisions", {"v24.6.1": READ, "v24.9.2": set()}),
        ("", "pods", {"v24.6.1": FULL, "v25.3.4": READ, "v26.7.0": READ | {"patch"}}),
        ("", "pods/eviction", {"v24.6.1": FULL, "v25.3.4": {"create"}}),
        ("", "events", {"v24.6.1": FULL, "v25.3.4": READ | {"create", "delete"}}),
        ("events.k8s.io", "events", {"v24.6.1": set(), "v26.7.0": {"create", "patch"}}),
        ("", "namespaces", {"v24.6.1": FULL - {"delete"}, "v25.3.4": READ | {"update", "patch"}}),
        ("nvidia.com", "gpuclusters", {"v24.6.1": set(), "v26.7.0": FULL | {"deletecollection"}}),
        ("resource.nvidia.com", "computedomains", {"v24.6.1": set(), "v26.7.0": READ | {"update", "patch"}}),
        ("resource.k8s.io", "deviceclasses", {"v24.6.1": set(), "v26.7.0": FULL - {"patch"}}),
        ("resource.k8s.io", "resourceclaims", {"v24.6.1": set(), "v26.7.0": READ}),
        (
            "admissionregistration.k8s.io",
            "validatingadmissionpolicies",
            {"v24.6.1": set(), "v26.7.0": FULL - {"patch"}},
        ),
        ("", "nodes", {"v24.6.1": READ | {"update", "patch"}}),
        ("rbac.authorization.k8s.io", "clusterroles", {"v24.6.1": FULL}),
        ("security.openshift.io", "securitycontextconstraints", {"v24.6.1": FULL | {"use"}}),
        ("node.k8s.io", "runtimeclasses", {"v24.6.1": FULL - {"patch"}}),
        ("scheduling.k8s.io", "priorityclasses", {"v24.6.1": READ | {"create"}}),
    ],
)
def test_the_operators_cluster_wide_rights_change_with_its_releases(group, resource, expected):
    """`expected` says what a right is from a release on."""
    current = set()
    for release in RELEASES:
        current = expected.get(release, current)

        assert verbs(one(render(release).objects, "ClusterRole"), group, resource) == current, release


@pytest.mark.parametrize(
    ("group", "resource", "expected"),
    [
        ("", "secrets", {"v24.6.1": FULL}),
        ("", "serviceaccounts", {"v24.6.1": FULL}),
        ("", "services", {"v24.6.1": set(), "v24.9.2": FULL}),
        ("", "pods", {"v24.6.1": set(), "v24.9.2": FULL}),
        ("", "endpoints", {"v24.6.1": set(), "v24.9.2": FULL}),
        ("apps", "daemonsets", {"v24.6.1": FULL}),
        ("apps", "deployments", {"v24.6.1": set(), "v26.7.0": FULL}),
        ("coordination.k8s.io", "leases", {"v24.6.1": set(), "v24.9.2": FULL}),
        ("nfd.k8s-sigs.io", "nodefeatures", {"v24.6.1": set(), "v25.10.1": READ | {"create", "update"}}),
    ],
)
def test_the_operators_rights_in_its_namespace_change_with_its_releases(group, resource, expected):
    current = set()
    for release in RELEASES:
        current = expected.get(release, current)

        assert verbs(one(render(release).objects, "Role"), group, resource) == current, release


@pytest.mark.parametrize("release", RELEASES)
def test_the_rights_name_no_wildcard(release):
    rendered = render(release)

    for item in (*rendered.objects, *rendered.hooks):
        for rule in item.get("rules", ()):
            assert "*" not in {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("cleanup", [True, False])
def test_the_operator_may_delete_definitions_only_where_it_cleans_them_up(release, cleanup):
    role = one(render(release, {"operator": {"cleanupCRD": cleanup}}).objects, "ClusterRole")

    assert ("delete" in verbs(role, "apiextensions.k8s.io", "customresourcedefinitions")) is cleanup


@pytest.mark.parametrize("release", RELEASES)
def test_definitions_are_upgraded_by_a_job_by_default_since_24_9(release):
    assert ("gpu-operator-upgrade-crd" in hook_names(render(release))) is (release != "v24.6.1")


@pytest.mark.parametrize("release", RELEASES)
def test_the_upgrade_job_has_an_account_of_its_own(release):
    on = render(release, {"operator": {"upgradeCRD": True}})
    off = render(release, {"operator": {"upgradeCRD": False}})

    job = one(on.hooks, "Job", "gpu-operator-upgrade-crd")
    role = one(on.hooks, "ClusterRole", "gpu-operator-upgrade-crd-hook-role")
    assert pod(job)["serviceAccountName"] == "gpu-operator-upgrade-crd-hook-sa"
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-upgrade"
    assert "delete" not in verbs(role, "apiextensions.k8s.io", "customresourcedefinitions")
    assert not [name for name in hook_names(off) if "upgrade-crd" in name]
    assert not [name for name in hook_names(off, "ClusterRole") if "upgrade-crd" in name]


@pytest.mark.parametrize("release", RELEASES)
def test_the_cleanup_job_is_asked_for_and_has_the_operators_account(release):
    assert "gpu-operator-cleanup-crd" not in hook_names(render(release))

    job = one(render(release, {"operator": {"cleanupCRD": True}}).hooks, "Job", "gpu-operator-cleanup-crd")

    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-delete"
    assert pod(job)["serviceAccountName"] == "gpu-operator"


@pytest.mark.parametrize("release", RELEASES)
def test_a_job_deletes_the_gpu_cluster_since_26_7_whatever_values_say(release):
    rendered = render(release, {"gpuCluster": {"deployCR": False}})

    assert ("gpu-operator-cleanup-gpucluster" in hook_names(rendered)) is (release == "v26.7.0")


@pytest.mark.parametrize(
    ("release", "program"), [("v24.9.2", "/bin/sh"), ("v25.10.1", "sh"), ("v26.3.3", "/usr/bin/manage-crds")]
)
def test_jobs_run_a_shell_before_26_3_and_a_program_after(release, program):
    rendered = render(release, {"operator": {"cleanupCRD": True}})

    for name in ("gpu-operator-upgrade-crd", "gpu-operator-cleanup-crd"):
        assert pod(one(rendered.hooks, "Job", name))["containers"][0]["command"][0] == program


@pytest.mark.parametrize("discovery", [True, False])
def test_jobs_care_for_the_definitions_of_node_feature_discovery_where_it_is_installed(discovery):
    rendered = render("v26.7.0", {"nfd": {"enabled": discovery}})

    arguments = pod(one(rendered.hooks, "Job", "gpu-operator-upgrade-crd"))["containers"][0]["args"]
    assert ("--filepath=/opt/gpu-operator/nfd-api-crds.yaml" in arguments) is discovery
    assert "--filepath=/opt/gpu-operator/nvidia.com_gpuclusters.yaml" in arguments


@pytest.mark.parametrize("release", RELEASES)
def test_scheduling_of_the_operator_is_that_of_its_values(release):
    tolerations = [{"key": "pool", "operator": "Exists"}]
    values = {
        "operator": {"tolerations": tolerations, "nodeSelector": {"role": "system"}, "priorityClassName": "high"},
    }
    rendered = render(release, {"operator": {**values["operator"], "upgradeCRD": True}})

    spec = operator(rendered)
    assert spec["tolerations"] == tolerations
    assert spec["nodeSelector"]["role"] == "system"
    assert spec["priorityClassName"] == "high"
    job = pod(one(rendered.hooks, "Job", "gpu-operator-upgrade-crd"))
    assert job.get("tolerations") == (tolerations if release in since("v24.9.2") else None)
    assert ("nodeSelector" in job) is (release in since("v26.7.0"))


@pytest.mark.parametrize("release", RELEASES)
def test_images_come_from_a_mirror_and_have_the_charts_version(release):
    mirror = "registry.example/nvidia"
    values = {
        "operator": {"repository": mirror, "imagePullSecrets": ["pull"], "upgradeCRD": True},
        "driver": {"manager": {"repository": mirror}},
        "validator": {"repository": mirror},
    }
    rendered = render(release, values)

    spec = operator(rendered)
    assert spec["containers"][0]["image"] == f"{mirror}/gpu-operator:{release}"
    assert spec["imagePullSecrets"] == [{"name": "pull"}]
    assert pod(one(rendered.hooks, "Job", "gpu-operator-upgrade-crd"))["imagePullSecrets"] == [{"name": "pull"}]
    images = {item["name"]: item.get("value", "") for item in spec["containers"][0]["env"] if "IMAGE" in item["name"]}
    assert all(image.startswith(f"{mirror}/") for image in images.values())
    assert ("VALIDATOR_IMAGE" in images) is (release == "v26.7.0")


def test_an_own_version_of_the_operator_wins():
    container = operator(render("v26.7.0", {"operator": {"version": "v26.7.1"}}))["containers"][0]

    assert container["image"] == "nvcr.io/nvidia/gpu-operator:v26.7.1"


def test_own_variables_of_the_operator_follow_its_own_since_26_7():
    values = {"operator": {"env": [{"name": "HTTPS_PROXY", "value": "http://proxy"}]}}

    def names(release):
        return [item["name"] for item in operator(render(release, values))["containers"][0]["env"]]

    assert names("v26.7.0")[-1] == "HTTPS_PROXY"
    assert "HTTPS_PROXY" not in names("v26.3.3")


@pytest.mark.parametrize(
    ("logging", "arguments"),
    [
        ({"develMode": True}, ["--zap-devel"]),
        ({"level": "debug"}, ["--zap-time-encoding=epoch", "--zap-log-level=debug"]),
        ({"timeEncoding": "", "level": ""}, []),
    ],
)
def test_the_operator_logs_as_its_values_say(logging, arguments):
    container = operator(render("v26.7.0", {"operator": {"logging": logging}}))["containers"][0]

    assert container["args"] == ["--leader-elect", *arguments]


def test_namespace_and_helm_release_are_those_of_the_installation():
    rendered = render("v26.7.0", namespace="gpus", name="cluster-a")

    namespaced = [item for item in (*rendered.objects, *rendered.hooks) if not item["kind"].startswith("ClusterRole")]
    assert {item["metadata"]["namespace"] for item in namespaced} == {"gpus"}
    deployment = one(rendered.objects, "Deployment")
    assert deployment["metadata"]["labels"]["app.kubernetes.io/instance"] == "cluster-a"
    subjects = one(rendered.objects, "ClusterRoleBinding")["subjects"]
    assert subjects == [{"kind": "ServiceAccount", "name": "gpu-operator", "namespace": "gpus"}]


@pytest.mark.parametrize(
    ("values", "unknown"),
    [
        (
            {"extraObjects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "{{ lookup }}"}}]},
            "extraObjects",
        ),
    ],
)
def test_what_is_not_modelled_is_named(values, unknown):
    assert [text for text in render("v26.7.0", values).unknown if unknown in text]


@pytest.mark.parametrize(
    "values",
    [
        {"operator": None},
        {"operator": "gpu-operator"},
        {"operator": {"imagePullSecrets": "pull"}},
        {"operator": {"annotations": "text"}},
        {"nameOverride": {"a": 1}},
        {"node-feature-discovery": {"master": "on"}},
        {"node-feature-discovery": {"fullnameOverride": ["a"]}},
    ],
)
def test_values_that_helm_could_not_render_are_said_to_be_so(values):
    rendered = render("v26.7.0", values)

    assert rendered.objects == ()
    assert [error for error in rendered.errors if "does not render" in error.message]


def test_another_release_is_unknown():
    rendered = operator_chart_objects("v1.0.0", {}, "gpu-operator")

    assert rendered.objects == ()
    assert rendered.unknown == ("workloads of the chart gpu-operator v1.0.0 are not known",)
