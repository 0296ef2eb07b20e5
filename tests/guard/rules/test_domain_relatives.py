"""One mistake on each surface that can say it, and its harmless twin: values, a ClusterPolicy, nodes.

Sources stand with the rules that tell it.
"""

from __future__ import annotations

import json

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.interface.app import check_paths

NEWEST = "v26.7.0"
OF_THE_CHART = "PSM516"
"""A null that some charts render by themselves."""
A100 = "NVIDIA-A100-SXM4-80GB"
DEVICE = {"feature": "pci.device", "matchExpressions": {"vendor": {"op": "In", "value": ["10de"]}}}
CLAIMS = {
    "gpuCluster": {"deployCR": True},
    "clusterPolicy": {"deployCR": False},
    "driver": {"nvidiaDriverCRD": {"enabled": True}},
}
KATA = {"sandboxWorkloads": {"enabled": True, "mode": "kata"}, "ccManager": {"enabled": True}}
OFF = {"sandboxWorkloads": {"enabled": True, "mode": "kata"}, "ccManager": {"enabled": False}}


def layout(**group):
    mine = {"devices": "all", "mig-enabled": True, "mig-devices": {"1g.10gb": 7}, **group}
    off = {"devices": "all", "mig-enabled": False}
    return json.dumps({"version": "v1", "mig-configs": {"mine": [mine], "all-disabled": [off]}})


def layouts(text, **more):
    data = {"config.yaml": text, **more}
    return {"migManager": {"config": {"create": True, "name": "own", "default": "all-disabled", "data": data}}}


def pinned(version, modules="proprietary"):
    return {"driver": {"version": version, "kernelModuleType": modules, "upgradePolicy": {"autoUpgrade": False}}}


def discovery(**config):
    return {"node-feature-discovery": {"worker": {"config": config}}}


def metrics(text):
    return {"dcgmExporter": {"config": {"name": "own", "create": True, "data": text}}}


def node(runtime="containerd://2.1.3", kubelet="v1.35.1", **labels):
    stated = {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "feature.node.kubernetes.io/system-os_release.ID": "ubuntu",
        "feature.node.kubernetes.io/system-os_release.VERSION_ID": "22.04",
        "feature.node.kubernetes.io/kernel-version.full": "5.15.0-105-generic",
        "kubernetes.io/arch": "amd64",
        "nvidia.com/gpu.product": A100,
        **{key.replace("__", "/"): value for key, value in labels.items()},
    }
    info = {"containerRuntimeVersion": runtime, "kubeletVersion": kubelet}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "labels": stated},
        "status": {"nodeInfo": info},
    }


def label(key, value):
    return node(**{f"nvidia.com__{key}": value})


def sliced(product, layout):
    return node(**{"nvidia.com__gpu.product": product, **({"nvidia.com__mig.config": layout} if layout else {})})


