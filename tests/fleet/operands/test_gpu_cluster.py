"""What the operator creates for a GPUCluster beyond the cases that its own tests render, and what it reports."""

from __future__ import annotations

import copy

import pytest

from poolsmith.fleet.operands.custom_resources import ClusterPolicySpec
from poolsmith.fleet.operands.expansion_context import Context
from poolsmith.fleet.operands.gpu_cluster.gpu_cluster_expansion import expand_gpu_cluster, policy_conflict
from poolsmith.gpu.catalog.operands import read_operands

RELEASE = "v26.7.0"
SERVED = ("resource.k8s.io/v1/DeviceClass",)
DRIVER = {"repository": "registry.example.com", "image": "dra-driver", "version": "v1"}
PLUGIN = "DaemonSet/nvidia-dra-driver-kubelet-plugin"
CONTROLLER = "Deployment/nvidia-dra-driver-controller"
VALIDATOR = "DaemonSet/nvidia-dra-validator"
READY = [
    {
        "type": "Ready",
        "status": "True",
        "reason": "Reconciled",
        "message": "All resources have been successfully reconciled",
    },
    {"type": "Error", "status": "False", "reason": "Ready", "message": ""},
]


def resource(spec, name="gpu-cluster", **metadata):
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "GPUCluster",
        "metadata": {"name": name, **metadata},
        "spec": spec,
    }


def expanded(spec, drivers=(), *, release=RELEASE, policy=None, api_versions=SERVED, environment=None, **context):
    given = Context(entry=read_operands(release), policy=policy, nodes=(), runtime="containerd", **context)
    return expand_gpu_cluster(
        given, resource(spec), drivers, api_versions=api_versions, operator_environment=environment
    )


def dra(driver=None, **spec):
    return {"draDriver": {**DRIVER, **(driver or {})}, **spec}


def objects(spec, **options):
    """By kind and name; nothing may be unknown."""
    expansion = expanded(spec, **options)
    assert expansion.unknown == ()
    return {f"{item['kind']}/{item['metadata']['name']}": item for item in expansion.objects}


def pod(item):
    return item["spec"]["template"]["spec"]


def container(item, name):
    return next(c for c in (*pod(item).get("initContainers", ()), *pod(item)["containers"]) if c["name"] == name)


def env(item, name):
    """By name; the last one wins, as in a container."""
    return {variable["name"]: variable.get("value") for variable in container(item, name)["env"]}


def message(expansion):
    (status,) = expansion.conditions
    return next(condition["message"] for condition in status.conditions if condition["type"] == "Error")


# -- objects


def test_the_driver_and_its_validator_run_for_the_smallest_resource():
    found = objects(dra())
    kinds = {}
    for key in found:
        kind, name = key.split("/")
        kinds.setdefault(kind, []).append(name)

    assert kinds == {
        "ClusterRole": ["nvidia-dra-driver-kubeletplugin"],
        "ClusterRoleBinding": ["nvidia-dra-driver-kubeletplugin"],
        "DaemonSet": ["nvidia-dra-driver-kubelet-plugin", "nvidia-dra-validator"],
        "DeviceClass": ["gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com"],
        "ResourceClaimTemplate": ["nvidia-dra-validator-gpu"],
        "Role": ["nvidia-dra-driver-kubeletplugin-driver-validation"],
        "RoleBinding": ["nvidia-dra-driver-kubeletplugin-driver-validation"],
        "ServiceAccount": ["nvidia-dra-driver-kubeletplugin", "nvidia-dra-validator"],
        "ValidatingAdmissionPolicy": ["resourceslices-policy-nvidia-dra-driver"],
        "ValidatingAdmissionPolicyBinding": ["resourceslices-policy-nvidia-dra-driver"],
    }


