"""Passthrough, vGPU, Kata and confidential nodes, the labels that say which is which, and the runtime classes.

Each case is a chart's values and some nodes; the source of what comes out is named beside it, below
NVIDIA/gpu-operator:controllers/.
"""

from __future__ import annotations

import pytest

from fleet.operands import scenarios
from poolsmith.core.facts.versions import at_least, version_key
from poolsmith.fleet.operands.expansion import ClusterState, Node
from poolsmith.fleet.operands.operator_expansion import expand
from poolsmith.gpu.catalog.operands import operand_releases

RELEASES = sorted(operand_releases(), key=version_key)
OLDEST, NEWEST = RELEASES[0], RELEASES[-1]
WITHOUT_OWN_VARIABLES = [release for release in RELEASES if version_key(release) < version_key("v25.3.3")]
WITH_KATA_MANAGER = [release for release in RELEASES if not at_least(release, "v26.7.0")]
WITH_KATA = [release for release in RELEASES if at_least(release, "v26.3.3")]
NFD = "feature.node.kubernetes.io/"
GPU = {f"{NFD}pci-10de.present": "true"}
SYSTEM = {
    f"{NFD}system-os_release.ID": "ubuntu",
    f"{NFD}system-os_release.VERSION_ID": "22.04",
    f"{NFD}system-os_release.VERSION_ID.major": "22",
    f"{NFD}kernel-version.full": "5.15.0-91-generic",
}
DEPLOY = "nvidia.com/gpu.deploy."
WORKLOAD = "nvidia.com/gpu.workload.config"
UPGRADE = "nvidia.com/gpu-driver-upgrade-enabled"
SAYS = "ClusterPolicy/cluster-policy: "


def begins(release):
    """With which letter the operator's own errors begin."""
    return "e" if version_key(release) >= version_key("v25.3.3") else "E"


NO_IMAGE = "mpty image path provided through both ClusterPolicy CR and ENV"
ITSELF = "gpu-operator operand pods itself"
SANDBOX = {"sandboxWorkloads": {"enabled": True}}
KATA = {"sandboxWorkloads": {"enabled": True, "mode": "kata"}}
KATA_IMAGE = {"repository": "example.com/kata", "image": "k8s-kata-manager", "version": "v1"}
VGPU_IMAGE = {"repository": "example.com/vgpu", "version": "570.0"}


def node(name="gpu-1", runtime="containerd://1.7.24", **labels):
    return Node(name=name, labels={**GPU, **SYSTEM, **labels}, runtime=runtime)


def expanded(release, values, nodes=None, crs=(), objects=(), os_release=None):
    inputs = {"values": values, "crs": list(crs), "apiVersions": []}
    admitted = scenarios.admitted_resources({"tag": release, "inputs": inputs})
    state = ClusterState(
        nodes=tuple([node()] if nodes is None else nodes),
        resources=tuple(item.resource for item in admitted),
        objects=tuple(objects),
        os_release=os_release or {"ID": "ubuntu"},
    )
    return expand(release, state)


def named(expansion, kind, name):
    (found,) = [item for item in expansion.objects if (item["kind"], item["metadata"]["name"]) == (kind, name)]
    return found


def names(expansion, kind):
    return [item["metadata"]["name"] for item in expansion.objects if item["kind"] == kind]


def pod(expansion, name):
    return named(expansion, "DaemonSet", name)["spec"]["template"]["spec"]


def variables(container):
    return {item["name"]: item.get("value") for item in container.get("env", ())}


def deployed(expansion, name="gpu-1"):
    labels = expansion.node_labels[name]
    return {key.removeprefix(DEPLOY): value for key, value in labels.items() if key.startswith(DEPLOY)}


def kata(**config):
    classes = [{"name": name, "artifacts": {"url": "example.com/a"}} for name in config.pop("classes", ())]
    return {"enabled": True, **KATA_IMAGE, "config": {**config, "runtimeClasses": classes}}