# what is wrong, the release, values, a node, the code; None in the place of a code: a twin without a finding
CASES = {
    "a release with a vulnerable toolkit": ("v25.3.0", {"driver": {"kernelModuleType": "open"}}, None, "PSM427"),
    "the same without values": ("v25.3.0", {}, None, "PSM427"),
    "a release with the fix": ("v25.3.4", {}, None, None),
    "a vulnerable release with a toolkit that has the fix": (
        "v25.3.0",
        {"toolkit": {"version": "v1.19.1-ubuntu20.04"}},
        None,
        None,
    ),
    "a driver that is there, misspelt": (NEWEST, {}, label("gpu.deploy.driver", "pre-install"), "PSM299"),
    "a driver that is there": (NEWEST, {}, label("gpu.deploy.driver", "pre-installed"), None),
    "an opt-out in capitals": (NEWEST, {}, label("gpu.deploy.dcgm-exporter", "False"), "PSM299"),
    "an opt-out": (NEWEST, {}, label("gpu.deploy.dcgm-exporter", "false"), None),
    "slices of the other A30": (NEWEST, {}, sliced("NVIDIA-A30", "all-1g.5gb"), "PSM299"),
    "slices of an A30": (NEWEST, {}, sliced("NVIDIA-A30", "all-1g.6gb"), None),
    "slices of an H200": (NEWEST, {}, sliced("NVIDIA-H200", "all-1g.18gb"), None),
    "slices of a GPU that has none": (NEWEST, {}, sliced("NVIDIA-L40S", "all-1g.10gb"), "PSM299"),
    "a driver older than the GPU": (NEWEST, pinned("470.256.02"), sliced("NVIDIA-L4", ""), "PSM268"),
    "a driver newer than the GPU": (NEWEST, pinned("595.91.07"), sliced("Tesla-P40", ""), "PSM268"),
    "a driver for the GPU": (NEWEST, pinned("580.126.20"), sliced("Tesla-P40", ""), None),
    "Blackwell Ultra before its branch": (
        NEWEST,
        pinned("570.172.08", "open"),
        sliced("NVIDIA-B300-SXM6-AC", ""),
        "PSM268",
    ),
    "a CC mode without the CC manager": (
        NEWEST,
        {"sandboxWorkloads": {"enabled": True}, "ccManager": {"enabled": False}},
        label("cc.mode", "on"),
        "PSM299",
    ),
    "a CC mode that changes nothing": (NEWEST, OFF, label("cc.mode", "off"), "PSM161"),
    "a CC mode with the CC manager": (NEWEST, KATA, label("cc.mode", "on"), None),
    "a MIG layout without the MIG manager": (
        NEWEST,
        {"migManager": {"enabled": False}},
        label("mig.config", "all-1g.10gb"),
        "PSM299",
    ),
    "what the operator itself writes, without the MIG manager": (
        NEWEST,
        {"migManager": {"enabled": False}},
        label("mig.config", "all-disabled"),
        None,
    ),
    "a MIG layout with the MIG manager": (NEWEST, {}, label("mig.config", "all-1g.10gb"), None),
    "a vGPU layout while sandboxes are off": (NEWEST, {}, label("vgpu.config", "A100-4C"), "PSM299"),
    "a configuration of the plugin that has none": (NEWEST, {}, label("device-plugin.config", "shared"), "PSM299"),
    "a configuration of another plugin": (
        NEWEST,
        {"devicePlugin": {"enabled": False}},
        label("device-plugin.config", "shared"),
        None,
    ),
    "an own layout of another GPU": (
        NEWEST,
        layouts(layout(**{"mig-devices": {"1g.5gb": 7}})),
        label("mig.config", "mine"),
        "PSM299",
    ),
    "an own layout with other engines": (
        NEWEST,
        layouts(layout(**{"mig-devices": {"1c.3g.40gb": 2}})),
        label("mig.config", "mine"),
        None,
    ),
    "layouts under a name that nobody reads": (
        NEWEST,
        layouts(layout().replace("mig-configs", "mig-config")),
        None,
        "PSM540",
    ),
    "another file beside the layouts": (NEWEST, layouts(layout(), notes="what: else\n"), None, None),
    "no layouts": (NEWEST, layouts('{"version": "v1", "mig-configs": {}}'), None, "PSM540"),
    "a profile with a dot": (NEWEST, layouts(layout(**{"mig-devices": {"1g.10gb.me": 1}})), None, "PSM540"),
    "an empty count, which is none": (
        NEWEST,
        layouts(layout(**{"mig-devices": {"1g.10gb": 7, "2g.20gb": None}})),
        None,
        None,
    ),
    "claims with an old kubelet": (NEWEST, CLAIMS, node(kubelet="v1.31.4"), "PSM298"),
    "claims with a kubelet that knows them": (NEWEST, CLAIMS, node(kubelet="v1.34.0"), None),
    "a gate that is no boolean": (
        NEWEST,
        {**CLAIMS, "draDriver": {"featureGates": {"TimeSlicingSettings": "yes"}}},
        None,
        "PSM330",
    ),
    "a gate": (NEWEST, {**CLAIMS, "draDriver": {"featureGates": {"TimeSlicingSettings": True}}}, None, None),
    "a GPU of a family that is newer than the driver": (
        NEWEST,
        pinned("470.256.02"),
        label("gpu.product", "NVIDIA-RTX-5000-Ada-Generation"),
        "PSM268",
    ),
    "a GPU of a family that the driver leaves": (
        NEWEST,
        pinned("595.91.07", "open"),
        label("gpu.product", "Quadro-P4000"),
        "PSM268",
    ),
    "a GPU of Turing whose number looks like a later one": (
        NEWEST,
        pinned("535.230.02"),
        label("gpu.product", "Quadro-RTX-5000"),
        None,
    ),
    "a product as the driver calls it": (
        NEWEST,
        pinned("570.172.08", "open"),
        label("gpu.product", "NVIDIA-B300-SXM6-AC"),
        "PSM268",
    ),
    "the same with its first driver": (
        NEWEST,
        pinned("580.126.20", "open"),
        label("gpu.product", "NVIDIA-B300-SXM6-AC"),
        None,
    ),
    "a section that discovery does not read": (
        NEWEST,
        discovery(source={"pci": {"deviceLabelFields": ["vendor"]}}),
        None,
        "PSM333",
    ),
    "a field that discovery does not read": (NEWEST, discovery(core={"sleepIntervall": "60s"}), None, "PSM333"),
    "a field in another case, which it reads": (
        NEWEST,
        discovery(sources={"pci": {"deviceClassWhiteList": ["03"]}}),
        None,
        None,
    ),
    "a duration that is none": (NEWEST, discovery(core={"sleepInterval": "sixty"}), None, "PSM333"),
    "a duration in nanoseconds": (NEWEST, discovery(core={"sleepInterval": 60000000000}), None, None),
    "a flag in quotes": (NEWEST, discovery(core={"noPublish": "false"}), None, "PSM333"),
    "discovery without PCI devices": (NEWEST, discovery(core={"labelSources": ["cpu", "system"]}), None, "PSM294"),
    "a default configuration of no ConfigMap": (
        NEWEST,
        {"devicePlugin": {"config": {"default": "shared"}}},
        None,
        "PSM278",
    ),
    "metrics in one line, of a type that is none": (
        NEWEST,
        metrics("DCGM_FI_DEV_GPU_TEMP, gouge, heat"),
        None,
        "PSM334",
    ),
    "metrics in one line": (NEWEST, metrics("DCGM_FI_DEV_GPU_TEMP, gauge, heat"), None, None),
    "a port in the name of a registry": (
        NEWEST,
        {"driver": {"repository": "registry.local:5000/nvidia", "version": "580.126.20"}},
        None,
        None,
    ),
    "a registry with a scheme": (NEWEST, {"driver": {"repository": "https://nvcr.io/nvidia"}}, None, "PSM330"),
    "a configuration of the plugin in another case": (
        NEWEST,
        {"devicePlugin": {"config": {"create": True, "name": "own", "default": "a", "data": {"a": "version: v1"}}}},
        label("device-plugin.config", "A"),
        "PSM299",
    ),
    "a node that waits for its driver": (NEWEST, {}, label("gpu.deploy.driver", "paused-for-driver-upgrade"), None),
    "a strategy of slices where the MIG manager is off": (
        NEWEST,
        {"mig": {"strategy": "mixed"}, "migManager": {"enabled": False}},
        label("gpu.product", A100),
        None,
    ),
    "all sources but PCI devices": (NEWEST, discovery(core={"labelSources": ["all", "-pci"]}), None, "PSM294"),
    "PCI devices alone": (NEWEST, discovery(core={"labelSources": ["pci", "system", "kernel"]}), None, None),
}


