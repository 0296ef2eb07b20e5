"""Pods that operands create by themselves, which nobody sees in a manifest."""

from __future__ import annotations

import pytest
import yaml

from poolsmith.fleet.operands.child_pods import children, unknown_children
from poolsmith.gpu.catalog.operands import operand_releases, read_operands, whole
from poolsmith.guard.ledger.claims.claim_table import claim_table

RELEASES = sorted(operand_releases())
CUDA, PLUGIN = "nvidia-cuda-validator-*", "nvidia-device-plugin-validator-*"
OWNER = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "name": "cluster-policy", "controller": True}
VARIABLES = {
    "VALIDATOR_IMAGE": "registry.example/validator:v1",
    "VALIDATOR_IMAGE_PULL_POLICY": "Always",
    "VALIDATOR_IMAGE_PULL_SECRETS": "one,two",
    "VALIDATOR_RUNTIME_CLASS": "nvidia",
}


def child_pods(release, objects):
    """The pods alone."""
    return tuple(child.pod for child in children(release, objects))


def validator(namespace="gpu-operator", **variables):
    """The validator's DaemonSet as the operator leaves it; variables go to its two containers that create pods."""
    given = [{"name": name, "value": text} for name, text in {**VARIABLES, **variables}.items() if text is not None]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "nvidia-operator-validator", "namespace": namespace, "ownerReferences": [OWNER]},
        "spec": {
            "template": {
                "spec": {
                    "serviceAccountName": "nvidia-operator-validator",
                    "nodeSelector": {"nvidia.com/gpu.deploy.operator-validator": "true"},
                    "tolerations": [{"operator": "Exists"}],
                    "initContainers": [
                        {"name": "driver-validation"},
                        {"name": "cuda-validation", "env": given},
                        {"name": "plugin-validation", "env": given},
                    ],
                    "containers": [{"name": "nvidia-operator-validator"}],
                }
            }
        },
    }


def device_plugin(name, container, **variables):
    env = [{"name": key, "value": text} for key, text in variables.items()]
    return {
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "gpu-operator", "ownerReferences": [OWNER]},
        "spec": {
            "template": {
                "spec": {
                    "serviceAccountName": "plugin-account",
                    "nodeSelector": {"plugin": "here"},
                    "containers": [{"name": container, "image": "registry.example/plugin:v1", "env": env}],
                }
            }
        },
    }


def kata(**variables):
    name = "nvidia-kata-sandbox-device-plugin"
    return device_plugin(f"{name}-daemonset", f"{name}-ctr", **variables)


def named(objects, name):
    found = [item for item in objects if item["metadata"]["name"] == name]
    assert len(found) == 1, f"{len(found)} pods {name}"
    return found[0]


def security(pod):
    return {
        item["name"]: item["securityContext"] for item in (*pod["spec"]["initContainers"], *pod["spec"]["containers"])
    }


@pytest.mark.parametrize("release", RELEASES)
def test_the_validator_tries_cuda_in_a_privileged_pod(release):
    pod = named(child_pods(release, [validator()]), CUDA)

    assert security(pod) == {
        "cuda-validation": {"privileged": True},
        "nvidia-cuda-validator": {"privileged": True, "readOnlyRootFilesystem": True},
    }
    assert "volumes" not in pod["spec"]


@pytest.mark.parametrize("release", RELEASES)
def test_the_validator_tries_the_device_plugin_in_an_unprivileged_pod(release):
    pod = named(child_pods(release, [validator()]), PLUGIN)

    assert security(pod) == {
        "plugin-validation": {"allowPrivilegeEscalation": False},
        "nvidia-device-plugin-validator": {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True},
    }


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", [CUDA, PLUGIN])
def test_a_validation_pod_is_like_the_validator_and_its_variables(release, name):
    pod = named(child_pods(release, [validator("gpus")]), name)

    assert (pod["apiVersion"], pod["kind"], pod["metadata"]["namespace"]) == ("v1", "Pod", "gpus")
    assert pod["metadata"]["labels"] == {"app": name.removesuffix("-*")}
    assert pod["metadata"]["ownerReferences"] == [OWNER]
    spec = pod["spec"]
    assert spec["serviceAccountName"] == "nvidia-operator-validator"
    assert spec["nodeSelector"] == {"nvidia.com/gpu.deploy.operator-validator": "true"}
    assert "nodeName" not in spec
    assert spec["tolerations"] == [{"operator": "Exists"}]
    assert spec["imagePullSecrets"] == [{"name": "one"}, {"name": "two"}]
    assert (spec["runtimeClassName"], spec["restartPolicy"]) == ("nvidia", "OnFailure")
    for container in (*spec["initContainers"], *spec["containers"]):
        assert (container["image"], container["imagePullPolicy"]) == ("registry.example/validator:v1", "Always")


def test_without_a_runtime_class_the_pods_have_none():
    pods = child_pods("v26.7.0", [validator(VALIDATOR_RUNTIME_CLASS=None, VALIDATOR_IMAGE_PULL_SECRETS=None)])

    assert [pod for pod in pods if {"runtimeClassName", "imagePullSecrets"} & pod["spec"].keys()] == []