# -- labels (state_manager.go, nodelabeling_controller.go)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("asked", ["", "vm-everything", None])
def test_a_node_with_no_known_workload_gets_the_default_one(release, asked):
    labels = {} if asked is None else {WORKLOAD: asked}
    values = {"sandboxWorkloads": {"enabled": True, "defaultWorkload": "vm-vgpu"}}
    found = deployed(expanded(release, values, [node(**labels)]))

    assert "vgpu-device-manager" in found
    assert "driver" not in found


@pytest.mark.parametrize("release", RELEASES)
def test_an_unknown_default_workload_is_container(release):
    values = {"sandboxWorkloads": {"enabled": True, "defaultWorkload": "vm-everything"}}

    assert "driver" in deployed(expanded(release, values))


@pytest.mark.parametrize("release", RELEASES)
def test_without_sandbox_workloads_the_label_of_a_node_says_nothing(release):
    found = deployed(expanded(release, {}, [node(**{WORKLOAD: "vm-passthrough"})]))

    assert "driver" in found
    assert "vfio-manager" not in found


@pytest.mark.parametrize("release", WITH_KATA)
def test_the_mode_kata_exchanges_the_device_plugin_of_passthrough_nodes_only(release):
    nodes = [node("a", **{WORKLOAD: "vm-passthrough"}), node("b", **{WORKLOAD: "vm-vgpu"}), node("c")]
    expansion = expanded(release, KATA, nodes)

    assert "kata-sandbox-device-plugin" in deployed(expansion, "a")
    assert "sandbox-device-plugin" not in deployed(expansion, "a")
    assert "sandbox-device-plugin" in deployed(expansion, "b")
    assert not {"sandbox-device-plugin", "kata-sandbox-device-plugin"} & set(deployed(expansion, "c"))


@pytest.mark.parametrize("release", RELEASES)
def test_labels_of_another_workload_go_and_preset_ones_of_this_one_stay(release):
    preset = {
        WORKLOAD: "vm-passthrough",
        f"{DEPLOY}driver": "true",
        f"{DEPLOY}mig-manager": "true",
        f"{DEPLOY}vfio-manager": "false",
    }
    found = deployed(expanded(release, SANDBOX, [node(**preset)]))

    assert not {"driver", "mig-manager"} & set(found)
    assert found["vfio-manager"] == "false"


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_whose_operands_are_off_keeps_no_label_but_the_mig_layout(release):
    values = {"migManager": {"config": {"default": "all-disabled"}}}
    labels = {f"{DEPLOY}operands": "false", f"{DEPLOY}driver": "false", "nvidia.com/gpu.product": "NVIDIA-A100-PCIE"}
    expansion = expanded(release, values, [node(**labels)])

    assert deployed(expansion) == {"operands": "false"}
    assert expansion.node_labels["gpu-1"]["nvidia.com/mig.config"] == "all-disabled"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("labels", "capable"),
    [
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB"}, True),
        ({"nvidia.com/gpu.product": "NVIDIA-H100-80GB", "nvidia.com/mig.capable": "false"}, False),
        ({"nvidia.com/gpu.product": "Tesla-T4", "nvidia.com/mig.capable": "true"}, True),
        ({"nvidia.com/mig.capable": "true", "nvidia.com/vgpu.host-driver-version": "570"}, False),
        ({"nvidia.com/mig.capable": "true", "nvidia.com/vgpu.host-driver-version": ""}, True),
    ],
)
def test_which_nodes_get_the_mig_manager(release, labels, capable):
    assert ("mig-manager" in deployed(expanded(release, {}, [node(**labels)]))) is capable


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_whose_gpus_are_not_seen_loses_its_labels(release):
    claimed = Node(name="cpu", labels={**SYSTEM, "nvidia.com/gpu.present": "true", f"{DEPLOY}driver": "true"})
    expansion = expanded(release, {}, [claimed])

    assert expansion.node_labels["cpu"] == {**SYSTEM, "nvidia.com/gpu.present": "false"}
    assert names(expansion, "DaemonSet") == []
    assert expansion.conditions[0].conditions[0]["reason"] == "NoGPUNodes"


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_that_never_had_gpus_keeps_foreign_labels_only_up_to_26_3(release):
    stray = Node(name="cpu", labels={**SYSTEM, f"{DEPLOY}driver": "true"})
    expansion = expanded(release, {}, [stray])

    assert (deployed(expansion, "cpu") == {}) is at_least(release, "v26.7.0")