@pytest.mark.parametrize(
    ("block", "runs"),
    [({}, True), ({"enabled": True}, True), ({"enabled": False}, False), (None, False)],
)
def test_compute_domains_bring_a_controller_and_a_second_container(block, runs):
    driver = {} if block is None else {"computeDomains": block}
    found = objects(dra(driver))

    assert (CONTROLLER in found) is runs
    assert ("ServiceAccount/compute-domain-daemon-service-account" in found) is runs
    assert ("DeviceClass/compute-domain-daemon.nvidia.com" in found) is runs
    assert [c["name"] for c in pod(found[PLUGIN])["containers"]] == ["gpus", *(["compute-domains"] if runs else [])]


@pytest.mark.parametrize("gate", [True, False])
def test_the_gate_of_mps_lets_the_plugin_make_deployments(gate):
    found = objects(dra({"featureGates": {"MPSSupport": gate}}))

    assert ("Role/nvidia-dra-driver-kubeletplugin-mps" in found) is gate
    assert ("RoleBinding/nvidia-dra-driver-kubeletplugin-mps" in found) is gate


def test_the_gate_of_passthrough_shows_the_plugin_more_of_the_node():
    def paths(spec):
        return {volume["hostPath"]["path"] for volume in pod(objects(spec)[PLUGIN])["volumes"]}

    assert paths(dra({"featureGates": {"PassthroughSupport": True}})) - paths(dra()) == {
        "/lib/modules/",
        "/proc/",
        "/sys/",
    }


def test_gates_are_given_sorted_to_every_container_of_the_driver():
    gates = {"PassthroughSupport": False, "AdminAccess": True, "MPSSupport": False}
    found = objects(dra({"computeDomains": {}, "featureGates": gates}))
    given = "AdminAccess=true,MPSSupport=false,PassthroughSupport=false"

    assert env(found[PLUGIN], "gpus")["FEATURE_GATES"] == given
    assert env(found[PLUGIN], "compute-domains")["FEATURE_GATES"] == given
    assert env(found[CONTROLLER], "compute-domain")["FEATURE_GATES"] == given
    assert "FEATURE_GATES" not in env(found[PLUGIN], "driver-validation")


def test_without_gates_nothing_is_said_of_them():
    assert "FEATURE_GATES" not in env(objects(dra({"featureGates": {}}))[PLUGIN], "gpus")


def test_all_belong_to_the_resource_and_carry_their_state():
    given = Context(entry=read_operands(RELEASE), policy=None, nodes=(), runtime="")
    found = expand_gpu_cluster(given, resource(dra(), uid="1"), (), api_versions=SERVED).objects
    owner = {"apiVersion": "nvidia.com/v1alpha1", "kind": "GPUCluster", "name": "gpu-cluster", "uid": "1"}

    assert all(
        item["metadata"]["ownerReferences"] == [{**owner, "controller": True, "blockOwnerDeletion": True}]
        for item in found
    )
    assert {item["metadata"]["labels"]["nvidia.com/gpu-operator.state"] for item in found} == {
        "state-dra-driver",
        "state-dra-validation",
    }


def test_objects_stand_in_the_operators_namespace():
    found = objects(dra({"computeDomains": {}}), namespace="elsewhere")
    policy = found["ValidatingAdmissionPolicy/resourceslices-policy-nvidia-dra-driver"]

    assert found[PLUGIN]["metadata"]["namespace"] == "elsewhere"
    assert found["ClusterRoleBinding/nvidia-dra-driver-controller"]["subjects"][0]["namespace"] == "elsewhere"
    assert "system:serviceaccount:elsewhere:" in policy["spec"]["matchConditions"][0]["expression"]
    assert env(found[CONTROLLER], "compute-domain")["LEADER_ELECTION_LEASE_LOCK_NAMESPACE"] == "elsewhere"
    assert "namespace" not in found["DeviceClass/gpu.nvidia.com"]["metadata"]


def test_the_namespace_may_hold_claims_with_admin_access():
    assert expanded(dra()).namespace_labels == {"resource.kubernetes.io/admin-access": "true"}


def test_an_expansion_shares_nothing_with_another():
    first = expanded(dra())
    before = copy.deepcopy(first)
    for item in expanded(dra()).objects:
        item["metadata"].clear()
        item.get("spec", {}).clear()

    assert expanded(dra()) == before


