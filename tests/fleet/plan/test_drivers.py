"""Where a pool's driver comes from: what is said of profiles, line by line, and what they come to."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.core.diagnostics.codes import node_software
from support.code_book import entries_of

KERNEL = "{release: 5.15.0-105-generic}"
PRECOMPILED = {"driver": '{source: precompiled, version: "580"}', "kernel": KERNEL}
GUEST = "{source: container, repository: registry.example.com/gpu, version: 550.90.07-grid, vgpu: {%s}}"
SECRET, CONFIG_MAP = "licensingSecret: lic", "licensingConfigMap: lic"
OBJECTS = "driverMode: nvidia-driver"


BEHIND = {"registry": "{mirrors: {nvcr.io: registry.example.com}}"}
REPOSITORIES = "repoConfig: {name: apt, files: [mirror.list]}"
REACHED = "[{fact: package-source}]"


def on(release, more=""):
    return {"stack": f"{{release: {release}{', ' if more else ''}{more}}}"}


def system(name, version, **more):
    return {"os": f'{{id: {name}, version: "{version}"}}', **more}


def gpu(product, driver="{source: container}", **more):
    return {"gpu": f"{{product: {product}, count: 1}}", "driver": driver, **more}


def container(version, **fields):
    more = "".join(f", {key}: {value}" for key, value in fields.items())
    return f"{{source: container, version: {version}{more}}}"


# what it is, cluster, pool, the finding and its place, words of the help; a passing one has no finding
CASES = [
    # behind mirrors
    ("compiled", BEHIND, {}, "package-source-unstated 8:12", "fact: package-source"),
    ("compiled, with repositories", BEHIND, {"driver": f"{{source: container, {REPOSITORIES}}}"}, None, ""),
    ("compiled, and the nodes reach them", {**BEHIND, "acknowledge": REACHED}, {}, None, ""),
    ("compiled, and these nodes reach them", BEHIND, {"acknowledge": REACHED}, None, ""),
    ("precompiled behind mirrors", BEHIND, PRECOMPILED, None, ""),
    # what stands beside the driver
    (
        "DMA-BUF without open modules",
        {},
        {"driver": container("580.126.20", kernelModuleType="proprietary", dmaBuf="true")},
        "driver-contradiction 8:83",
        "kernelModuleType: open",
    ),
    ("DMA-BUF", {}, {"driver": container("580.126.20", kernelModuleType="open", dmaBuf="true")}, None, ""),
    (
        "Fabric Manager of another version",
        {},
        {"driver": "{source: preinstalled, version: 580.126.20, fabricManager: 580.105.08}"},
        "driver-contradiction 8:55",
        "of the driver's version",
    ),
    (
        "Fabric Manager of the driver's version",
        {},
        {"driver": "{source: preinstalled, version: 580.126.20, fabricManager: 580.126.20-1, imex: 580.105.08}"},
        None,
        "",
    ),
    # vGPU guests
    ("a guest", {}, {"driver": GUEST % SECRET}, None, ""),
    ("a guest of old", on("v25.3.4"), {"driver": GUEST % CONFIG_MAP}, None, ""),
    ("the deprecated way", {}, {"driver": GUEST % CONFIG_MAP}, "vgpu-guest 8:101", "licensingSecret: lic"),
    (
        "a Secret before v25.10",
        on("v25.3.4"),
        {"driver": GUEST % SECRET},
        "vgpu-guest 8:101",
        "licensingConfigMap: lic",
    ),
    ("no licence", {}, {"driver": GUEST % ""}, "vgpu-guest 8:94", "licensingSecret: <name>"),
    ("two licences", {}, {"driver": GUEST % f"{SECRET}, {CONFIG_MAP}"}, "vgpu-guest 8:94", "licensingSecret: <name>"),
    (
        "no repository",
        {},
        {"driver": f"{{source: container, version: 1.0.0, vgpu: {{{SECRET}}}}}"},
        "vgpu-guest 8:47",
        "driver.repository",
    ),
    (
        "the public repository",
        {},
        {"driver": f"{{source: container, repository: nvcr.io/nvidia, version: 1.0.0, vgpu: {{{SECRET}}}}}"},
        "vgpu-guest 8:31",
        "private registry",
    ),
    (
        "no tag",
        {},
        {"driver": f"{{source: container, repository: registry.example.com/gpu, vgpu: {{{SECRET}}}}}"},
        "vgpu-guest 8:69",
        "driver.version",
    ),
    (
        "a precompiled guest",
        {},
        {"driver": f'{{source: precompiled, version: "580", vgpu: {{{SECRET}}}}}', "kernel": KERNEL},
        "driver-contradiction 8:49",
        "source: container",
    ),
    (
        "a guest with its driver installed",
        {},
        {"driver": f"{{source: preinstalled, vgpu: {{{SECRET}}}}}"},
        "field-without-effect 8:34",
        "remove it",
    ),
    (
        "partitions of a guest's GPU",
        {},
        {"driver": GUEST % SECRET, "gpu": "{product: A30, count: 1, mig: {layout: all-1g.6gb}}"},
        "vgpu-guest 7:33",
        "remove `gpu.mig`",
    ),
    (
        "a licence without an operator",
        {"stack": "{kind: device-plugin, release: v0.17.1}"},
        {"driver": f"{{source: preinstalled, vgpu: {{{SECRET}}}}}"},
        "stack-contradiction 8:34",
        "kind: operator",
    ),
    # What runs beside the driver
    ("storage", {}, {"driver": container("580.126.20", gds="true", kernelModuleType="open")}, None, ""),
    (
        "storage and Secure Boot",
        {},
        {"driver": container("580.126.20", gds="true", kernelModuleType="open"), "secureBoot": "true"},
        "driver-contradiction 8:52",
        "Secure Boot",
    ),
    (
        "storage where nobody names it",
        {},
        system("rhel", "9.6", driver=container("580.126.20", gds="true", kernelModuleType="open")),
        "no-support-row 8:52",
        "nothing to do",
    ),
    (
        "storage on Grace",
        {},
        gpu("GB200", container("580.82.07", gds="true", kernelModuleType="open"), arch="arm64"),
        "driver-contradiction 8:51",
        "CDMM",
    ),
    (
        "storage on Grace, before CDMM",
        {},
        gpu("GB200", container("570.133.20", gds="true", kernelModuleType="open"), arch="arm64"),
        None,
        "",
    ),
    (
        "partitions on Grace",
        {},
        {
            "gpu": "{product: NVIDIA-GH200-480GB, count: 1, mig: {layout: all-1g.12gb}}",
            "driver": container("580.126.20", kernelModuleType="open"),
            "arch": "arm64",
        },
        "driver-contradiction 7:48",
        "CDMM",
    ),
    (
        "RDMA where nobody names it",
        {},
        system("rocky", "9.7", driver=container("580.126.20", rdma="true"), nic="mellanox"),
        "no-support-row 8:52",
        "nothing to do",
    ),
    # Processors
    (
        "precompiled for ARM, before anybody built it",
        {},
        {**PRECOMPILED, "arch": "arm64"},
        "driver-contradiction 10:3",
        "container",
    ),
    (
        "precompiled for ARM, one's own",
        {},
        {
            **PRECOMPILED,
            "driver": '{source: precompiled, version: "580", repository: registry.example.com/gpu}',
            "arch": "arm64",
        },
        None,
        "",
    ),
    ("precompiled for ARM", on("v26.7.0"), {**PRECOMPILED, "arch": "arm64"}, None, ""),
    (
        "a kernel of another processor",
        {},
        {"kernel": "{release: 5.14.0-570.el9_6.aarch64}"},
        "driver-contradiction 9:12",
        "arch: arm64",
    ),
    # Images that somebody lists
    ("a listed kernel", {}, PRECOMPILED, None, ""),
    (
        "a kernel that is not listed",
        {},
        {**PRECOMPILED, "kernel": "{release: 6.5.0-45-generic}"},
        "driver-image-not-listed 9:12",
        "ubuntu22.04 with kernel 5.15 for 535, 570, 580",
    ),
    (
        "a flavour that is not listed",
        {},
        {**PRECOMPILED, "kernel": "{release: 5.15.0-1050-gke}"},
        "driver-image-not-listed 9:12",
        "source: container",
    ),
    (
        "a branch that is not listed",
        on("v26.7.0"),
        {"driver": '{source: precompiled, version: "535"}', "kernel": KERNEL},
        "driver-image-not-listed 9:12",
        "580, 595",
    ),
    (
        "a system that is not listed",
        {},
        system(
            "rhel", "9.6", driver='{source: precompiled, version: "580"}', kernel="{release: 5.14.0-570.el9_6.x86_64}"
        ),
        "driver-image-not-listed 9:12",
        "driver.repository",
    ),
    (
        "one's own precompiled image",
        {},
        {
            "driver": '{source: precompiled, version: "580", repository: registry.example.com/gpu}',
            "kernel": "{release: 6.5.0-45-generic}",
        },
        None,
        "",
    ),
    (
        "a system that is newer than the driver",
        {},
        system("ubuntu", "26.04"),
        "driver-image-not-listed 5:20",
        "branch 595 or later",
    ),
    ("a driver for the newest system", on("v26.7.0"), system("ubuntu", "26.04"), None, ""),
    (
        "a driver that is newer than the system",
        on("v25.10.1"),
        system("ubuntu", "20.04", driver=container("595.91.07")),
        "driver-image-not-listed 8:31",
        "older build",
    ),
    (
        "a kernel that nobody names for compiling",
        {},
        {"kernel": "{release: 6.11.0-21-generic}"},
        "no-support-row 9:12",
        "6.8",
    ),
    # Systems
    ("Oracle Linux", {}, system("ol", "9.4"), "unknown-operating-system 5:8", "driver.repository"),
    (
        "SUSE",
        {},
        system("sles", "15.6", driver=container("580.126.20")),
        "unknown-operating-system 5:8",
        "registry.suse.com/third-party/nvidia",
    ),
    (
        "SUSE's own drivers",
        {},
        system(
            "sles",
            "15.6",
            driver='{source: precompiled, version: "580", repository: registry.suse.com/third-party/nvidia}',
            kernel="{release: 6.4.0-150600.23.47-default}",
        ),
        None,
        "",
    ),
    ("Amazon Linux, unsaid", {}, system("amzn", "2023", driver=None), "driver-source-missing 4:1", "preinstalled"),
    ("Amazon Linux with a driver", {}, system("amzn", "2023", driver="{source: preinstalled}"), None, ""),
    ("Amazon Linux without one", {}, system("amzn", "2023"), "unknown-operating-system 5:8", "pre-install"),
    (
        "Amazon Linux 2",
        {},
        system("amzn", "2", driver="{source: preinstalled}"),
        "no-support-row 5:18",
        "documentation",
    ),
    ("Talos", {}, system("talos", "v1.13.2", driver=None), None, ""),
    (
        "Talos, and its folder",
        {},
        system("talos", "v1.13.2", driver="{source: preinstalled, installDir: /usr/local}"),
        None,
        "",
    ),
    (
        "Talos, and the folder of old",
        {},
        system("talos", "v1.13.2", driver="{source: preinstalled, installDir: /usr/local/glibc/usr}"),
        "driver-folder 8:34",
        "remove `installDir`",
    ),
    ("Talos of old", {}, system("talos", "v1.12.6", driver=None), "stack-contradiction 5:19", "kind: device-plugin"),
    ("Talos of old, in short", {}, system("talos", "1.9", driver=None), "stack-contradiction 5:19", "to 1.13"),
    (
        "Talos of old without an operator",
        {"stack": "{kind: device-plugin, release: v0.17.1}"},
        system("talos", "v1.12.6", driver="{source: preinstalled}"),
        None,
        "",
    ),
    (
        "Talos, and an old operator",
        on("v26.3.0"),
        system("talos", "v1.13.2", driver=None),
        "stack-contradiction 5:19",
        "v26.3.1",
    ),
    ("Talos, and the first operator for it", on("v26.3.1"), system("talos", "v1.13.2", driver=None), None, ""),
    ("a driver container on Talos", {}, system("talos", "v1.13.2"), "driver-contradiction 8:12", "preinstalled"),
    (
        "Bottlerocket, whose folder nobody tells",
        {},
        system("bottlerocket", "1.20", driver=None),
        "driver-folder 5:8",
        "installDir",
    ),
    ("COS", {}, system("cos", "117", driver=None), None, ""),
    (
        "COS, and another folder",
        {},
        system("cos", "117", driver="{source: preinstalled, installDir: /opt/nvidia}"),
        "driver-folder 8:34",
        "remove `installDir`",
    ),
    ("a driver container on COS", {}, system("cos", "117"), "driver-contradiction 8:12", "preinstalled"),
    (
        "sharing by a device plugin that is not the operator's",
        {},
        system("bottlerocket", "1.20", driver=None, sharing="{timeSlicing: {replicas: 2}}"),
        "sharing-contradiction 8:3",
        "where the nodes are made",
    ),
    # Modules and generations
    ("Blackwell by default", {}, gpu("B200", container("580.126.20")), None, ""),
    (
        "Blackwell, proprietary",
        {},
        gpu("B200", container("580.126.20", kernelModuleType="proprietary")),
        "kernel-module-type 8:52",
        "open",
    ),
    (
        "Blackwell with an old driver",
        {},
        gpu("B200", container("550.163.01", kernelModuleType="open")),
        "driver-too-old 8:31",
        "570.133.20",
    ),
    (
        "Blackwell by default, long ago",
        on("v24.9.2"),
        gpu("B200", container("570.133.20")),
        "kernel-module-type 7:9",
        "open",
    ),
    ("Blackwell with the first driver that chooses", {}, gpu("GB200", container("570.86.15"), arch="arm64"), None, ""),
    (
        "Blackwell with one that can't",
        {},
        gpu("GB200", container("570.86.10"), arch="arm64"),
        "kernel-module-type 7:9",
        "open",
    ),
    (
        "a workstation card",
        {},
        gpu("RTX PRO 6000 Blackwell Server Edition", container("575.51.03")),
        "driver-too-old 8:31",
        "575.57.08",
    ),
    ("Grace Hopper", {}, gpu("NVIDIA-GH200-480GB", container("580.126.20"), arch="arm64"), None, ""),
    ("Hopper", {}, gpu("NVIDIA-H100-80GB-HBM3", container("535.261.03")), None, ""),
    (
        "Hopper before its first",
        {},
        gpu("NVIDIA-H100-80GB-HBM3", container("470.256.02")),
        "driver-too-old 8:31",
        "525",
    ),
    (
        "Hopper, installed before its first",
        {},
        gpu("NVIDIA-H100-80GB-HBM3", '{source: preinstalled, version: "515"}'),
        "driver-too-old 8:34",
        "525",
    ),
    ("Ada before its first", {}, gpu("L40S", container("515.105.01")), "driver-too-old 8:31", "525"),
    (
        "an unknown product of a declared generation",
        {},
        {"gpu": "{product: X1, count: 1, architecture: hopper}", "driver": container("470.256.02")},
        "driver-too-old 8:31",
        "525",
    ),
    (
        "Grace Blackwell before its first",
        {},
        gpu("GB200", container("550.163.01", kernelModuleType="open"), arch="arm64"),
        "driver-too-old 8:31",
        "570",
    ),
    (
        "Blackwell Ultra before its first",
        {},
        gpu("GB300", container("570.133.20"), arch="arm64"),
        "driver-too-old 8:31",
        "575",
    ),
    ("Blackwell Ultra", {}, gpu("B300", container("580.82.07")), None, ""),
    ("Kepler after its end", {}, gpu("K80", container("535.261.03")), "driver-branch-ended 8:31", "470"),
    ("Maxwell at its end", {}, gpu("M60", container("580.126.20")), None, ""),
    ("Volta", {}, gpu("V100", container("580.126.20")), None, ""),
    (
        "Volta, open",
        {},
        gpu("V100", container("580.126.20", kernelModuleType="open")),
        "kernel-module-type 8:52",
        "proprietary",
    ),
    ("Volta after its end", on("v26.7.0"), gpu("V100"), "driver-branch-ended 7:9", "580"),
    ("Pascal after its end", {}, gpu("P40", container("595.91.07")), "driver-branch-ended 8:31", "580"),
    (
        "Pascal, installed after its end",
        {},
        gpu("P40", '{source: preinstalled, version: "590"}'),
        "driver-branch-ended 8:34",
        "580",
    ),
    ("Turing", on("v26.7.0"), gpu("T4"), None, ""),
    ("a GPU that is declared", {}, {"gpu": "{product: X9, count: 1, architecture: blackwell}"}, None, ""),
    ("a card that nobody knows", {}, gpu("M6000X"), "unknown-gpu 7:9", "gpu.architecture"),
    (
        "`auto` where nobody chooses",
        {},
        {"driver": container("550.163.01", kernelModuleType="auto")},
        "kernel-module-type 8:52",
        "proprietary",
    ),
    (
        "modules of a driver that is there already",
        {},
        {"driver": "{source: preinstalled, kernelModuleType: open}"},
        "field-without-effect 8:34",
        "remove",
    ),
    (
        "partitions before their driver",
        on("v24.9.2"),
        {"gpu": "{product: NVIDIA-H200, count: 8, mig: {layout: all-1g.18gb}}", "driver": container("550.54.15")},
        "driver-too-old 8:31",
        "550.90.07",
    ),
    (
        "partitions beside whole GPUs, with a driver that leaves pods pending",
        on("v25.3.4"),
        {
            "gpu": "{product: A30, count: 2, mig: {layout: own, devices: [{devices: [0], migDevices: {1g.6gb: 4}}]}}",
            "driver": container("570.148.08"),
        },
        "driver-too-old 8:31",
        "580.65.06",
    ),
    (
        "the same driver, and all GPUs partitioned",
        on("v25.3.4"),
        {
            "gpu": "{product: A30, count: 2, mig: {layout: own, devices: [{devices: [0, 1], migDevices: {1g.6gb: 4}}]}}",
            "driver": container("570.148.08"),
        },
        None,
        "",
    ),
    # Versions
    ("no version at all", {}, {"driver": container("1.0.0-grid")}, "driver-version-form 8:31", "full version"),
    (
        "no version of an installed one",
        {},
        {"driver": "{source: preinstalled, version: 1.0.0}"},
        "driver-version-form 8:34",
        "550.90.07",
    ),
    (
        "a driver for guests only",
        {},
        {"workload": "vm-passthrough", "driver": "{version: 580.126.20}", "gpu": "{product: A10, count: 1}"},
        "field-without-effect 8:3",
        "remove",
    ),
    # Upgrades
    ("a policy by default", {}, {}, "upgrade-policy-unstated 8:12", "upgradePolicy"),
    ("the defaults on purpose", {}, {"driver": "{source: container, upgradePolicy: {}}"}, None, ""),
    ("a drain", {}, {"driver": "{source: container, upgradePolicy: {drain: {enable: true}}}"}, None, ""),
    (
        "a forced drain",
        {},
        {"driver": "{source: container, upgradePolicy: {drain: {enable: true, force: true}}}"},
        "forced-drain 8:69",
        "podSelector",
    ),
    (
        "lost data",
        {},
        {"driver": "{source: container, upgradePolicy: {podDeletion: {deleteEmptyDir: true}}}"},
        "forced-drain 8:61",
        "autoUpgrade: false",
    ),
    (
        "force that nobody uses",
        {},
        {"driver": "{source: container, upgradePolicy: {autoUpgrade: false, podDeletion: {force: true}}}"},
        None,
        "",
    ),
    ("the chart's driver", {}, {}, "driver-version-unstated 8:12", "version: 580.126.20"),
    ("a pinned driver", {}, {"driver": container("580.126.20")}, None, ""),
]
QUIET = (
    "no-support-row",
    "upgrade-policy-unstated",
    "driver-version-unstated",
    "auto-upgrade-off",
    "host-facts-undeclared",
    "support-ended",
    "vulnerable-stack",
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_what_is_said_of_a_driver_and_where(resolve, case):
    _, cluster, pool, expected, advice = case
    found = resolve(cluster, {"a": pool}).diagnostics
    said = {f"{item.name} {str(item.primary.span).rpartition('a.yaml:')[2]}": item.help or "" for item in found}

    if expected is None:
        assert [text for text in said if not text.startswith(QUIET)] == []
    else:
        assert expected in said
        assert advice in said[expected]


OF_DRIVERS = ("PSM218", "PSM219", *(f"PSM{number}" for number in (*range(234, 240), 242)))
IN_OTHER_FILES = {"PSM218": "tests/interface/app/test_driver_images.py"}


@pytest.mark.parametrize(
    "rule",
    [rule for rule in entries_of(node_software) if rule.code in OF_DRIVERS and rule.code not in IN_OTHER_FILES],
    ids=lambda rule: rule.name,
)
def test_every_code_of_drivers_has_a_mistake_here(rule):
    assert any(case[3] is not None and case[3].startswith(f"{rule.name} ") for case in CASES)


@pytest.mark.parametrize(
    ("release", "guest", "values"),
    [
        ("v26.3.3", SECRET, {"secretName": "lic"}),
        ("v26.3.3", CONFIG_MAP, {"configMapName": "lic"}),
        ("v25.3.4", CONFIG_MAP, {"configMapName": "lic"}),
    ],
)
def test_guests_alone_are_described_by_the_cluster_policy(resolve, release, guest, values):
    outcome = resolve(on(release), {"a": {"driver": GUEST % guest}})
    licence = {
        path.removeprefix("driver.licensingConfig."): value
        for path, value in outcome.values.items()
        if path.startswith("driver.licensingConfig")
    }

    assert licence == values
    assert outcome.values["driver.version"] == "550.90.07-grid"
    assert outcome.values["driver.repository"] == "registry.example.com/gpu"
    assert " lic in the namespace gpu-operator," in " ".join(outcome.plan.notes)


@pytest.mark.parametrize(
    ("release", "guest", "field"), [("v26.7.0", SECRET, "secretName"), ("v24.9.2", CONFIG_MAP, "name")]
)
def test_guests_beside_bare_metal_have_an_object_of_their_type(resolve, release, guest, field):
    outcome = resolve(on(release, OBJECTS), {"a": {"driver": GUEST % guest}, "b": {}})
    guests, metal = outcome.plan.driver_objects

    assert (guests.name, metal.name) == ("a-vgpu-compiled", "b-gpu-compiled")
    assert guests.spec["driverType"] == "vgpu"
    assert guests.spec["licensingConfig"] == {field: "lic", "nlsEnabled": True}
    assert "licensingConfig" not in metal.spec


def test_guests_and_bare_metal_do_not_share_a_cluster_policy(resolve):
    guest = container("580.126.20", repository="registry.example.com/gpu", vgpu=f"{{{SECRET}}}")
    metal = container("580.126.20", repository="registry.example.com/gpu")

    assert ("driver-disagreement", "b.yaml:8:3") in resolve(
        {}, {"a": {"driver": guest}, "b": {"driver": metal}}
    ).findings


@pytest.mark.parametrize(
    ("release", "version", "fields"),
    [
        ("v26.3.3", "580.126.20", {"kernelModuleType": "open"}),
        ("v24.9.2", "550.144.03", {"useOpenKernelModules": True}),
        ("v24.9.2", "570.133.20", {"useOpenKernelModules": True, "env": "open"}),
        ("v24.9.2", "535.261.03", {"useOpenKernelModules": True, "env": "open"}),
    ],
)
def test_newer_drivers_under_an_old_release_are_told_by_a_variable(resolve, release, version, fields):
    driver = container(version, kernelModuleType="open")
    (item,) = resolve(on(release, OBJECTS), {"a": {"driver": driver}}).plan.driver_objects
    told = {key: item.spec[key] for key in ("kernelModuleType", "useOpenKernelModules", "env") if key in item.spec}
    if "env" in told:
        (variable,) = told["env"]
        assert variable["name"] == "KERNEL_MODULE_TYPE"
        told["env"] = variable["value"]

    assert told == fields


def test_the_same_goes_for_the_cluster_policy(resolve):
    values = resolve(on("v24.9.2"), {"a": {"driver": container("570.133.20", kernelModuleType="open")}}).values

    assert values["driver.env"] == [{"name": "KERNEL_MODULE_TYPE", "value": "open"}]
    assert values["driver.useOpenKernelModules"] is True


def test_a_system_that_carries_its_driver_says_where(resolve):
    values = resolve({}, {"a": system("cos", "117", driver=None)}).values

    assert values["hostPaths.driverInstallDir"] == "/home/kubernetes/bin/nvidia"
    assert values["toolkit.installDir"] == "/home/kubernetes/bin/nvidia"


def test_two_systems_with_their_drivers_in_two_folders_are_refused_with_both_lines(resolve):
    outcome = resolve({}, {"a": system("cos", "117", driver=None), "b": {}})
    (finding,) = [item for item in outcome.diagnostics if item.name == "singleton-conflict"]

    assert str(finding.primary.span).endswith("a.yaml:5:8")
    assert [str(item.span).rpartition("/")[2] for item in finding.related] == ["b.yaml:8:3"]


def test_a_system_with_a_device_plugin_of_its_own_keeps_the_operators_off(resolve):
    labels = resolve({}, {"a": system("bottlerocket", "1.20", driver=None)}).labels("a")

    assert labels["nvidia.com/gpu.deploy.device-plugin"] == "false"


def test_one_note_tells_all_pools_that_follow_the_chart(resolve):
    outcome = resolve(on("v26.3.3", OBJECTS), {"a": {}, "b": {}, "c": {"driver": container("580.126.20")}})
    (finding,) = [item for item in outcome.diagnostics if item.name == "driver-version-unstated"]

    assert "`a`, `b`" in finding.message
    assert "`c`" not in finding.message


def test_a_policy_stands_in_each_object_even_where_nobody_stated_one(resolve):
    (item,) = resolve(on("v26.7.0", OBJECTS), {"a": {}}).plan.driver_objects

    assert item.spec["upgradePolicy"] == {
        "autoUpgrade": True,
        "maxParallelUpgrades": 1,
        "maxUnavailable": "25%",
        "drain": {"enable": False, "force": False, "deleteEmptyDir": False, "timeoutSeconds": 300},
        "podDeletion": {"force": False, "deleteEmptyDir": False, "timeoutSeconds": 300},
    }


def test_a_policy_for_the_cluster_is_written_with_the_charts_names(resolve):
    policy = "{podDeletion: {timeoutSeconds: 60}, waitForCompletion: {podSelector: app=batch}}"
    values = resolve({}, {"a": {"driver": f"{{source: container, upgradePolicy: {policy}}}"}}).values
    found = {path: value for path, value in values.items() if path.startswith("driver.upgradePolicy")}

    assert found == {
        "driver.upgradePolicy.gpuPodDeletion.timeoutSeconds": 60,
        "driver.upgradePolicy.waitForCompletion.podSelector": "app=batch",
    }


RHEL_KERNELS = ("5.14.0-570.el9_6.x86_64", "5.14.0-570.el9_6.aarch64")
TWO_PROCESSORS = {
    name: system(
        "rhel",
        "9.6",
        arch=arch,
        kernel=f"{{release: {kernel}}}",
        driver='{source: precompiled, version: "580", repository: registry.example.com/gpu}',
    )
    for name, arch, kernel in zip("ab", ("amd64", "arm64"), RHEL_KERNELS, strict=True)
}


def test_one_kernel_on_two_processors_is_no_case_for_one_cluster_policy(resolve):
    assert ("driver-disagreement", "b.yaml:10:12") in resolve({}, TWO_PROCESSORS).findings


@pytest.mark.parametrize(("more", "where"), [({}, "Network Operator"), ({"useHostMofed": "true"}, "on the hosts")])
def test_peer_memory_waits_for_drivers_that_somebody_else_brings(resolve, more, where):
    driver = container("580.126.20", rdma="true", **more)
    outcome = resolve({}, {"a": {"driver": driver, "nic": "mellanox"}})

    assert where in " ".join(outcome.plan.notes)
    assert ("no-support-row", "a.yaml:8:52") not in outcome.findings


def test_where_nothing_is_upgraded_by_itself_no_policy_is_missed(resolve):
    sandbox = {"workload": "vm-passthrough", "gpu": "{product: A10, count: 1}", "driver": None}
    names = resolve({}, {"a": {}, "b": sandbox}).names

    assert "auto-upgrade-off" in names
    assert "upgrade-policy-unstated" not in names


def test_a_cloud_with_a_device_plugin_of_its_own_is_told_not_to_run_it(resolve):
    cluster = {"kubernetes": '{version: "1.33", distribution: gke}'}

    assert resolve(cluster, {"a": {}}).labels("a")["gke-no-default-nvidia-gpu-device-plugin"] == "true"


@pytest.mark.parametrize(
    ("mode", "kernel", "missing"),
    [("cluster-policy", None, True), ("cluster-policy", KERNEL, False), ("nvidia-driver", None, False)],
)
def test_precompiled_drivers_under_one_cluster_policy_need_the_kernels_of_bystanders(resolve, mode, kernel, missing):
    pools = {"a": PRECOMPILED, "b": {"driver": "{source: preinstalled}", "kernel": kernel}}
    findings = resolve(on("v26.3.3", f"driverMode: {mode}"), pools).findings

    assert (("kernel-missing", "b.yaml:4:1") in findings) is missing


# compat.md 3: what open and proprietary modules are to each generation
GENERATIONS = {
    "kepler": ("proprietary",),
    "maxwell": ("proprietary",),
    "pascal": ("proprietary",),
    "volta": ("proprietary",),
    "turing": ("open", "proprietary"),
    "ampere": ("open", "proprietary"),
    "ada": ("open", "proprietary"),
    "hopper": ("open", "proprietary"),
    "grace_hopper": ("open",),
    "blackwell": ("open",),
}


def test_the_table_has_every_generation_that_the_catalog_knows(catalog):
    assert sorted(GENERATIONS) == sorted(catalog.gpus.architectures)


@pytest.mark.parametrize("kind", ["open", "proprietary"])
@pytest.mark.parametrize("generation", GENERATIONS)
@pytest.mark.parametrize("release", ["v24.9.2", "v26.7.0"])
def test_a_generation_takes_the_kinds_of_modules_that_it_takes(resolve, release, generation, kind):
    pool = {
        "gpu": f"{{product: X, count: 1, architecture: {generation}}}",
        "driver": container("580.126.20", kernelModuleType=kind),
    }

    assert ("kernel-module-type" not in resolve(on(release), {"a": pool}).names) is (kind in GENERATIONS[generation])


SOURCES = ("container", "precompiled", "preinstalled")
BESIDE = ("gds: true, kernelModuleType: open", "gdrcopy: true", "rdma: true", "installDir: /opt/nvidia", "")
REFUSED = {"driver-contradiction", "driver-source-missing", "secure-boot", "vgpu-guest", "unknown-driver-image"}


@pytest.mark.rows(35, "a row takes 0.015 s; each value of each column is seen first")
@pytest.mark.parametrize("arch", ["amd64", "arm64"])
@pytest.mark.parametrize("secure", ["true", "false"])
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("source", ["", *SOURCES])
def test_a_source_that_a_help_names_is_not_refused_in_its_turn(resolve, source, beside, secure, arch):
    def said(chosen):
        fields = ", ".join(filter(None, (chosen and f"source: {chosen}", VERSIONS.get(chosen), beside)))
        pool = {"driver": f"{{{fields}}}", "kernel": KERNEL, "secureBoot": secure, "arch": arch}
        return [item for item in resolve(on("v25.3.4"), {"a": pool}).diagnostics if item.severity is Severity.ERROR]

    for item in said(source):
        for named in SOURCES:
            if f"source: {named}" in (item.help or "") or f"`{named}`" in (item.help or ""):
                again = {(other.name, other.primary) for other in said(named)}
                assert (item.name, item.primary) not in again
                assert REFUSED.isdisjoint(name for name, _ in again - {(i.name, i.primary) for i in said(source)})


VERSIONS = {"precompiled": 'version: "570"', "container": "version: 570.148.08"}