def installed(chart, version, values):
    source = {"chart": chart, "version": version, "sourceRef": {"kind": "HelmRepository", "name": "nvidia"}}
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": {"name": chart, "namespace": chart},
        "spec": {"interval": "1h", "chart": {"spec": source}, "values": values},
    }


def told(root, release, values, nodes, objects=()):
    written = [*objects, *([] if values is None else [installed("gpu-operator", release, values)])]
    for index, item in enumerate(written):
        (root / f"{index}.yaml").write_text(json.dumps(item))
    given = None
    if nodes is not None:
        given = root.parent / "nodes.yaml"
        given.write_text(json.dumps(nodes))
    found = check_paths(root, [root], nodes=given, release=release, everything=True).diagnostics
    return {item.code for item in found if item.severity is not Severity.NOTE} - {OF_THE_CHART}


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "files"
    root.mkdir()
    return root


@pytest.mark.parametrize("name", CASES)
def test_values_and_nodes(folder, name):
    release, values, nodes, code = CASES[name]

    assert told(folder, release, values, nodes) == (set() if code is None else {code})


def policy(**spec):
    on = {part: {"enabled": True} for part in ("dcgm", "dcgmExporter", "gfd", "devicePlugin", "toolkit")}
    body = {"operator": {"defaultRuntime": "containerd"}, "daemonsets": {}, "nodeStatusExporter": {"enabled": False}}
    driver = {"enabled": True, "repository": "nvcr.io/nvidia", "image": "driver", "version": "580.126.20"}
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy"},
        "spec": {**body, **on, "driver": driver, "migManager": {"enabled": True}, **spec},
    }