@pytest.mark.parametrize("release", RELEASES)
def test_cuda_is_tried_with_devices_of_cdi_since_26_3(release):
    annotations = named(child_pods(release, [validator()]), CUDA)["metadata"].get("annotations", {})

    asked = annotations.get("nvidia.cdi.k8s.io/container.cuda-validation")
    assert asked == ("management.nvidia.com/gpu=all" if release >= "v26.3" else None)


@pytest.mark.parametrize("text", ["false", "False", "0", "f"])
def test_nothing_is_tried_where_the_validator_is_told_not_to(text):
    assert child_pods("v26.7.0", [validator(WITH_WORKLOAD=text)]) == ()


@pytest.mark.parametrize("text", ["true", "1", None])
def test_work_is_tried_unless_it_is_told_otherwise(text):
    assert len(child_pods("v26.7.0", [validator(WITH_WORKLOAD=text)])) == 2


def test_a_child_says_whose_it_is_and_when_it_exists():
    child = children("v26.7.0", [validator()])[0]

    assert child.parent == "DaemonSet/nvidia-operator-validator"
    assert "until it has succeeded" in child.exists


@pytest.mark.parametrize("release", RELEASES)
def test_the_kata_plugin_discovers_features_in_a_privileged_pod_since_26_3(release):
    pods = child_pods(release, [kata(ENABLE_GFD="true")])

    if release < "v26.3":
        assert pods == ()
        return
    pod = named(pods, "gfd-*")
    container = pod["spec"]["containers"][0]
    assert container["securityContext"] == {"privileged": True}
    assert [volume["hostPath"]["path"] for volume in pod["spec"]["volumes"]] == [
        "/etc/kubernetes/node-feature-discovery/features.d",
        "/sys",
    ]
    assert not [mount for mount in container["volumeMounts"] if mount.get("readOnly")]
    assert pod["spec"]["runtimeClassName"] == "kata-qemu-nvidia-gpu"
    assert pod["spec"]["serviceAccountName"] == "plugin-account"
    assert "ownerReferences" not in pod["metadata"]


@pytest.mark.parametrize(
    ("variables", "image", "device"),
    [
        ({}, "registry.example/plugin:v1", "nvidia.com/pgpu"),
        ({"GFD_IMAGE": "registry.example/gfd:v2"}, "registry.example/gfd:v2", "nvidia.com/pgpu"),
        ({"P_GPU_ALIAS": "h100"}, "registry.example/plugin:v1", "nvidia.com/h100"),
    ],
)
def test_the_kata_plugins_pod_takes_a_gpu_by_its_alias(variables, image, device):
    container = named(child_pods("v26.7.0", [kata(ENABLE_GFD="1", **variables)]), "gfd-*")["spec"]["containers"][0]

    assert container["image"] == image
    assert container["resources"] == {"requests": {device: 1}, "limits": {device: 1}}


@pytest.mark.parametrize(("gates", "unknown"), [("MPSSupport=true", 1), ("MPSSupport=false", 0), (None, 0)])
def test_the_daemons_of_mps_are_unknown_where_their_gate_is_open(gates, unknown):
    variables = {} if gates is None else {"FEATURE_GATES": gates}
    parent = device_plugin("nvidia-dra-driver-kubelet-plugin", "gpus", **variables)

    assert child_pods("v26.7.0", [parent]) == ()
    found = unknown_children("v26.7.0", [parent])
    assert len(found) == unknown
    assert all("MPS" in line and "DaemonSet/nvidia-dra-driver-kubelet-plugin" in line for line in found)


def test_the_controller_makes_the_daemons_of_each_compute_domain():
    parent = {**device_plugin("nvidia-dra-driver-controller", "compute-domain"), "kind": "Deployment"}

    (pod,) = child_pods("v26.7.0", [parent])

    assert unknown_children("v26.7.0", [parent]) == ()
    assert pod["metadata"]["name"] == "computedomain-daemon-*"
    assert pod["spec"]["containers"][0]["image"] == "registry.example/plugin:v1"
    assert pod["spec"]["serviceAccountName"] == "compute-domain-daemon-service-account"


@pytest.mark.parametrize("release", RELEASES)
def test_the_plugin_for_virtual_machines_creates_nothing(release):
    parent = device_plugin("nvidia-sandbox-device-plugin-daemonset", "nvidia-sandbox-device-plugin-ctr")

    assert (child_pods(release, [parent]), unknown_children(release, [parent])) == ((), ())


@pytest.mark.parametrize(("release", "made"), [("v26.3.0", 1), ("v26.3.1", 0), ("v26.3.3", 0), ("v26.7.0", 0)])
def test_the_kata_plugin_discovers_nothing_unless_told_to_from_its_second_version_on(release, made):
    assert len(child_pods(release, [kata()])) == made
    assert len(child_pods(release, [kata(ENABLE_GFD="0")])) == made