@pytest.mark.parametrize("release", RELEASES)
def test_without_any_label_of_feature_discovery_the_operator_is_ready_and_says_so(release):
    expansion = expanded(release, {}, [Node(name="bare", labels={})])

    assert expansion.conditions[0].state == "ready"
    assert expansion.conditions[0].conditions[0]["reason"] == "NFDLabelsMissing"


@pytest.mark.parametrize("release", RELEASES)
def test_drivers_are_not_upgraded_where_sandbox_workloads_are_on(release):
    marked = Node(name="gpu-1", labels={**GPU, **SYSTEM}, annotations={UPGRADE: "true"}, runtime="containerd://1.7")

    assert expanded(release, {}, [marked]).node_annotations["gpu-1"] == {UPGRADE: "true"}
    assert expanded(release, SANDBOX, [marked]).node_annotations["gpu-1"] == {}


# -- what stops the operator early (state_manager.go: init)


def refused_policy(release):
    """A second policy whose name comes first and that asks for NRI without CDI."""
    spec = {"cdi": {"enabled": False, "nriPluginEnabled": True}}
    required = ("daemonsets", "dcgm", "dcgmExporter", "devicePlugin", "driver", "gfd", "nodeStatusExporter")
    spec |= {name: {} for name in (*required, "operator", "toolkit")}
    spec["operator"] = {"defaultRuntime": "containerd"}
    return {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "a-first"}, "spec": spec}


@pytest.mark.parametrize("release", WITH_KATA)
def test_a_refused_policy_leaves_nodes_alone_unless_they_are_labelled_apart(release):
    expansion = expanded(release, {}, crs=[refused_policy(release)])

    told, other = expansion.conditions
    assert (told.name, told.state, other.name, other.state) == (
        *("a-first", "notReady" if at_least(release, "v26.7.0") else ""),
        *("cluster-policy", ""),
    )
    assert bool(told.conditions) is at_least(release, "v26.7.0"), "the API server takes no conditions without a state"
    assert (expansion.runtime, expansion.objects) == ("", ())
    assert ("driver" in deployed(expansion)) is at_least(release, "v26.7.0")


# -- several ClusterPolicies (clusterpolicy_controller.go)


@pytest.mark.parametrize("release", RELEASES)
def test_of_several_policies_the_first_by_name_counts_and_the_others_say_nothing(release):
    other = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "metadata": {"name": "z-last"}, "spec": {}}
    expansion = expanded(release, {}, crs=[other])

    assert [(item.name, item.state) for item in expansion.conditions] == [("cluster-policy", "ready"), ("z-last", "")]
    assert {item["metadata"]["ownerReferences"][0]["name"] for item in expansion.objects} == {"cluster-policy"}


# -- container runtimes (state_manager.go: getRuntime)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("runtimes", "assumed"),
    [
        (["cri-o://1.30", "containerd://1.7"], "containerd"),
        (["containerd://1.7", "cri-o://1.30"], "containerd"),
        (["docker://24", "cri-o://1.30"], "crio"),
        (["cri-o://1.30", "docker://24"], "docker"),
        (["cri-o://1.30", "frakti://1"], "crio"),
        (["frakti://1"], "containerd"),
    ],
)
def test_one_runtime_is_assumed_for_all_gpu_nodes(release, runtimes, assumed):
    nodes = [node(f"gpu-{number}", runtime) for number, runtime in enumerate(runtimes)]
    cpu = Node(name="a-cpu", labels=SYSTEM, runtime="containerd://1.7")

    assert expanded(release, {}, [*nodes, cpu]).runtime == assumed