def driver_object(**spec):
    return {
        "apiVersion": "nvidia.com/v1alpha1",
        "kind": "NVIDIADriver",
        "metadata": {"name": "all"},
        "spec": {
            "driverType": "gpu",
            "repository": "nvcr.io/nvidia",
            "image": "driver",
            "version": "580.126.20",
            **spec,
        },
    }


def of_layouts(text):
    metadata = {"name": "own", "namespace": "gpu-operator"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"config.yaml": text}}


BY_POLICY = policy(driver={"enabled": True, "useNvidiaDriverCRD": True})
OWN = policy(migManager={"enabled": True, "config": {"name": "own", "default": "all-disabled"}})
IMAGE = {"repository": "nvcr.io/nvidia/cloud-native", "image": "dra-driver", "version": "v0.5.0"}
GPU_CLUSTER = {
    "apiVersion": "nvidia.com/v1alpha1",
    "kind": "GPUCluster",
    "metadata": {"name": "gpu-cluster"},
    "spec": {"draDriver": IMAGE},
}


def rule(**labels):
    rules = [{"name": "gpus", "labels": labels, "matchFeatures": [DEVICE]}]
    metadata = {"name": "gpus"}
    return {
        "apiVersion": "nfd.k8s-sigs.io/v1alpha1",
        "kind": "NodeFeatureRule",
        "metadata": metadata,
        "spec": {"rules": rules},
    }


COMPILED = policy()["spec"]["driver"]


def of_upgrades(**upgrade):
    return policy(driver={**COMPILED, "upgradePolicy": {"autoUpgrade": True, **upgrade}})