# -- the settings of the driver


def test_images_of_the_driver_and_of_the_operator():
    found = objects(dra({"imagePullPolicy": "Always", "computeDomains": {}}))

    assert container(found[PLUGIN], "gpus")["image"] == "registry.example.com/dra-driver:v1"
    assert container(found[PLUGIN], "driver-validation")["image"] == "nvcr.io/nvidia/gpu-operator:v26.7.0"
    assert container(found[VALIDATOR], "gpu-validation")["image"] == "nvcr.io/nvidia/gpu-operator:v26.7.0"
    assert env(found[PLUGIN], "gpus")["IMAGE_NAME"] == "registry.example.com/dra-driver:v1"
    assert env(found[CONTROLLER], "compute-domain")["IMAGE_NAME"] == "registry.example.com/dra-driver:v1"
    assert {
        c["imagePullPolicy"]
        for key in (PLUGIN, CONTROLLER, VALIDATOR)
        for c in (*pod(found[key]).get("initContainers", ()), *pod(found[key])["containers"])
    } == {"Always"}


def test_the_operators_environment_names_images_that_the_resource_does_not():
    environment = {"VALIDATOR_IMAGE": "mirror/operator:1", "DRA_DRIVER_IMAGE": "mirror/dra:1"}
    found = objects({"draDriver": {}}, environment=environment)

    assert container(found[PLUGIN], "gpus")["image"] == "mirror/dra:1"
    assert container(found[VALIDATOR], "nvidia-dra-validator")["image"] == "mirror/operator:1"


def test_pull_secrets_reach_every_pod_and_the_daemons_that_the_controller_makes():
    found = objects(dra({"imagePullSecrets": ["a", "b"], "computeDomains": {}}))
    names = [variable["name"] for variable in container(found[CONTROLLER], "compute-domain")["env"]]

    assert all(
        pod(found[key])["imagePullSecrets"] == [{"name": "a"}, {"name": "b"}] for key in (PLUGIN, CONTROLLER, VALIDATOR)
    )
    assert env(found[CONTROLLER], "compute-domain")["CD_DAEMON_IMAGE_PULL_SECRET_NAMES"] == "a,b"
    assert names.index("CD_DAEMON_IMAGE_PULL_SECRET_NAMES") == names.index("IMAGE_NAME") + 1


@pytest.mark.parametrize(("name", "block"), [("gpus", "gpus"), ("compute-domains", "computeDomains")])
def test_the_port_of_health_checks_is_each_containers_own(name, block):
    plugin = {"kubeletPlugin": {"healthcheck": {"port": 52345}}}
    found = container(objects(dra({"computeDomains": {}, block: plugin}))[PLUGIN], name)

    assert {"name": "HEALTHCHECK_PORT", "value": "52345"} in found["env"]
    assert found["startupProbe"]["grpc"]["port"] == found["livenessProbe"]["grpc"]["port"] == 52345


@pytest.mark.parametrize(("name", "block"), [("gpus", "gpus"), ("compute-domains", "computeDomains")])
def test_health_checks_that_are_off_leave_no_probe(name, block):
    plugin = {"kubeletPlugin": {"healthcheck": {"enabled": False, "port": 52345}}}
    found = objects(dra({"computeDomains": {}, block: plugin}))[PLUGIN]

    assert env(found, name)["HEALTHCHECK_PORT"] == "-1"
    assert not {"startupProbe", "livenessProbe"} & set(container(found, name))


def test_further_variables_stand_behind_the_operators_even_if_the_name_is_taken():
    plugin = {"kubeletPlugin": {"env": [{"name": "LOG_VERBOSITY", "value": "6"}, {"name": "EMPTY"}]}}
    found = container(objects(dra({"gpus": plugin}))[PLUGIN], "gpus")

    assert found["env"][-2:] == [{"name": "LOG_VERBOSITY", "value": "6"}, {"name": "EMPTY", "value": ""}]
    assert [v["value"] for v in found["env"] if v["name"] == "LOG_VERBOSITY"] == ["4", "6"]


