"""Pools that host vGPUs for virtual machines.

Expected values: NVIDIA/cloud-native-docs@gpu-operator-v26.7-1:gpu-operator/gpu-operator-kubevirt.rst, and the layouts in
NVIDIA/gpu-operator:assets/state-vgpu-device-manager.
"""

import pytest
import yaml

MANAGER = "vgpuManager: {repository: registry.example.com/vgpu, version: 580.82.07}"
HOST = {
    "driver": f"{{{MANAGER}}}",
    "workload": "vm-vgpu",
    "gpu": "{product: NVIDIA-A40, count: 2}",
    "os": '{id: ubuntu, version: "22.04"}',
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}, {fact: sr-iov}, {fact: bare-metal}]",
}
PASSED = {
    **HOST,
    "driver": None,
    "workload": "vm-passthrough",
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}]",
}
OBJECTS = {"stack": "{release: v26.7.0, driverMode: nvidia-driver}"}


def on(release):
    return {"stack": f"{{release: {release}}}"}


def layout(text, gpu="NVIDIA-A40"):
    return {**HOST, "gpu": f"{{product: {gpu}, count: 2, vgpu: {text}}}"}


def labels(outcome, pool):
    return {label.key: label.value for label in outcome.pool(pool).labels if label.key.startswith("nvidia.com/")}


@pytest.mark.parametrize("release", ["v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"])
def test_the_operator_gets_the_manager_of_its_user(resolve, release):
    outcome = resolve(on(release), {"a": HOST})

    assert {path: value for path, value in outcome.values.items() if path.startswith(("vgpu", "sandbox", "cc"))} == {
        "sandboxWorkloads.enabled": True,
        "vgpuManager.enabled": True,
        "vgpuManager.repository": "registry.example.com/vgpu",
        "vgpuManager.version": "580.82.07",
        **({"ccManager.enabled": False} if release >= "v26.3" else {}),
    }
    assert labels(outcome, "a") == {"nvidia.com/gpu.workload.config": "vm-vgpu"}


def test_hosts_stand_beside_containers_and_passed_through_gpus(resolve):
    outcome = resolve(on("v26.7.0"), {"a": HOST, "b": {"os": HOST["os"]}, "c": PASSED})
    workloads = {
        pool.name: labels(outcome, pool.name).get("nvidia.com/gpu.workload.config") for pool in outcome.plan.pools
    }

    assert workloads == {"a": "vm-vgpu", "b": None, "c": "vm-passthrough"}


def test_hosts_don_t_stand_beside_kata(resolve):
    kata = {**PASSED, "workload": "kata"}

    assert "sandbox-contradiction" in resolve(on("v26.7.0"), {"a": HOST, "b": kata}).names


def test_each_host_pool_has_a_driver_object_of_its_type(resolve):
    plan = resolve(OBJECTS, {"a": HOST, "b": {**HOST, "os": '{id: ubuntu, version: "24.04"}'}, "c": {}}).plan
    by_name = {item.name: item.spec for item in plan.driver_objects}

    assert {name: spec["driverType"] for name, spec in by_name.items()} == {
        "a-vgpu-host-manager": "vgpu-host-manager",
        "b-vgpu-host-manager": "vgpu-host-manager",
        "c-gpu-compiled": "gpu",
    }
    spec = by_name["a-vgpu-host-manager"]
    assert (spec["repository"], spec["image"], spec["version"]) == (
        "registry.example.com/vgpu",
        "vgpu-manager",
        "580.82.07",
    )
    assert spec["nodeSelector"] == {"poolsmith.dev/pool": "a"}
    assert plan.setting("vgpuManager", "enabled") is None


def test_a_cluster_of_hosts_alone_may_have_driver_objects(resolve):
    outcome = resolve(OBJECTS, {"a": HOST})

    assert outcome.values["driver.nvidiaDriverCRD.enabled"] is True
    assert [item.name for item in outcome.plan.driver_objects] == ["a-vgpu-host-manager"]