# -- runtime classes (object_controls.go: RuntimeClasses, transformKataRuntimeClasses)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("cdi", "chosen", "classes"),
    [
        (True, "gpu", ["gpu", "nvidia-cdi", "nvidia-legacy"]),
        (False, "gpu", ["gpu"]),
        (True, "nvidia-cdi", ["nvidia-cdi", "nvidia-legacy"]),
        (False, "nvidia-cdi", []),
    ],
)
def test_the_name_of_the_nvidia_class_and_its_companions(release, cdi, chosen, classes):
    expansion = expanded(release, {"cdi": {"enabled": cdi}, "operator": {"runtimeClass": chosen}})

    assert names(expansion, "RuntimeClass") == classes


@pytest.mark.parametrize("release", WITH_KATA_MANAGER)
def test_kata_classes_follow_the_kata_manager_also_without_sandbox_workloads(release):
    expansion = expanded(release, {"kataManager": kata(classes=["kata-a", "kata-b"])})

    assert {"kata-a", "kata-b"} <= set(names(expansion, "RuntimeClass"))
    assert "nvidia-kata-manager" not in names(expansion, "DaemonSet")


@pytest.mark.parametrize("release", WITH_KATA_MANAGER)
def test_a_kata_class_of_the_operators_own_name_stops_it_after_those_before(release):
    expansion = expanded(release, {"kataManager": kata(classes=["kata-a", "nvidia", "kata-b"])})

    assert [name for name in names(expansion, "RuntimeClass") if "kata" in name] == ["kata-a"]
    assert expansion.errors == (
        f"{SAYS}error creating kata runtimeclass 'nvidia' as it conflicts with the runtimeclass used for the {ITSELF}",
    )
    assert "nvidia-cc-manager" not in names(expansion, "DaemonSet")


@pytest.mark.parametrize("release", WITH_KATA_MANAGER)
def test_a_kata_class_that_is_named_twice_or_like_a_companion_stands_once(release):
    expansion = expanded(
        release, {"cdi": {"enabled": True}, "kataManager": kata(classes=["kata-a", "kata-a", "nvidia-cdi"])}
    )
    found = names(expansion, "RuntimeClass")

    assert len(found) == len(set(found))
    assert "scheduling" in named(expansion, "RuntimeClass", "nvidia-cdi")


def test_the_newest_release_has_no_kata_manager():
    expansion = expanded(NEWEST, {**SANDBOX, "kataManager": kata(classes=["kata-a"])})

    assert "kata-a" not in names(expansion, "RuntimeClass")
    assert "nvidia-kata-manager" not in names(expansion, "DaemonSet")


@pytest.mark.parametrize("sandbox", [{}, KATA])
def test_a_kata_manager_without_a_configuration_makes_the_operator_panic(sandbox):
    values = {**sandbox, "kataManager": {"enabled": True, **KATA_IMAGE}}
    expansion = expanded("v26.3.3", values)

    (error,) = expansion.errors
    assert error.startswith(f"{SAYS}the operator panics (nil pointer dereference)")
    assert [(item.state, item.conditions) for item in expansion.conditions] == [("", ())]
    assert "nvidia-cc-manager" not in names(expansion, "DaemonSet")
    assert not expanded(NEWEST, values).errors