def test_the_init_container_may_use_what_the_largest_plugin_uses():
    def asks(cpu, memory):
        return {"kubeletPlugin": {"resources": {"requests": {"cpu": cpu}, "limits": {"memory": memory}}}}

    found = objects(dra({"gpus": asks("250m", "1Gi"), "computeDomains": asks("0.5", "512Mi")}))[PLUGIN]

    assert container(found, "driver-validation")["resources"] == {
        "requests": {"cpu": "500m"},
        "limits": {"memory": "1Gi"},
    }


def test_a_limit_of_the_init_container_is_no_less_than_its_request():
    first = {"kubeletPlugin": {"resources": {"limits": {"cpu": "100m"}}}}
    second = {"kubeletPlugin": {"resources": {"requests": {"cpu": "1"}}}}
    found = objects(dra({"gpus": first, "computeDomains": second}))[PLUGIN]

    assert container(found, "driver-validation")["resources"] == {"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("1000m", "1"),
        ("0.1", "100m"),
        (2, "2"),
        ("1024Mi", "1Gi"),
        ("1536Mi", "1536Mi"),
        ("0.5Gi", "512Mi"),
        ("1000Ki", "1000Ki"),
        ("2000M", "2G"),
        ("1e3", "1e3"),
        ("0", "0"),
        ("0.5Ki", "512"),
        ("12345678n", "12345678n"),
    ],
)
def test_quantities_are_written_in_their_canonical_form(written, shown):
    plugin = {"kubeletPlugin": {"resources": {"limits": {"x": written}}}}

    assert container(objects(dra({"gpus": plugin}))[PLUGIN], "gpus")["resources"] == {"limits": {"x": shown}}


def test_a_text_that_is_no_quantity_is_not_guessed():
    plugin = {"kubeletPlugin": {"resources": {"limits": {"cpu": "much"}}}}

    assert expanded(dra({"gpus": plugin})).unknown == (
        "GPUCluster/gpu-cluster: state-dra-driver: a quantity that cannot be read: much",
    )


def test_the_controller_has_resources_of_its_own():
    controller = {"resources": {"limits": {"memory": "128Mi"}}, "env": [{"name": "A", "value": "b"}]}
    found = container(objects(dra({"computeDomains": {"controller": controller}}))[CONTROLLER], "compute-domain")

    assert found["resources"] == {"limits": {"memory": "128Mi"}}
    assert found["env"][-1] == {"name": "A", "value": "b"}


# -- paths on the node


def test_another_folder_of_the_kubelet_moves_mounts_and_variables():
    found = objects(dra({"computeDomains": {}}, hostPaths={"kubeletRootDir": "/data/kubelet"}))[PLUGIN]
    mounts = {mount["name"]: mount["mountPath"] for mount in container(found, "compute-domains")["volumeMounts"]}
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod(found)["volumes"]}

    assert env(found, "gpus")["KUBELET_REGISTRAR_DIRECTORY_PATH"] == "/data/kubelet/plugins_registry"
    assert env(found, "gpus")["KUBELET_PLUGINS_DIRECTORY_PATH"] == "/data/kubelet/plugins"
    assert mounts["plugins"] == paths["plugins"] == "/data/kubelet/plugins"
    assert mounts["plugins-registry"] == paths["plugins-registry"] == "/data/kubelet/plugins_registry"


def test_another_folder_of_the_driver_is_mounted_at_the_same_place():
    found = objects(dra(hostPaths={"driverInstallDir": "/opt/driver"}))[PLUGIN]
    mounts = {mount["name"]: mount["mountPath"] for mount in container(found, "gpus")["volumeMounts"]}
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod(found)["volumes"]}

    assert env(found, "driver-validation")["DRIVER_INSTALL_DIR"] == paths["driver-install-dir"] == "/opt/driver"
    assert mounts["driver-install-dir"] == "/driver-root"


