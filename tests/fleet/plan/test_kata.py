"""Kata pools of each era: values of the operator, the unit that installs Kata, labels, classes, resources, the smoke job.

The expected values are those of the vendor's pages: NVIDIA/cloud-native-docs@gpu-operator-v25.10-45, page
confidential-containers-deploy; @gpu-operator-v26.7-1, pages deploy-kata-containers and configure-cc-mode, and the sample
kata-nvidia-gpu-values.yaml.
"""

import pytest

A10 = "{product: NVIDIA-A10, count: 2}"
H100 = "{product: H100 SXM5 80GB, count: 8}"
KATA = {"driver": None, "workload": "kata", "gpu": A10}
SEALED = {"driver": None, "workload": "kata-confidential", "gpu": H100, "sandbox": "{tee: snp}"}


def on(release, distribution="kubeadm", kubernetes="1.34"):
    return {
        "stack": f"{{release: {release}}}",
        "kubernetes": f'{{version: "{kubernetes}", distribution: {distribution}}}',
    }


def unit_values(outcome):
    (unit,) = outcome.plan.units
    return {setting.dotted: setting.value for setting in unit.values}


def labels(outcome, pool):
    return {label.key: label.value for label in outcome.pool(pool).labels if label.key.startswith("nvidia.com/")}


def test_early_access_has_the_values_of_its_page(resolve):
    outcome = resolve(on("v25.10.1"), {"a": SEALED})

    wanted = {
        "sandboxWorkloads.enabled": True,
        "kataManager.enabled": True,
        "kataManager.config.runtimeClasses": [],
        "kataManager.version": "v0.2.4",
        "ccManager.enabled": True,
        "ccManager.defaultMode": "on",
        "ccManager.version": "v0.2.0",
        "sandboxDevicePlugin.repository": "nvcr.io/nvidia/cloud-native",
        "sandboxDevicePlugin.image": "nvidia-sandbox-device-plugin",
        "sandboxDevicePlugin.version": "v0.0.1",
        "sandboxDevicePlugin.env": [{"name": "P_GPU_ALIAS", "value": "pgpu"}],
        "nfd.nodefeaturerules": True,
    }
    assert {path: outcome.values.get(path) for path in wanted} == wanted
    assert labels(outcome, "a") == {
        "nvidia.com/gpu.workload.config": "vm-passthrough",
        "nvidia.com/cc.capable": "true",
        "nvidia.com/cc.mode": "on",
    }
    assert dict(outcome.pool("a").smoke.annotations) == {
        "io.katacontainers.config.hypervisor.kernel_params": "nvrc.smi.srs=1"
    }


def test_the_chart_of_early_access_has_all_other_shims_turned_off_one_by_one(resolve, catalog):
    outcome = resolve(on("v25.10.1"), {"a": SEALED})
    shims = catalog.chart("kata-deploy", "3.24.0").default(("shims",))
    values = unit_values(outcome)

    assert {name for name in shims if values.get(f"shims.{name}.enabled") is not False} == {"qemu-nvidia-gpu-snp"}
    assert "shims.disableAll" not in values
    assert "snapshotter.setup" not in values, "its shim has a guest pull of its own"


@pytest.mark.parametrize("release", ["v26.3.0", "v26.3.3", "v26.7.0"])
def test_kata_mode_keeps_the_manager_that_labels_nodes_for_the_plain_class(resolve, release):
    outcome = resolve(on(release), {"a": KATA})

    assert outcome.values == {
        **{path: value for path, value in outcome.values.items() if path.startswith(("driver.", "operator."))},
        "sandboxWorkloads.enabled": True,
        "sandboxWorkloads.mode": "kata",
        "ccManager.defaultMode": "off",
        "nfd.nodefeaturerules": True,
    }
    assert labels(outcome, "a") == {"nvidia.com/gpu.workload.config": "vm-passthrough"}
    assert unit_values(outcome) == {
        "defaultShim.amd64": "qemu-nvidia-gpu",
        "nodeSelector": {"nvidia.com/gpu.workload.config": "vm-passthrough"},
        "shims.disableAll": True,
        "shims.qemu-nvidia-gpu.enabled": True,
        "snapshotter.setup": [],
    }
    smoke = outcome.pool("a").smoke
    assert (smoke.runtime_class, smoke.resource, smoke.count) == ("kata-qemu-nvidia-gpu", "nvidia.com/pgpu", 1)
    assert (dict(smoke.limits), smoke.annotations) == ({"memory": "16384Mi"}, ())


@pytest.mark.parametrize(
    ("pools", "default", "modes", "shims"),
    [
        ({"a": SEALED}, None, {"a": "on"}, {"qemu-nvidia-gpu-snp"}),
        ({"a": SEALED, "b": KATA}, "off", {"a": "on", "b": None}, {"qemu-nvidia-gpu", "qemu-nvidia-gpu-snp"}),
        ({"a": {**SEALED, "sandbox": "{tee: tdx}"}, "b": {}}, None, {"a": "on"}, {"qemu-nvidia-gpu-tdx"}),
        (
            {"a": {**SEALED, "sandbox": "{tee: snp, ccMode: ppcie, gpusPerPod: 8}"}},
            None,
            {"a": "ppcie"},
            {"qemu-nvidia-gpu-snp"},
        ),
    ],
)
def test_confidential_nodes_say_their_mode_themselves(resolve, pools, default, modes, shims):
    outcome = resolve(on("v26.7.0"), pools)
    values = unit_values(outcome)

    assert outcome.values.get("ccManager.defaultMode") == default
    assert {pool: labels(outcome, pool).get("nvidia.com/cc.mode") for pool in modes} == modes
    assert {path.split(".")[1] for path, value in values.items() if path.endswith(".enabled") and value} == shims
    assert "snapshotter.setup" not in values, "nydus, as the chart has it"