@pytest.mark.parametrize("release", WITH_KATA)
def test_classes_that_stood_before_are_not_brought_back_by_nri(release):
    stood = [
        {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": name}, "handler": name}
        for name in ("nvidia", "nvidia-cdi", "nvidia-legacy", "other")
    ]
    expansion = expanded(release, {"cdi": {"enabled": True, "nriPluginEnabled": True}}, objects=stood)

    assert names(expansion, "RuntimeClass") == []


# -- operands (object_controls.go)


@pytest.mark.parametrize("release", RELEASES)
def test_a_vfio_manager_without_a_driver_manager_is_told_as_such(release):
    values = {**SANDBOX, "vfioManager": {"driverManager": {"repository": "", "image": "", "version": ""}}}

    assert expanded(release, values).errors == (
        f"{SAYS}failed to transform k8s-driver-manager initContainer for VFIO Manager: {begins(release)}{NO_IMAGE} DRIVER_MANAGER_IMAGE",
    )


@pytest.mark.parametrize("release", RELEASES)
def test_a_vgpu_manager_without_an_image_stops_the_operator(release):
    expansion = expanded(release, {**SANDBOX, "vgpuManager": {"enabled": True, "image": ""}})

    words = f"failed to transform vGPU Manager container: {begins(release)}{NO_IMAGE} VGPU_MANAGER_IMAGE"
    assert expansion.errors == (SAYS + words,)
    assert "nvidia-sandbox-validator" not in names(expansion, "DaemonSet")


@pytest.mark.parametrize("release", RELEASES)
def test_a_vgpu_manager_is_built_for_the_nodes_system(release):
    expansion = expanded(release, {**SANDBOX, "vgpuManager": {"enabled": True, **VGPU_IMAGE}})
    (main,) = pod(expansion, "nvidia-vgpu-manager-daemonset")["containers"]

    assert main["image"] == "example.com/vgpu/vgpu-manager:570.0-ubuntu22.04"


@pytest.mark.parametrize("release", RELEASES)
def test_nvidia_driver_objects_take_over_from_the_vgpu_manager_too(release):
    values = {
        **SANDBOX,
        "vgpuManager": {"enabled": True, **VGPU_IMAGE},
        "driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}},
    }

    assert "nvidia-vgpu-manager-daemonset" not in names(expanded(release, values), "DaemonSet")


def test_a_vgpu_managers_kernel_module_configuration_that_is_missing_stops_the_operator():
    values = {**SANDBOX, "vgpuManager": {"enabled": True, **VGPU_IMAGE, "kernelModuleConfig": {"name": "modules"}}}

    (error,) = expanded(NEWEST, values).errors
    files = "failed to create ConfigMap VolumeMounts for kernel module configuration: ERROR: could not get ConfigMap modules"
    assert error.startswith(f"{SAYS}failed to transform vGPU Manager container: {files} from client: ")


@pytest.mark.parametrize("release", RELEASES)
def test_vgpu_devices_by_the_users_own_configuration(release):
    values = {**SANDBOX, "vgpuDeviceManager": {"config": {"name": "own", "default": "a40"}}}
    expansion = expanded(release, values)
    found = pod(expansion, "nvidia-vgpu-device-manager")

    assert [item["configMap"]["name"] for item in found["volumes"] if "configMap" in item] == ["own"]
    assert variables(found["containers"][0])["DEFAULT_VGPU_CONFIG"] == "a40"
    assert "default-vgpu-devices-config" not in names(expansion, "ConfigMap")


@pytest.mark.parametrize("release", RELEASES)
def test_the_variables_of_the_user_reach_the_cc_manager_last_from_25_3_3_on(release):
    own = [{"name": "OWN", "value": "1"}, {"name": "DEFAULT_CC_MODE", "value": "devtools"}]
    # the chart takes `vfioManager.env` for the CC manager up to 25.3, where `ccManager.env` is not empty
    values = {**KATA, "ccManager": {"enabled": True, "defaultMode": "on", "env": own}, "vfioManager": {"env": own}}
    (main,) = pod(expanded(release, values), "nvidia-cc-manager")["containers"]
    found = variables(main)

    if release in WITHOUT_OWN_VARIABLES:
        assert list(found)[-2:] == ["OWN", "DEFAULT_CC_MODE"]
        assert found["DEFAULT_CC_MODE"] == "on"
    else:
        assert list(found)[-2:] == ["DEFAULT_CC_MODE", "OWN"]
        assert found["DEFAULT_CC_MODE"] == "devtools"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("part", ["cuda", "plugin"])
def test_the_variables_of_the_user_reach_validations_last_from_25_3_3_on(release, part):
    own = [{"name": "OWN", "value": "1"}, {"name": "VALIDATOR_IMAGE", "value": "mine"}]
    found = pod(expanded(release, {"validator": {part: {"env": own}}}), "nvidia-operator-validator")
    (container,) = [item for item in found["initContainers"] if item["name"] == f"{part}-validation"]

    order = list(variables(container))
    first = release in WITHOUT_OWN_VARIABLES
    assert (order.index("OWN") < order.index("VALIDATOR_IMAGE")) is first
    assert (variables(container)["VALIDATOR_IMAGE"] == "mine") is not first


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("part", ["cuda", "plugin"])
def test_validations_pull_with_the_secrets_of_the_validator(release, part):
    found = pod(expanded(release, {"validator": {"imagePullSecrets": ["ngc", "own"]}}), "nvidia-operator-validator")
    (container,) = [item for item in found["initContainers"] if item["name"] == f"{part}-validation"]

    assert variables(container)["VALIDATOR_IMAGE_PULL_SECRETS"] == "ngc,own"


@pytest.mark.parametrize("release", RELEASES)
def test_the_layouts_of_the_operator_are_there_unless_somebody_has_others(release):
    own = {"migManager": {"config": {"name": "mine"}}}

    assert "default-mig-parted-config" in names(expanded(release, {}), "ConfigMap")
    assert "default-mig-parted-config" not in names(expanded(release, own), "ConfigMap")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("enabled", [True, False])
def test_the_sandbox_validator_waits_for_confidential_computing_only_where_it_is_on(release, enabled):
    found = pod(expanded(release, {**SANDBOX, "ccManager": {"enabled": enabled}}), "nvidia-sandbox-validator")

    assert any("cc-manager" in item["name"] for item in found["initContainers"]) is enabled


@pytest.mark.parametrize("release", RELEASES)
def test_the_sandbox_validator_knows_the_default_workload_below_the_variables_of_the_user(release):
    values = {
        "sandboxWorkloads": {"enabled": True, "defaultWorkload": "vm-passthrough"},
        "validator": {"vfioPCI": {"env": [{"name": "OWN", "value": "1"}]}},
    }
    found = pod(expanded(release, values), "nvidia-sandbox-validator")
    (container,) = [item for item in found["initContainers"] if item["name"] == "vfio-pci-validation"]

    assert variables(container)["DEFAULT_GPU_WORKLOAD_CONFIG"] == "vm-passthrough"
    assert list(variables(container))[-1] == "OWN"


@pytest.mark.parametrize("release", RELEASES)
def test_the_mode_decides_which_sandbox_operands_run(release):
    expected = {"nvidia-sandbox-device-plugin-daemonset"}
    if version_key(release) >= version_key("v26.3.0"):
        expected = {"nvidia-kata-sandbox-device-plugin-daemonset", "nvidia-cc-manager"}
    found = set(names(expanded(release, KATA), "DaemonSet"))

    assert (
        found
        & {
            "nvidia-sandbox-device-plugin-daemonset",
            "nvidia-kata-sandbox-device-plugin-daemonset",
            "nvidia-cc-manager",
        }
        == expected
    )


# -- OpenShift


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("labels", "os_release"),
    [
        ({f"{NFD}system-os_release.ID": "rhcos"}, None),
        ({f"{NFD}system-os_release.OSTREE_VERSION": "415.92"}, None),
        ({}, {"ID": "rhel", "OPENSHIFT_VERSION": "4.15"}),
    ],
)
def test_openshift_is_said_as_unknown(release, labels, os_release):
    expansion = expanded(release, {"driver": {"enabled": False}}, [node(**labels)], os_release=os_release)

    assert any(text.startswith("OpenShift") for text in expansion.unknown)