def test_a_driver_that_is_installed_elsewhere_is_pointed_out():
    drivers = [
        {"metadata": {"name": "default"}, "spec": {"driverType": "gpu"}},
        {"metadata": {"name": "host"}, "spec": {"driverType": "vgpu-host-manager"}},
    ]
    spec = dra({"computeDomains": {}}, hostPaths={"driverInstallDir": "/opt/driver"})

    (note,) = expanded(spec, drivers).notes
    assert note.endswith("looks for a driver in /opt/driver, but NVIDIADriver default installs into /run/nvidia/driver")
    assert expanded(spec, drivers[1:]).notes == ()


# -- what all workloads share


def test_labels_annotations_and_tolerations_of_the_user_reach_every_workload():
    common = {
        "labels": {"team": "ml", "app.kubernetes.io/part-of": "mine"},
        "annotations": {"note": "x"},
        "tolerations": [{"key": "gpu", "operator": "Exists", "value": "", "effect": "", "tolerationSeconds": None}],
    }
    found = objects(dra({"computeDomains": {}}, daemonsets=common))

    for key in (PLUGIN, CONTROLLER, VALIDATOR):
        template = found[key]["spec"]["template"]["metadata"]
        assert found[key]["metadata"]["labels"]["team"] == template["labels"]["team"] == "ml"
        assert found[key]["metadata"]["labels"]["app.kubernetes.io/part-of"] == "mine"
        assert "app.kubernetes.io/part-of" not in template["labels"]
        assert found[key]["metadata"]["annotations"] == template["annotations"] == {"note": "x"}
        assert pod(found[key])["tolerations"][-1] == {"key": "gpu", "operator": "Exists"}
    assert len(pod(found[CONTROLLER])["tolerations"]) == 4


def test_the_priority_class_reaches_the_driver_only():
    spec = dra({"computeDomains": {}}, daemonsets={"priorityClassName": "mine"})
    found = objects(spec)

    assert pod(found[PLUGIN])["priorityClassName"] == pod(found[CONTROLLER])["priorityClassName"] == "mine"
    assert pod(found[VALIDATOR])["priorityClassName"] == "system-node-critical"


def test_strategy_and_security_context_reach_no_workload():
    common = {
        "updateStrategy": "OnDelete",
        "rollingUpdate": {"maxUnavailable": "1"},
        "podSecurityContext": {"runAsUser": 1000},
    }

    assert objects(dra(daemonsets=common)) == objects(dra())


def test_a_label_that_hides_pods_from_their_workload_is_not_guessed():
    expansion = expanded(dra(daemonsets={"labels": {"app.kubernetes.io/name": "mine"}}))

    assert ["DaemonSet nvidia-dra-validator" in text for text in expansion.unknown] == [True]
    assert expansion.conditions == ()


# -- what the operator reports


def test_a_resource_that_works_is_ready():
    (status,) = expanded(dra()).conditions

    assert (status.kind, status.name, status.state) == ("GPUCluster", "gpu-cluster", "ready")
    assert list(status.conditions) == READY


def test_nothing_runs_beside_a_cluster_policy():
    policy = ClusterPolicySpec(
        {"kind": "ClusterPolicy", "metadata": {"name": "cluster-policy"}, "spec": {}}, cdi_by_default=True
    )
    expansion = expanded(dra(), policy=policy)
    (status,) = expansion.conditions

    assert expansion.objects == ()
    assert expansion.namespace_labels == {}
    assert status.state == "notReady"
    assert [condition["reason"] for condition in status.conditions] == ["Error", "PrerequisiteNotMet"]
    assert message(expansion) == (
        'A ClusterPolicy CR "cluster-policy" exists; '
        "a ClusterPolicy CR and GPUCluster CR may not exist at the same time"
    )
    assert "`both ClusterPolicy and GPUCluster CRs exist`" in expansion.unknown[0]


def test_the_cluster_policy_is_refused_in_turn():
    assert policy_conflict(resource({})) == (
        'conflicting GPUCluster resource "gpu-cluster" detected; ClusterPolicy and GPUCluster cannot co-exist'
    )