def test_of_another_release_only_is_known_who_creates_something():
    parent = validator()

    assert child_pods("v1.0.0", [parent]) == ()
    assert unknown_children("v1.0.0", [parent]) == (
        "what DaemonSet/nvidia-operator-validator creates in release v1.0.0",
    )
    assert unknown_children("v1.0.0", [device_plugin("nvidia-device-plugin", "ctr")]) == ()


@pytest.mark.parametrize("release", RELEASES)
def test_every_container_that_a_rule_names_is_in_the_operands_of_its_release(release):
    entry = read_operands(release)
    objects = [whole(item, "gpu-operator") for state in entry.states for item in state.objects]

    names = {pod["metadata"]["name"] for pod in child_pods(entry, [without_switch(item) for item in objects])}
    assert names == ({CUDA, PLUGIN, "gfd-*"} if release >= "v26.3" else {CUDA, PLUGIN})


def without_switch(item):
    """The operand, told nothing about work to try, and to discover features."""
    if item["kind"] == "DaemonSet":
        for container in item["spec"]["template"]["spec"]["containers"]:
            container["env"] = [*container.get("env", ()), {"name": "ENABLE_GFD", "value": "true"}]
        for container in item["spec"]["template"]["spec"].get("initContainers", ()):
            container["env"] = [entry for entry in container.get("env", ()) if entry["name"] != "WITH_WORKLOAD"]
    return item


@pytest.mark.parametrize("release", RELEASES)
def test_what_the_validation_pods_run(release):
    """As the validator's manifests say in every release; a policy compares each word."""
    for name, task, last in (
        (CUDA, "cuda-validation", "echo cuda workload validation is successful"),
        (PLUGIN, "plugin-validation", "echo device-plugin workload validation is successful"),
    ):
        spec = named(child_pods(release, [validator()]), name)["spec"]
        (init,), (main,) = spec["initContainers"], spec["containers"]
        assert (init["name"], init["command"], init["args"]) == (task, ["sh", "-c"], ["vectorAdd"])
        assert (main["command"], main["args"]) == (["sh", "-c"], [last])


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("name", "file"), [(CUDA, "cuda"), (PLUGIN, "plugin")])
def test_the_validation_pods_are_those_of_the_validators_manifests(release, name, file, checkouts):
    """But for what the validator fills in: image, policy, secrets, class, owner, tolerations, node, GPU."""
    (path,) = (
        found
        for found in (checkouts("POOLSMITH_OPERATOR") / release).glob(f"**/{file}-workload-validation.yaml")
        if "vendor" not in found.parts
    )
    manifest = yaml.safe_load(path.read_text("utf-8"))
    ours = named(child_pods(release, [validator()]), name)
    for field in ("labels", "annotations"):
        assert ours["metadata"].get(field) == manifest["metadata"].get(field)
    for field in ("initContainers", "containers"):
        for own, theirs in zip(ours["spec"][field], manifest["spec"][field], strict=True):
            assert set(theirs) <= {*own, "resources"}
            filled = {"image": own["image"], "imagePullPolicy": own["imagePullPolicy"]}
            assert own == {key: value for key, value in (theirs | filled).items() if key != "resources"}


def test_in_confidential_mode_the_policy_takes_the_other_runtime_classes(kata_pod_claims):
    classes = [text for text in kata_pod_claims if text.startswith("pod:runtimeClassName=")]

    assert [text.partition("=")[2] for text in classes] == [
        "kata-qemu-nvidia-gpu",
        "kata-qemu-nvidia-gpu-snp",
        "kata-qemu-nvidia-gpu-tdx",
    ]


@pytest.fixture
def kata_pod_claims():
    (pod,) = child_pods("v26.7.0", [kata(ENABLE_GFD="true", GFD_IMAGE="registry.example/gfd:v1")])
    ((_, texts),) = claim_table([pod], lambda *_: True).identities.items()
    return texts


def test_the_validators_pods_are_those_of_its_manifests(checkouts):
    """Where the validator fills nothing in; from 25.10 on the manifests have a folder of their own."""
    root = checkouts("POOLSMITH_OPERATOR")
    for release in RELEASES:
        for name, work in ((CUDA, "cuda"), (PLUGIN, "plugin")):
            made = named(child_pods(release, [validator()]), name)
            (path,) = (root / release / "validator").rglob(f"{work}-workload-validation.yaml")
            theirs = yaml.safe_load(path.read_text("utf-8"))
            assert made["metadata"]["name"] == theirs["metadata"]["generateName"] + "*"
            for key in ("labels", "annotations"):
                assert made["metadata"].get(key) == theirs["metadata"].get(key)
            for key in ("restartPolicy", "serviceAccountName"):
                assert made["spec"][key] == theirs["spec"][key]
            for group in ("initContainers", "containers"):
                assert [_fixed(item) for item in made["spec"][group]] == [
                    _fixed(item) for item in theirs["spec"][group]
                ]


def _fixed(container):
    """Without the image, and the GPU whose name the node's resources decide."""
    return {key: item for key, item in container.items() if key not in ("image", "imagePullPolicy", "resources")}