@pytest.mark.parametrize(
    "other",
    [
        {"driver": "{vgpuManager: {repository: registry.example.com/vgpu, version: 570.133.10}}"},
        {"os": '{id: ubuntu, version: "24.04"}'},
    ],
)
def test_one_cluster_policy_has_one_manager_for_one_system(resolve, other):
    assert "driver-disagreement" in resolve(on("v26.7.0"), {"a": HOST, "b": {**HOST, **other}}).names


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("{layout: default}", True),
        ("{layout: A40-12Q}", True),
        ("{layout: A10-12Q}", False),
        ("{layout: A40-13Q}", False),
        ("{layout: mine, devices: [{vgpuDevices: {A40-12Q: 2, A40-24Q: 1}}]}", True),
        ("{layout: mine, devices: [{vgpuDevices: {A40-12Q: 3, A40-24Q: 1}}]}", False),
        ("{layout: mine, devices: [{vgpuDevices: {A40-48Q: 2}}]}", False),
        (
            "{layout: mine, devices: [{devices: [0], vgpuDevices: {A40-48Q: 1}}, {devices: [1], vgpuDevices: {A40-12Q: 4}}]}",
            True,
        ),
        ("{layout: mine, devices: [{devices: [0, 2], vgpuDevices: {A40-48Q: 1}}]}", False),
        ("{layout: mine, devices: [{vgpuDevices: {A40-48Q: 1}}, {devices: [1], vgpuDevices: {A40-12Q: 4}}]}", False),
        ("{layout: mine, devices: [{devices: none, vgpuDevices: {A40-48Q: 1}}]}", False),
        ("{layout: mine, devices: [{vgpuDevices: {}}]}", False),
        ("{layout: A40-12Q, devices: [{vgpuDevices: {A40-24Q: 2}}]}", False),
    ],
)
def test_a_layout_is_one_that_the_gpu_can_have(resolve, text, fits):
    outcome = resolve(on("v26.7.0"), {"a": layout(text)})

    assert ("vgpu-layout" in outcome.names) is not fits
    assert (outcome.plan is not None) is fits


def test_an_own_layout_is_in_the_place_of_the_operators(resolve):
    own = layout("{layout: mine, devices: [{devices: [0], vgpuDevices: {A40-48Q: 1}}]}")
    outcome = resolve(on("v26.7.0"), {"a": own, "b": layout("{layout: A40-12Q}")})
    (config_map,) = outcome.plan.config_maps
    text = yaml.safe_load(config_map.body["data"]["config.yaml"])

    assert text == {
        "version": "v1",
        "vgpu-configs": {
            "A40-12Q": [{"devices": "all", "vgpu-devices": {"A40-12Q": 4}}],
            "mine": [{"devices": [0], "vgpu-devices": {"A40-48Q": 1}}],
        },
    }
    assert outcome.values["vgpuDeviceManager.config.name"] == config_map.body["metadata"]["name"]
    assert outcome.values["vgpuDeviceManager.config.default"] in text["vgpu-configs"]
    assert labels(outcome, "a")["nvidia.com/vgpu.config"] == "mine"
    assert "vgpu-layout" in resolve(on("v26.7.0"), {"a": own, "b": HOST}).names, "b would have none"


def test_kubevirt_is_told_what_to_permit(resolve):
    outcome = resolve(
        on("v26.7.0"), {"a": layout("{layout: A40-12Q}"), "b": {**PASSED, "gpu": "{product: NVIDIA-L40S, count: 1}"}}
    )
    devices = [(item.selector, item.resource) for pool in outcome.plan.pools for item in pool.host_devices]

    assert devices == [("NVIDIA A40-12Q", "nvidia.com/NVIDIA_A40-12Q"), ("10DE:26B9", "nvidia.com/AD102GL_L40S")]


@pytest.mark.parametrize("gpu", ["A10G", "L40G"])
def test_gpus_that_no_page_has_are_refused(resolve, gpu):
    assert "vgpu-host" in resolve(on("v26.7.0"), {"a": {**HOST, "gpu": f"{{product: {gpu}, count: 1}}"}}).names


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({}, False),
        ({"kernel": "{release: 5.15.0-105-generic}"}, False),
        ({"kernel": "{release: 6.8.0-40-generic}"}, True),
        ({"os": '{id: ubuntu, version: "24.04"}'}, True),
        ({"gpu": "{product: NVIDIA-L40S, count: 1}"}, True),
        ({"runtime": "{name: cri-o}"}, True),
    ],
)
def test_what_no_page_has_is_noted(resolve, changed, told):
    notes = [
        item.message
        for item in resolve(on("v26.7.0"), {"a": {**HOST, **changed}}).diagnostics
        if "vGPU" in item.message
    ]

    assert bool(notes) is told
