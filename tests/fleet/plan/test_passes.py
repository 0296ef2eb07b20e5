"""What each pass decides: from small profiles to values, labels, objects and smoke tests of the plan."""

from __future__ import annotations

import pytest

from poolsmith.fleet.plan.origin import Derived, profile_inputs
from poolsmith.gpu.catalog.chart_contents import nulls_of

DEFAULTS = {"operator.upgradeCRD": False}
KATA = {
    "driver": None,
    "workload": "kata",
    "gpu": "{product: NVIDIA-A10, count: 1}",
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}]",
}
PASSTHROUGH = {**KATA, "workload": "vm-passthrough"}
DRIVER_OBJECTS = "{release: v26.3.3, driverMode: nvidia-driver}"
GPU_TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
KERNEL = "{release: 5.15.0-105-generic}"
A30 = "product: A30, count: 2"


def on(distribution, release="v26.3.3", kubernetes="1.33"):
    return {
        "kubernetes": f'{{version: "{kubernetes}", distribution: {distribution}}}',
        "stack": f"{{release: {release}}}",
    }


def env(**variables):
    return [{"name": name, "value": value} for name, value in variables.items()]


RKE2_25_3 = {
    "toolkit.env": env(
        CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock",
        ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED="false",
        ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS="true",
    ),
    "devicePlugin.env": env(DEVICE_LIST_STRATEGY="volume-mounts"),
}
K3S = "/var/lib/rancher/k3s/agent/etc/containerd"