STORAGE = policy(
    gds={"enabled": True, "repository": "nvcr.io/nvidia/cloud-native", "image": "nvidia-fs", "version": "2.27.3"}
)
VOLTA = node(**{"nvidia.com__gpu.product": "Tesla-V100-SXM2-32GB"})
GRACE = {
    "enabled": True,
    "repository": "nvcr.io/nvidia",
    "image": "driver",
    "version": "580.126.20",
    "kernelModuleType": "open",
}
RHEL = {
    "feature.node.kubernetes.io__system-os_release.ID": "rhel",
    "feature.node.kubernetes.io__system-os_release.VERSION_ID": "9.6",
    "feature.node.kubernetes.io__kernel-version.full": "5.14.0-570.el9",
}
GRACE_NODE = node(**{**RHEL, "kubernetes.io__arch": "arm64", "nvidia.com__gpu.product": "NVIDIA-GH200-480GB"})
OBJECTS = {
    "a release with a vulnerable toolkit": ("v25.3.0", [policy()], None, "PSM427"),
    "a release with the fix": ("v25.3.4", [policy()], None, None),
    "no toolkit of the operator": ("v25.3.0", [policy(toolkit={"enabled": False})], None, None),
    "a MIG layout without the MIG manager": (
        NEWEST,
        [policy(migManager={"enabled": False})],
        label("mig.config", "all-1g.10gb"),
        "PSM299",
    ),
    "a configuration of the plugin that has none": (
        NEWEST,
        [policy()],
        label("device-plugin.config", "shared"),
        "PSM299",
    ),
    "an own layout of another GPU": (
        NEWEST,
        [OWN, of_layouts(layout(**{"mig-devices": {"1g.5gb": 7}}))],
        label("mig.config", "mine"),
        "PSM299",
    ),
    "layouts under a name that nobody reads": (
        NEWEST,
        [OWN, of_layouts(layout().replace("mig-configs", "mig-config"))],
        None,
        "PSM540",
    ),
    "a GPUCluster beside a ClusterPolicy": (NEWEST, [policy(), GPU_CLUSTER], None, "PSM269"),
    "a driver that is compiled on arm64 of RHEL 9": (NEWEST, [policy(driver=GRACE)], GRACE_NODE, "PSM265"),
    "a driver that is compiled on RHEL 9": (
        NEWEST,
        [policy(driver=GRACE)],
        node(**{**RHEL, "nvidia.com__gpu.product": A100}),
        None,
    ),
    "a sandbox's workload while nothing says that there are sandboxes": (
        NEWEST,
        [policy()],
        label("gpu.workload.config", "vm-passthrough"),
        "PSM299",
    ),
    "the workload that each node has anyway": (NEWEST, [policy()], label("gpu.workload.config", "container"), None),
    "as many upgrades at once as the API server's default allows": (
        NEWEST,
        [of_upgrades(maxParallelUpgrades=0)],
        None,
        None,
    ),
    "upgrades without any limit": (
        NEWEST,
        [of_upgrades(maxParallelUpgrades=0, maxUnavailable="100%")],
        None,
        "PSM291",
    ),
    "a share of nodes with a space": (NEWEST, [of_upgrades(maxUnavailable="25 %")], None, "PSM162"),
    "a number of nodes as text": (NEWEST, [of_upgrades(maxUnavailable="2")], None, "PSM162"),
    "a share of nodes": (NEWEST, [of_upgrades(maxUnavailable="10%")], None, None),
    "storage on a GPU without open modules": (NEWEST, [STORAGE], VOLTA, "PSM268"),
    "storage on a GPU with open modules": (NEWEST, [STORAGE], node(), None),
    "a rule that writes a typo on nodes": (
        NEWEST,
        [policy(), rule(**{"nvidia.com/gpu.deploy.drivers": "false"})],
        None,
        "PSM336",
    ),
    "a rule that writes a word of nobody": (
        NEWEST,
        [policy(), rule(**{"nvidia.com/gpu.workload.config": "vm-passthru"})],
        None,
        "PSM336",
    ),
    "a rule that writes a label of one's own": (NEWEST, [policy(), rule(**{"example.com/gpu": "true"})], None, None),
    "a rule that takes the value of a feature": (
        NEWEST,
        [policy(), rule(**{"nvidia.com/mig.config": "@system.name.nodename"})],
        None,
        None,
    ),
    "two objects for the nodes of one": (
        NEWEST,
        [BY_POLICY, driver_object(), {**driver_object(), "metadata": {"name": "other"}}],
        node(),
        "PSM261",
    ),
    "own layouts": (NEWEST, [OWN, of_layouts(layout())], label("mig.config", "mine"), None),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_objects_and_nodes(folder, name):
    release, objects, nodes, code = OBJECTS[name]

    assert told(folder, release, None, nodes, objects) == (set() if code is None else {code})


def manager(component, name):
    return {
        component: {("manager" if component == "driver" else "driverManager"): {"env": [{"name": name, "value": "1"}]}}
    }


def given(component, name, **more):
    return {component: {"enabled": True, "env": [{"name": name, "value": "1"}], **more}}


BY_OBJECTS = {"driver": {"nvidiaDriverCRD": {"enabled": True, "deployDefaultCR": False}}}
SURFACES = {
    "a variable of the driver manager": (
        manager("driver", "DRAIN_TIMEOUT_SECONDS"),
        manager("driver", "DRAIN_TIMEOUT"),
        "PSM332",
    ),
    "one of the VFIO manager's": (
        manager("vfioManager", "ENABLE_AUTO_DRAIN"),
        manager("vfioManager", "ENABLE_AUTODRAIN"),
        "PSM332",
    ),
    "one that the toolkit read once": (
        given("toolkit", "RUNTIME_RESTART_MODE"),
        given("toolkit", "CONTAINERD_RESTART_MODE"),
        "PSM288",
    ),
    "one that the operator reads itself": (given("toolkit", "CRIO_CONFIG"), given("toolkit", "CRIO_SOCKET"), "PSM288"),
    "one of the exporter's": (given("dcgm", "NVVS_BIN_PATH"), given("dcgm", "DCGM_EXPORTER_LISTEN"), "PSM332"),
    "one of two operands": (
        given("kataManager", "CONTAINERD_CONFIG"),
        given("vgpuManager", "CONTAINERD_CONFIG"),
        "PSM332",
    ),
    "one of the plugin for Kata": (
        given("sandboxDevicePlugin", "P_GPU_ALIAS", image="nvidia-sandbox-device-plugin", version="v0.0.1"),
        given("sandboxDevicePlugin", "P_GPU_ALIAS"),
        "PSM332",
    ),
    "what the VFIO manager binds": (
        given("vfioManager", "BIND_NVSWITCHES"),
        manager("vfioManager", "BIND_NVSWITCHES"),
        "PSM332",
    ),
    "a folder of drivers": (
        {"hostPaths": {"driverInstallDir": "/opt/driver"}},
        {"hostPaths": {"driverInstallDir": "opt/driver"}},
        "PSM330",
    ),
    "a folder of the toolkit": (
        {"toolkit": {"installDir": "/opt/nvidia"}},
        {"toolkit": {"installDir": "opt/nvidia"}},
        "PSM330",
    ),
    "a branch of drivers": (pinned("580.126.20"), pinned("582.1.1"), "PSM338"),
    "a tag that was never published": (
        {},
        {"devicePlugin": {"repository": "nvcr.io/nvidia", "image": "k8s-device-plugin", "version": "0.17.1"}},
        "PSM521",
    ),
}
"""What is sound, what is wrong, and the code on each surface."""


@pytest.mark.parametrize("surface", ["values", "object"])
@pytest.mark.parametrize("name", SURFACES)
def test_values_and_a_policy_are_judged_alike(folder, name, surface):
    sound, wrong, code = SURFACES[name]
    on = (lambda body: (body, ())) if surface == "values" else (lambda body: (None, [policy(**body)]))

    for body, expected in ((sound, set()), (wrong, {code})):
        values, objects = on(body)
        assert told(folder, NEWEST, values, None, objects) & {code} == expected


@pytest.mark.parametrize(
    ("name", "codes"), [("ENABLE_GPU_POD_EVICTION", set()), ("ENABLE_GPU_POD_EVICTIONS", {"PSM332"})]
)
def test_a_driver_object_gives_variables_to_its_manager(folder, name, codes):
    assert (
        told(folder, NEWEST, BY_OBJECTS, None, [driver_object(**manager("driver", name)["driver"])]) & {"PSM332"}
        == codes
    )


CHARTS = {
    "kata-deploy 4.1.0": ({"deploymentMode": "job"}, {"deploymentMode": "jobs"}, "PSM329"),
    "kata-deploy 4.0.0": (
        {"job": {"nodeSelector": {"a": "b"}}},
        {"snapshotter": {"erofsSnapshotterMode": 4}},
        "PSM329",
    ),
    "nvidia-device-plugin 0.17.1": ({"config": {"default": "a"}}, {"namespace": "gpu"}, "PSM326"),
    "dcgm-exporter 4.8.2": ({"serviceMonitor": {"enabled": True}}, {"serviceMonitor": "on"}, "PSM303"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_what_a_chart_beside_the_operator_does_not_render_is_told_once(folder, name):
    sound, wrong, code = CHARTS[name]

    for values, expected in ((sound, set()), (wrong, {code})):
        found = told(folder, NEWEST, None, None, [installed(*name.split(), values)])
        assert found & {"PSM303", "PSM326", "PSM329"} == expected


@pytest.mark.parametrize("version", ["v24.6.1", "22.9.2", "v25.3.0"])
@pytest.mark.parametrize("values", [None, {}])
def test_a_vulnerable_release_is_told_once(folder, version, values):
    item = installed("gpu-operator", version, values)
    if values is None:
        del item["spec"]["values"]
    (folder / "release.yaml").write_text(json.dumps(item))
    found = check_paths(folder, [folder], everything=True).diagnostics

    assert [item.code for item in found].count("PSM427") == 1