@pytest.mark.parametrize("served", [(), ("resource.k8s.io/v1/ResourceClaim",), ("other.io/v1/DeviceClass",)])
def test_without_dynamic_resource_allocation_there_are_no_operands(served):
    expansion = expanded(dra(dcgm={"enabled": True}), api_versions=served)

    assert expansion.objects == ()
    assert expansion.namespace_labels == {"resource.kubernetes.io/admin-access": "true"}
    assert message(expansion) == (
        "Error syncing state state-dra-driver: failed to create k8s objects from manifests: "
        "failed to get DRA resource apiVersion: the resource.k8s.io DeviceClass API is not served by the cluster; "
        "ensure Dynamic Resource Allocation is enabled on the API server and kubelet"
    )


@pytest.mark.parametrize(
    ("served", "used"),
    [(("v1beta1", "v1", "v1beta2"), "v1"), (("v1beta1", "v1beta2"), "v1beta2"), (("v1beta1",), "v1beta1")],
)
def test_the_newest_known_version_that_is_served_is_used(served, used):
    found = objects(dra(), api_versions=[f"resource.k8s.io/{version}/DeviceClass" for version in served])

    assert found["DeviceClass/gpu.nvidia.com"]["apiVersion"] == f"resource.k8s.io/{used}"
    template = found["ResourceClaimTemplate/nvidia-dra-validator-gpu"]
    assert template["apiVersion"] == f"resource.k8s.io/{used}"
    (request,) = template["spec"]["spec"]["devices"]["requests"]
    assert ("exactly" in request) is (used != "v1beta1")
    assert request.get("exactly", request)["adminAccess"] is True


def test_a_version_that_the_operator_does_not_know_is_not_guessed():
    expansion = expanded(dra(), api_versions=["resource.k8s.io/v2/DeviceClass"])

    assert expansion.objects == expansion.conditions == ()
    assert expansion.unknown[0].endswith("state-dra-driver: a cluster that serves DeviceClass only as v2")


def test_a_driver_without_an_image_leaves_its_validator_alone():
    expansion = expanded({"draDriver": {}})

    assert {item["kind"] for item in expansion.objects if "dra-driver" in item["metadata"]["name"]} == set()
    assert any(item["metadata"]["name"] == "nvidia-dra-validator" for item in expansion.objects)
    assert message(expansion).startswith(
        "Error syncing state state-dra-driver: failed to create k8s objects from manifests: "
        "failed to construct DRA driver spec: failed to construct DRA driver image path: "
    )
    assert expansion.errors == ()


def test_half_an_image_is_refused():
    expansion = expanded({"draDriver": {"repository": "registry.example.com", "image": "dra-driver"}})

    assert expansion.conditions[0].state == "notReady"
    assert "failed to construct DRA driver image path" in message(expansion)


def test_an_operator_without_an_image_of_its_own_runs_neither_driver_nor_validator():
    expansion = expanded(dra(), environment={})

    assert expansion.objects == ()
    assert "failed to construct DRA driver validator image path" in message(expansion)


def test_an_absent_block_of_compute_domains_is_pointed_out():
    assert [note.partition(":")[0] for note in expanded(dra()).notes] == ["spec.draDriver.computeDomains"]
    assert expanded(dra({"computeDomains": {"enabled": False}})).notes == ()


def test_another_name_is_pointed_out():
    given = Context(entry=read_operands(RELEASE), policy=None, nodes=(), runtime="")
    notes = expand_gpu_cluster(given, resource(dra({"computeDomains": {}}), "mine"), (), api_versions=SERVED).notes

    assert notes == ("metadata.name: an API server refuses a GPUCluster that is not named gpu-cluster",)


def test_a_release_that_knows_no_gpu_cluster_is_not_guessed():
    expansion = expanded(dra(), release="v26.3.3")

    assert expansion.objects == expansion.conditions == ()
    assert expansion.unknown == ("GPUCluster/gpu-cluster: release v26.3.3",)