@pytest.mark.parametrize(
    ("cluster", "pool", "values"),
    [
        ({}, {}, {}),
        ({"stack": "{release: v24.6.1}"}, {}, {}),
        ({}, {"driver": "{source: container, version: 580.126.20}"}, {}),
        ({}, {"driver": "{source: container, version: 570.124.06}"}, {"driver.version": "570.124.06"}),
        (
            {},
            {"driver": '{source: precompiled, version: "580"}', "kernel": KERNEL},
            {"driver.usePrecompiled": True, "driver.version": "580"},
        ),
        ({}, {"driver": "{source: preinstalled}"}, {"driver.enabled": False}),
        (
            {},
            {"driver": "{source: preinstalled, installDir: /opt/nvidia}"},
            {"driver.enabled": False, "hostPaths.driverInstallDir": "/opt/nvidia"},
        ),
        (
            {},
            {"driver": "{source: preinstalled}", "toolkit": "{source: preinstalled}"},
            {"driver.enabled": False, "toolkit.enabled": False},
        ),
        (
            {},
            {"driver": "{source: container, kernelModuleType: open, gds: true}"},
            {"driver.kernelModuleType": "open", "gds.enabled": True},
        ),
        (
            {"stack": "{release: v24.9.2}"},
            {"driver": "{source: container, kernelModuleType: open}"},
            {"driver.useOpenKernelModules": True},
        ),
        ({"stack": "{release: v24.9.2}"}, {"driver": "{source: container, kernelModuleType: proprietary}"}, {}),
        (
            {},
            {"driver": "{source: container, rdma: true, useHostMofed: true, gdrcopy: true}", "nic": "mellanox"},
            {"driver.rdma.enabled": True, "driver.rdma.useHostMofed": True, "gdrcopy.enabled": True},
        ),
        (
            {},
            {"driver": "{source: container, repository: registry.example.com/nvidia}"},
            {"driver.repository": "registry.example.com/nvidia"},
        ),
        (
            {},
            {"driver": "{source: container, upgradePolicy: {maxParallelUpgrades: 4, drain: {enable: true}}}"},
            {"driver.upgradePolicy.maxParallelUpgrades": 4, "driver.upgradePolicy.drain.enable": True},
        ),
        (on("rke2"), {}, {"toolkit.env": env(CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock")}),
        (on("rke2", "v25.3.4"), {}, RKE2_25_3),
        (
            on("k3s", "v24.9.2"),
            {},
            {
                "toolkit.env": env(
                    CONTAINERD_CONFIG=f"{K3S}/config.toml", CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock"
                )
            },
        ),
        (
            on("k3s"),
            {},
            {
                "toolkit.env": env(
                    CONTAINERD_CONFIG=f"{K3S}/config.toml",
                    CONTAINERD_SOCKET="/run/k3s/containerd/containerd.sock",
                    RUNTIME_CONFIG_SOURCE=f"file={K3S}/config.toml",
                    RUNTIME_DROP_IN_CONFIG=f"{K3S}/config-v3.toml.d/99-nvidia.toml",
                )
            },
        ),
        (on("gke"), {}, {"toolkit.env": env(RUNTIME_CONFIG_SOURCE="file")}),
        (on("gke", kubernetes="1.32"), {}, {}),
        (on("eks"), {}, {}),
        (
            {},
            {"runtime": "{name: containerd, config: /opt/c.toml}"},
            {"toolkit.env": env(CONTAINERD_CONFIG="/opt/c.toml")},
        ),
        (
            {},
            {"runtime": "{name: containerd, dropIn: /opt/d.toml}"},
            {"toolkit.env": env(RUNTIME_DROP_IN_CONFIG="/opt/d.toml")},
        ),
        ({}, {"gpu": f"{{{A30}, mig: {{layout: all-1g.6gb}}}}"}, {}),
        ({}, {"gpu": f"{{{A30}, mig: {{layout: all-balanced}}}}"}, {"mig.strategy": "mixed"}),
        (
            {"stack": DRIVER_OBJECTS},
            {},
            {"driver.nvidiaDriverCRD.enabled": True, "driver.nvidiaDriverCRD.deployDefaultCR": False},
        ),
        ({"nfd": "{provider: external}"}, {}, {"nfd.enabled": False}),
        ({}, PASSTHROUGH, {"driver.enabled": False, "sandboxWorkloads.enabled": True, "ccManager.enabled": False}),
        ({"stack": "{release: v25.3.4}"}, PASSTHROUGH, {"driver.enabled": False, "sandboxWorkloads.enabled": True}),
        ({"stack": "{release: v26.3.3, values: {dcgm: {enabled: true}}}"}, {}, {"dcgm.enabled": True}),
        (
            {"nfd": "{provider: external}"},
            {"nodes": "{taints: [{key: team, value: ml, effect: NoExecute}]}"},
            {
                "nfd.enabled": False,
                "daemonsets.tolerations": [
                    GPU_TOLERATION,
                    {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoExecute"},
                ],
            },
        ),
        (
            {},
            {
                "nodes": "{taints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]}"
            },
            {},
        ),
    ],
)
def test_profiles_become_values_that_differ_from_the_defaults(resolve, cluster, pool, values):
    outcome = resolve(cluster, {"a": pool})
    expected = {} if cluster.get("stack") == "{release: v24.6.1}" else DEFAULTS
    cured = {item.dotted: item.value for item in nulls_of(outcome.plan.cluster.spec.stack.release)}

    assert outcome.values == cured | expected | values


COS = {"os": '{id: cos, version: "121"}', "driver": None}
COS_FOLDER = {
    "hostPaths.driverInstallDir": "/home/kubernetes/bin/nvidia",
    "toolkit.installDir": "/home/kubernetes/bin/nvidia",
}


@pytest.mark.parametrize(
    ("release", "switched_on"),
    [
        *((tag, True) for tag in ("v24.6.1", "v24.9.2", "v25.3.4")),
        *((tag, False) for tag in ("v25.10.1", "v26.3.3", "v26.7.0")),
    ],
)
def test_cdi_is_switched_on_for_container_optimized_os_where_it_is_no_default(resolve, release, switched_on):
    outcome = resolve(
        on("gke", release),
        {"a": COS, "b": {"driver": "{source: preinstalled, installDir: /home/kubernetes/bin/nvidia}"}},
    )

    assert outcome.values.items() >= COS_FOLDER.items()
    assert {key: value for key, value in outcome.values.items() if key.startswith("cdi.")} == (
        {"cdi.enabled": True, "cdi.default": True} if switched_on else {}
    )


@pytest.mark.parametrize("release", ["v25.3.4", "v26.3.3"])
def test_cdi_that_a_system_needs_is_not_given_up_for_a_toolkit_of_another_pool(resolve, release):
    outcome = resolve(
        on("gke", release), {"a": COS, "b": {"driver": "{source: preinstalled}", "toolkit": "{source: preinstalled}"}}
    )

    assert "toolkit-contradiction" in outcome.names


def test_cdi_that_a_system_needs_cant_be_switched_off(resolve):
    cluster = on("gke", "v25.3.4") | {"stack": "{release: v25.3.4, values: {cdi: {enabled: false}}}"}

    assert "value-taken" in resolve(cluster, {"a": COS}).names


@pytest.mark.parametrize("release", ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"])
@pytest.mark.parametrize("toolkit", [None, "{source: preinstalled}"])
def test_the_driver_of_aks_comes_with_a_toolkit_that_has_a_name_of_its_own(resolve, release, toolkit):
    outcome = resolve(on("aks", release), {"a": {"driver": "{source: preinstalled}", "toolkit": toolkit}})

    assert outcome.values["toolkit.enabled"] is False
    assert outcome.values["operator.runtimeClass"] == "nvidia-container-runtime"
    assert "toolkit.env" not in outcome.values


@pytest.mark.parametrize(("distribution", "pool"), [("aks", {}), ("eks", {"driver": "{source: preinstalled}"})])
def test_where_the_operators_toolkit_is_installed_its_runtime_keeps_its_name(resolve, distribution, pool):
    outcome = resolve(on(distribution), {"a": pool})

    assert outcome.pool("a").toolkit == "operator"
    assert not outcome.values.keys() & {"toolkit.enabled", "operator.runtimeClass"}


@pytest.mark.parametrize(
    ("distribution", "release", "runtime_class"),
    [
        *((name, tag, "nvidia") for name in ("k3s", "rke2") for tag in ("v24.6.1", "v24.9.2", "v25.3.4")),
        *((name, tag, None) for name in ("k3s", "rke2") for tag in ("v25.10.1", "v26.3.3", "v26.7.0")),
        *((name, "v25.3.4", None) for name in ("kubeadm", "microk8s", "eks", "gke", "aks")),
    ],
)
def test_smoke_tests_ask_for_the_runtime_class_where_it_is_not_the_default(
    resolve, distribution, release, runtime_class
):
    runtime = "{name: containerd, config: /etc/c.toml, socket: /run/c.sock}"
    unknown = distribution == "rke2" and release in ("v24.6.1", "v24.9.2", "v26.7.0")
    outcome = resolve(on(distribution, release), {"a": {"runtime": runtime} if unknown else {}})

    assert outcome.pool("a").smoke.runtime_class == runtime_class


LABEL = {"poolsmith.dev/pool": "a"}


@pytest.mark.parametrize(
    ("cluster", "pool", "labels"),
    [
        ({}, {}, LABEL),
        ({"poolLabel": "example.com/p"}, {"nodes": "{labelValue: x}"}, {"example.com/p": "x"}),
        ({}, {"gpu": f"{{{A30}, mig: {{layout: all-1g.6gb}}}}"}, LABEL | {"nvidia.com/mig.config": "all-1g.6gb"}),
        ({}, {"sharing": "{timeSlicing: {replicas: 2}}"}, LABEL | {"nvidia.com/device-plugin.config": "a"}),
        ({}, PASSTHROUGH, LABEL | {"nvidia.com/gpu.workload.config": "vm-passthrough"}),
        ({"stack": "{release: v24.9.2}"}, KATA, LABEL | {"nvidia.com/gpu.workload.config": "vm-passthrough"}),
        ({}, {"driver": "{source: preinstalled}"}, LABEL),
    ],
)
def test_nodes_carry_the_labels_that_steer_the_operator(resolve, cluster, pool, labels):
    assert resolve(cluster, {"a": pool}).labels("a") == labels


def test_beside_a_managed_driver_a_preinstalled_one_is_told_to_the_operator(resolve):
    outcome = resolve({}, {"a": {"driver": "{source: preinstalled}"}, "b": {}})

    assert outcome.labels("a")["nvidia.com/gpu.deploy.driver"] == "pre-installed"
    assert "nvidia.com/gpu.deploy.driver" not in outcome.labels("b")


def test_without_cdi_a_preinstalled_toolkit_opts_its_nodes_out(resolve):
    outcome = resolve({"stack": "{release: v25.3.4}"}, {"a": {}, "b": {"toolkit": "{source: preinstalled}"}})

    assert outcome.labels("b")["nvidia.com/gpu.deploy.container-toolkit"] == "false"
    assert "toolkit.enabled" not in outcome.values


NAMED = {"nodes": '{names: ["n[1-3]"]}'}
CRIO = {"runtime": "{name: cri-o}"}
MIXTURE = {"acknowledge": "[{fact: mixed-runtimes}]"}


@pytest.mark.parametrize("release", ["v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.3.3", "v26.7.0"])
@pytest.mark.parametrize(
    ("cluster", "pool", "kept"),
    [
        ({}, {"driver": "{source: preinstalled}"}, {"nvidia.com/gpu.deploy.driver": "pre-installed"}),
        (MIXTURE, CRIO, {"nvidia.com/gpu.deploy.container-toolkit": "false"}),
    ],
)
def test_labels_that_keep_operands_off_named_nodes_are_written_by_discovery(resolve, release, cluster, pool, kept):
    stack = {"stack": f"{{release: {release}}}"}
    named = resolve(stack | cluster, {"a": {**pool, **NAMED}, "b": {}})
    unnamed = resolve(stack | cluster, {"a": pool, "b": {}})
    (note,) = [item for item in unnamed.diagnostics if item.name == "opt-out-not-kept"]

    assert {item.key: item.value for item in named.pool("a").labels if item.writer == "nfd"} == LABEL | kept
    assert "opt-out-not-kept" not in named.names
    assert all(f"{key}={value}" in note.message for key, value in kept.items())
    assert ("each time it looks" in note.message) is (release == "v26.7.0")
    assert str(note.severity) == ("warning" if pool is CRIO else "note")


@pytest.mark.parametrize(
    ("release", "pool", "name", "fields"),
    [
        (
            "v26.3.3",
            {},
            "a-gpu-compiled",
            {
                "usePrecompiled": False,
                "repository": "nvcr.io/nvidia",
                "image": "driver",
                "version": "580.126.20",
                "priorityClassName": "system-node-critical",
            },
        ),
        (
            "v26.3.3",
            {"driver": '{source: precompiled, version: "580"}', "kernel": KERNEL},
            "a-gpu-precompiled",
            {"usePrecompiled": True, "version": "580"},
        ),
        (
            "v24.9.2",
            {"driver": "{source: container, kernelModuleType: open}"},
            "a-gpu-compiled",
            {"useOpenKernelModules": True},
        ),
        (
            "v26.7.0",
            {"driver": "{source: container, kernelModuleType: open, rdma: true}", "nic": "mellanox"},
            "a-gpu-compiled",
            {"kernelModuleType": "open", "rdma": {"enabled": True, "useHostMofed": False}},
        ),
        (
            "v26.3.3",
            {"driver": "{source: container, kernelModuleType: open, gds: true}"},
            "a-gpu-compiled",
            {
                "gds": {
                    "enabled": True,
                    "repository": "nvcr.io/nvidia/cloud-native",
                    "image": "nvidia-fs",
                    "version": "2.27.3",
                }
            },
        ),
        (
            "v26.3.3",
            {"nodes": "{taints: [{key: x, effect: NoSchedule}, {key: nvidia.com/gpu, effect: NoSchedule}]}"},
            "a-gpu-compiled",
            {"tolerations": [{"key": "x", "operator": "Exists", "effect": "NoSchedule"}]},
        ),
    ],
)
def test_a_driver_object_says_everything_that_it_needs_itself(resolve, release, pool, name, fields):
    (item,) = resolve({"stack": f"{{release: {release}, driverMode: nvidia-driver}}"}, {"a": pool}).plan.driver_objects

    assert item.name == name
    assert item.spec["nodeSelector"] == {"poolsmith.dev/pool": "a"}
    assert {key: item.spec[key] for key in fields} == fields


STORAGE = {"driver": "{source: container, kernelModuleType: open, gds: true, gdrcopy: true}"}
GDS = {"GDS_ENABLED": "true", "MOFED_ENABLED": "true"}
GDRCOPY = {"GDRCOPY_ENABLED": "true"}


@pytest.mark.parametrize(
    ("release", "variables"),
    [
        *((tag, GDS) for tag in ("v24.6.1", "v24.9.2", "v25.3.0", "v25.3.4")),
        *((tag, GDS | GDRCOPY) for tag in ("v25.10.0", "v25.10.1")),
        *((tag, None) for tag in ("v26.3.0", "v26.3.3", "v26.7.0")),
    ],
)
def test_the_device_plugin_is_told_of_modules_that_it_does_not_see_in_driver_objects(resolve, release, variables):
    stack = {"stack": f"{{release: {release}, driverMode: nvidia-driver}}"}
    outcome = resolve(stack, {"a": STORAGE, "b": {}})

    assert outcome.values.get("devicePlugin.env") == (env(**variables) if variables else None)
    assert not outcome.values.keys() & {"gds.enabled", "gdrcopy.enabled"}
    assert any("also of `b`" in note for note in outcome.plan.notes) is bool(variables)
    assert "devicePlugin.env" not in resolve(stack, {"b": {}}).values


def test_the_device_plugin_is_told_after_what_the_distribution_tells_it(resolve):
    stack = {"stack": "{release: v25.3.4, driverMode: nvidia-driver}"}
    values = resolve(on("rke2", "v25.3.4") | stack, {"a": STORAGE}).values

    assert values["devicePlugin.env"] == [*RKE2_25_3["devicePlugin.env"], *env(**GDS)]


def test_with_one_cluster_policy_the_operator_tells_the_device_plugin_itself(resolve):
    values = resolve({"stack": "{release: v25.10.1}"}, {"a": STORAGE}).values

    assert (values["gds.enabled"], values["gdrcopy.enabled"]) == (True, True)
    assert "devicePlugin.env" not in values


def test_the_upgrade_policy_stands_in_the_object_where_the_release_has_it_there(resolve):
    policy = "{source: container, upgradePolicy: {maxParallelUpgrades: 4}}"
    old = resolve({"stack": DRIVER_OBJECTS}, {"a": {"driver": policy}})
    new = resolve({"stack": "{release: v26.7.0, driverMode: nvidia-driver}"}, {"a": {"driver": policy}})

    assert old.values["driver.upgradePolicy.maxParallelUpgrades"] == 4
    assert "upgradePolicy" not in old.plan.driver_objects[0].spec
    assert new.plan.driver_objects[0].spec["upgradePolicy"]["maxParallelUpgrades"] == 4


@pytest.mark.parametrize(("release", "fits"), [("v26.3.3", True), ("v26.7.0", False)])
def test_an_objects_name_must_fit_into_a_label_where_the_operator_writes_it_there(resolve, release, fits):
    outcome = resolve({"stack": f"{{release: {release}, driverMode: nvidia-driver}}"}, {"a" * 55: {}})

    assert (outcome.plan is not None) is fits
    assert fits or ("invalid-name", f"{'a' * 55}.yaml:3:12") in outcome.findings


@pytest.mark.parametrize(
    ("pool", "resource"),
    [
        ({}, "nvidia.com/gpu"),
        ({"gpu": f"{{{A30}, mig: {{layout: all-1g.6gb}}}}"}, "nvidia.com/gpu"),
        ({"gpu": f"{{{A30}, mig: {{layout: all-balanced}}}}"}, "nvidia.com/mig-1g.6gb"),
        ({"gpu": f"{{{A30}, mig: {{layout: all-disabled}}}}"}, "nvidia.com/gpu"),
        (
            {"gpu": f"{{{A30}, mig: {{layout: own, devices: [{{devices: [0], migDevices: {{1g.6gb: 4}}}}]}}}}"},
            "nvidia.com/mig-1g.6gb",
        ),
        ({"gpu": f"{{{A30}, mig: {{layout: own, devices: [{{migDevices: {{1g.6gb: 4}}}}]}}}}"}, "nvidia.com/gpu"),
        (
            {"gpu": f"{{{A30}, mig: {{layout: own, devices: [{{migDevices: {{1g.6gb+me: 1, 1g.6gb: 1}}}}]}}}}"},
            "nvidia.com/mig-1g.6gb",
        ),
        ({"sharing": "{timeSlicing: {replicas: 2}}"}, "nvidia.com/gpu"),
        ({"sharing": "{timeSlicing: {replicas: 2, renameByDefault: true}}"}, "nvidia.com/gpu.shared"),
        ({"sharing": "{mps: {replicas: 2, renameByDefault: true}}"}, "nvidia.com/gpu.shared"),
    ],
)
def test_the_smoke_test_asks_for_what_the_nodes_advertise(resolve, pool, resource):
    assert resolve({}, {"a": pool}).pool("a").smoke.resource == resource


def test_a_pool_without_partitions_beside_mixed_ones_keeps_its_whole_gpus(resolve):
    outcome = resolve(
        {"stack": "{release: v26.7.0, values: {mig: {strategy: mixed}}}"},
        {
            "a": {"gpu": f"{{{A30}, mig: {{layout: all-balanced}}}}"},
            "b": {},
            "c": {"gpu": f"{{{A30}, mig: {{layout: all-1g.6gb}}}}"},
        },
    )

    assert [pool.smoke.resource for pool in outcome.plan.pools] == [
        "nvidia.com/mig-1g.6gb",
        "nvidia.com/gpu",
        "nvidia.com/mig-1g.6gb",
    ]


@pytest.mark.parametrize(
    ("driver", "image"),
    [
        ('{source: preinstalled, version: "525"}', "vectoradd-cuda12.5.0"),
        ('{source: preinstalled, version: "470"}', "vectoradd-cuda11.7.1-ubuntu20.04"),
        ("{source: preinstalled}", "vectoradd-cuda11.7.1-ubuntu20.04"),
    ],
)
def test_the_smoke_test_runs_on_the_drivers_branch(resolve, driver, image):
    outcome = resolve({}, {"a": {"driver": driver}})

    assert outcome.pool("a").smoke.image == f"nvcr.io/nvidia/k8s/cuda-sample:{image}"


def test_kata_of_the_coco_era_brings_its_operator_and_names_its_guest(resolve):
    outcome = resolve({"stack": "{release: v24.9.2}"}, {"a": {**KATA, "sandbox": "{defaultMemory: 8192}"}})
    (unit,) = outcome.plan.units
    smoke = outcome.pool("a").smoke

    assert outcome.values["kataManager.enabled"] is True
    assert [item["name"] for item in outcome.values["kataManager.config.runtimeClasses"]] == ["kata-qemu-nvidia-gpu"]
    assert (unit.source.revision, unit.before_platform) == ("refs/tags/v0.7.0", True)
    assert smoke.resource == "nvidia.com/GA102GL_A10"
    assert dict(smoke.annotations)["io.katacontainers.config.hypervisor.default_memory"] == "8192"


@pytest.mark.parametrize("release", ["v24.9.2", "v25.3.4"])
@pytest.mark.parametrize(
    ("distribution", "fits"),
    [
        *((name, True) for name in ("kubeadm", "eks", "gke", "aks")),
        *((name, False) for name in ("k3s", "rke2", "k0s", "microk8s", "talos")),
    ],
)
def test_kata_of_the_coco_era_is_installed_only_where_containerd_reads_the_folder_that_it_writes(
    resolve, release, distribution, fits
):
    kubernetes = "1.31" if release == "v24.9.2" else "1.33"
    outcome = resolve(on(distribution, release, kubernetes), {"a": KATA})

    assert ("sandbox-contradiction" in outcome.names) is not fits
    assert (outcome.plan is not None) is fits


@pytest.mark.parametrize(
    ("release", "product", "resource"),
    [
        ("v24.9.2", "H200 SXM 141GB", "nvidia.com/GH100_H200_SXM_141GB"),
        ("v24.9.2", "GH200 144G HBM3e", "nvidia.com/2348"),
        ("v26.3.3", "GH200 144G HBM3e", "nvidia.com/GH100_GH200_144G_HBM3E"),
    ],
)
def test_a_passed_through_gpu_is_named_as_the_releases_plugin_names_it(resolve, catalog, release, product, resource):
    assert len(catalog.gpus.find(product).devices) == 1
    outcome = resolve(
        {"stack": f"{{release: {release}}}"}, {"a": {**PASSTHROUGH, "gpu": f"{{product: {product}, count: 1}}"}}
    )

    assert outcome.pool("a").passthrough_resource == resource


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("[n1]", ("n1",)),
        ('["gpu-a[001-003]"]', ("gpu-a001", "gpu-a002", "gpu-a003")),
        ('["n[9-11].example.com", m]', ("n9.example.com", "n10.example.com", "n11.example.com", "m")),
    ],
)
def test_ranges_of_names_become_names_and_discovery_writes_the_label(resolve, names, expected):
    pool = resolve({}, {"a": {"nodes": f"{{names: {names}}}"}}).pool("a")

    assert pool.node_names == expected
    assert [label.writer for label in pool.labels] == ["nfd"]


@pytest.mark.parametrize("names", ['["n[3-1]"]', '["n[0-999999]"]'])
def test_a_range_without_a_sensible_number_of_names_is_refused(resolve, names):
    assert resolve({}, {"a": {"nodes": f"{{names: {names}}}"}}).findings == [("out-of-range", "a.yaml:9:11")]


def test_unknown_things_of_all_files_are_told_in_one_run(resolve):
    outcome = resolve(
        {"stack": "{release: v1.0.0}", "kubernetes": '{version: "1.33", distribution: x}'},
        {"a": {"os": '{id: x, version: "1"}'}, "b": {"gpu": "{product: x, count: 1}", "runtime": "{name: x}"}},
    )

    assert sorted(outcome.names) == [
        "unknown-distribution",
        "unknown-gpu",
        "unknown-operating-system",
        "unknown-release",
        "unknown-runtime",
    ]


def test_singletons_name_the_pools_that_ask_for_them(resolve):
    outcome = resolve(
        {}, {"a": {"gpu": f"{{{A30}, mig: {{layout: all-balanced}}}}"}, "b": {"driver": "{source: preinstalled}"}}
    )

    assert {item.name: item.asked_by for item in outcome.plan.singletons} == {
        "container runtime": ("a", "b"),
        "driver mode": ("a",),
        "MIG strategy": ("a",),
        "CRD owner": ("a", "b"),
    }


@pytest.mark.parametrize("namespace", ["kube-system", "default"])
def test_a_namespace_of_the_system_is_not_created(resolve, namespace):
    assert resolve({"stack": f"{{release: v26.3.3, namespace: {namespace}}}"}).plan.namespaces == ()


def test_the_operators_namespace_lets_privileged_pods_in(resolve):
    (namespace,) = resolve().plan.namespaces

    assert (namespace.name, namespace.level) == ("gpu-operator", "privileged")


def test_without_the_operator_a_namespace_of_ones_own_lets_host_folders_in(resolve):
    outcome = resolve(
        {"stack": "{kind: device-plugin, release: v0.17.1, namespace: gpu}"},
        {"a": {"driver": "{source: preinstalled}"}},
    )

    assert [(item.name, item.level) for item in outcome.plan.namespaces] == [("gpu", "privileged")]


MIRROR = {
    "registry": "{mirrors: {nvcr.io: registry.example.com/nvcr, quay.io: registry.example.com/quay}, pullSecrets: [ngc]}"
}


def references(node, key=""):
    if isinstance(node, dict):
        for name, value in node.items():
            yield from references(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from references(value, key)
    elif isinstance(node, str) and key in ("repository", "image", "payloadImage", "url"):
        yield node


@pytest.mark.parametrize(
    ("cluster", "pool"),
    [
        ({}, {}),
        (
            {"stack": DRIVER_OBJECTS},
            {"driver": "{source: container, kernelModuleType: open, gds: true, gdrcopy: true}"},
        ),
        ({"stack": "{release: v24.9.2}"}, KATA),
        (
            {"stack": "{kind: device-plugin, release: v0.17.1, dcgmExporter: {release: 4.1.1-4.0.4}}"},
            {"driver": "{source: preinstalled}"},
        ),
    ],
)
def test_no_image_is_pulled_from_a_host_that_has_a_mirror(resolve, catalog, cluster, pool):
    outcome = resolve({**cluster, **MIRROR}, {"a": pool})
    plan = outcome.plan
    found = [ref for setting in plan.values for ref in references(setting.value, setting.path[-1])]
    found += [ref for item in plan.driver_objects for ref in references(item.spec)]
    for unit in plan.units:
        found += [ref for item in unit.objects for ref in references(item.body)]
        found += [ref for setting in unit.values for ref in references(setting.value, setting.path[-1])]
    found.append(outcome.pool("a").smoke.image)

    assert found
    assert [ref for ref in found if ref.startswith(("nvcr.io", "quay.io"))] == []


def test_every_component_that_takes_a_pull_secret_gets_it(resolve, catalog):
    outcome = resolve({**MIRROR, "stack": DRIVER_OBJECTS})
    chart = catalog.chart("gpu-operator", "v26.3.3")
    takes = [path for path in chart.paths if path.endswith(".imagePullSecrets")]

    assert takes
    assert {path: outcome.values.get(path) for path in takes} == {path: ["ngc"] for path in takes}
    assert outcome.plan.driver_objects[0].spec["imagePullSecrets"] == ["ngc"]


def test_guest_images_of_kata_are_pulled_with_the_clusters_secret(resolve):
    outcome = resolve({"stack": "{release: v24.9.2}", **MIRROR}, {"a": KATA})
    (runtime_class,) = outcome.values["kataManager.config.runtimeClasses"]

    assert runtime_class["artifacts"]["pullSecret"] == "ngc"


def test_images_of_a_pinned_upstream_are_reported_where_they_have_a_mirror(resolve):
    outcome = resolve({"stack": "{release: v24.9.2}", **MIRROR}, {"a": KATA})

    assert ("mirror-incomplete", "cluster.yaml:8:60") in outcome.findings


@pytest.mark.parametrize(
    ("delivery", "findings"),
    [
        ("{engine: flux, repoURL: https://git.example.com/gpu.git}", []),
        ("{engine: flux, repoURL: ssh://git@git.example.com/gpu.git}", [("delivery-source", "cluster.yaml:7:28")]),
        ("{engine: flux, repoURL: git@git.example.com:gpu.git}", [("delivery-source", "cluster.yaml:7:28")]),
        ("{engine: flux, repoURL: oci://git.example.com/gpu}", [("delivery-source", "cluster.yaml:7:28")]),
        ("{engine: flux, repoURL: git@git.example.com:gpu.git, sourceRef: {name: flux-system}}", []),
        ("{engine: argocd, repoURL: git@git.example.com:gpu.git}", []),
        ("{engine: argocd, repoURL: oci://git.example.com/gpu}", [("delivery-source", "cluster.yaml:7:30")]),
    ],
)
@pytest.mark.parametrize("stack", ["{release: v26.3.3}", "{kind: device-plugin, release: v0.17.1}"])
def test_a_repository_that_the_engine_could_not_fetch_is_refused(resolve, delivery, findings, stack):
    assert (
        resolve({"delivery": delivery, "stack": stack}, {"a": {"driver": "{source: preinstalled}"}}).findings
        == findings
    )


def test_every_value_goes_back_to_a_profile_line(resolve):
    plan = resolve({**MIRROR, "stack": DRIVER_OBJECTS}, {"a": {"sharing": "{mps: {replicas: 2}}"}}).plan

    assert [setting.dotted for setting in plan.values if not profile_inputs(setting.origin)] == []
    assert all(setting.origin.because for setting in plan.values if isinstance(setting.origin, Derived))


def test_no_pass_sets_what_another_one_set(resolve):
    plan = resolve({**MIRROR, "stack": DRIVER_OBJECTS}, {"a": {"sharing": "{mps: {replicas: 2}}"}}).plan
    paths = [setting.path for setting in plan.values]

    assert len(paths) == len(set(paths))
    assert not [(a, b) for a in paths for b in paths if a != b and b[: len(a)] == a]


@pytest.mark.parametrize(
    ("stack", "pool", "told"),
    [
        ("{release: v26.3.3}", {}, True),
        ("{release: v26.3.3}", {"acknowledge": "[{fact: offers/nvidia.com/mig-1g.10gb}]"}, False),
        ("{release: v26.3.3}", {"acknowledge": "[{fact: offers/nvidia.com/mig-2g.20gb}]"}, True),
        ("{release: v26.3.3}", {"acknowledge": "[{fact: offers/nvidia.com/gpu}]"}, True),
        ("{release: v26.3.3, values: {mig: {strategy: mixed}}}", {}, False),
    ],
)
def test_slices_that_another_pool_renames_are_told_until_somebody_says_so(resolve, stack, pool, told):
    a100 = "{product: NVIDIA-A100-SXM4-80GB, count: 8, mig: {layout: %s}}"
    outcome = resolve(
        {"stack": stack}, {"a": {"gpu": a100 % "all-1g.10gb", **pool}, "b": {"gpu": a100 % "all-balanced"}}
    )
    found = [item for item in outcome.diagnostics if item.name == "singleton-conflict"]

    assert bool(found) is told
    assert all(str(item.severity) == "error" and "nvidia.com/mig-1g.10gb" in item.message for item in found)