def test_a_whole_hopper_node_in_one_pod_asks_for_its_switches(resolve):
    pool = {**SEALED, "sandbox": "{tee: snp, ccMode: ppcie, gpusPerPod: 8, defaultMemory: 65536}"}
    smoke = resolve(on("v26.7.0"), {"a": pool}).pool("a").smoke

    assert (smoke.runtime_class, smoke.resource, smoke.count) == ("kata-qemu-nvidia-gpu-snp", "nvidia.com/pgpu", 8)
    assert dict(smoke.limits) == {"memory": "65536Mi", "nvidia.com/nvswitch": "4"}


@pytest.mark.parametrize(
    ("alias", "variable", "resource"),
    [
        (None, None, "nvidia.com/pgpu"),
        ("pgpu", None, "nvidia.com/pgpu"),
        ("gold", "gold", "nvidia.com/gold"),
        ('""', "", "nvidia.com/GA102GL_A10"),
    ],
)
def test_gpus_have_one_name_or_those_of_their_models(resolve, alias, variable, resource):
    pool = {**KATA, "sandbox": f"{{resourceAlias: {alias}}}"} if alias is not None else KATA
    outcome = resolve(on("v26.7.0"), {"a": pool})
    env = None if variable is None else [{"name": "P_GPU_ALIAS", "value": variable}]

    assert outcome.values.get("kataSandboxDevicePlugin.env") == env
    assert outcome.pool("a").passthrough_resource == resource


def test_a_cluster_has_one_alias(resolve):
    pools = {name: {**KATA, "sandbox": f"{{resourceAlias: {name}}}"} for name in ("a", "b")}

    assert "singleton-conflict" in resolve(on("v26.7.0"), pools).names


@pytest.mark.parametrize("release", ["v25.10.1", "v26.3.3", "v26.7.0"])
@pytest.mark.parametrize(
    ("distribution", "called"),
    [("kubeadm", None), ("k3s", "k3s"), ("rke2", "rke2"), ("k0s", "k0s"), ("microk8s", "microk8s")],
)
def test_kata_deploy_is_told_where_containerd_is_configured(resolve, release, distribution, called):
    pool = {**KATA, "runtime": '{name: containerd, version: "2.1"}'}
    if (release, distribution) == ("v26.7.0", "rke2"):
        folder = "/var/lib/rancher/rke2/agent/etc/containerd"
        pool["runtime"] = (
            f"{{name: containerd, config: {folder}/config.toml, socket: /run/k3s/containerd/containerd.sock}}"
        )
    outcome = resolve(on(release, distribution), {"a": pool})

    if outcome.plan is None:
        assert set(outcome.names) - {"host-facts-undeclared", "auto-upgrade-off"}, "a reason of another pass"
    else:
        assert unit_values(outcome).get("k8sDistribution") == called


def test_images_and_secrets_of_the_installer_are_those_of_the_registry(resolve):
    registry = "{mirrors: {quay.io: registry.example.com/quay}, pullSecrets: [pull]}"
    values = unit_values(resolve({**on("v26.7.0"), "registry": registry}, {"a": KATA}))

    assert values["image.reference"] == "registry.example.com/quay/kata-containers/kata-deploy"
    assert values["imagePullSecrets"] == [{"name": "pull"}]


def test_the_installer_tolerates_the_taints_of_kata_pools_alone(resolve):
    taint = "{taints: [{key: example.com/%s, effect: NoSchedule}]}"
    outcome = resolve(on("v26.7.0"), {"a": {**KATA, "nodes": taint % "kata"}, "b": {"nodes": taint % "other"}})
    (toleration,) = unit_values(outcome)["tolerations"]

    assert toleration["key"] == "example.com/kata"


def test_the_installer_comes_after_the_operator_whose_definitions_it_looks_for(resolve):
    (unit,) = resolve(on("v26.7.0"), {"a": KATA}).plan.units

    assert not unit.before_platform


@pytest.mark.parametrize("release", ["v24.9.2", "v25.3.4"])
def test_a_confidential_pool_of_the_coco_era_gets_the_class_and_the_guest_of_its_page(resolve, release):
    pool = {**SEALED, "gpu": "{product: H100 PCIe 80GB, count: 1}"}
    outcome = resolve(on(release, kubernetes="1.29"), {"a": pool})
    (entry,) = outcome.values["kataManager.config.runtimeClasses"]

    assert entry["name"] == outcome.pool("a").smoke.runtime_class == "kata-qemu-nvidia-gpu-snp"
    assert entry["artifacts"]["url"].endswith("kata-gpu-artifacts:ubuntu22.04-535.86.10-snp")
    assert entry["nodeSelector"] == {"nvidia.com/cc.capable": "true"}
    assert (outcome.values["ccManager.enabled"], outcome.values["nfd.nodefeaturerules"]) == (True, True)
    assert labels(outcome, "a")["nvidia.com/cc.mode"] == "on"


@pytest.mark.parametrize("product", ["H100 SXM5 80GB", "NVIDIA-H100-80GB-HBM3"])
def test_of_several_ids_of_a_model_it_is_the_one_that_the_chart_labels(resolve, product):
    """v25.3.4: templates/nodefeaturerules.yaml has 2330, and not 2336."""
    outcome = resolve(on("v25.3.4", kubernetes="1.29"), {"a": {**SEALED, "gpu": f"{{product: {product}, count: 1}}"}})

    assert outcome.pool("a").passthrough_resource == "nvidia.com/GH100_H100_SXM5_80GB"
