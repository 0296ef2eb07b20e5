"""Values by hand that don't fit the nodes: the mistake as people made it, what poolsmith says, and the files corrected.

Pains 2, 5, 7 and 14 of the field: images that do not exist, drivers of the host, changed defaults, mixed runtimes.
"""

from __future__ import annotations

import pytest

HELM = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  interval: 1h
  chart: {{spec: {{chart: gpu-operator, version: {release}, sourceRef: {{kind: HelmRepository, name: nvidia}}}}}}
  values:
    {values}
"""
NODE = """\
- name: {name}
  runtime: {runtime}
  labels:
    feature.node.kubernetes.io/pci-10de.present: "true"
    feature.node.kubernetes.io/system-os_release.ID: {id}
    feature.node.kubernetes.io/system-os_release.VERSION_ID: "{version}"
    feature.node.kubernetes.io/kernel-version.full: {kernel}
    kubernetes.io/arch: amd64
    nvidia.com/gpu.product: {gpu}
{more}"""
COMPILED = "driver: {version: 580.126.20, upgradePolicy: {autoUpgrade: false}}"
PRECOMPILED = "driver: {usePrecompiled: true, version: '580', upgradePolicy: {autoUpgrade: false}}"
OFF = "driver: {enabled: false}"
FROM_FILE = "\n    toolkit: {env: [{name: RUNTIME_CONFIG_SOURCE, value: file}]}"
NO_TOOLKIT = "\n    toolkit: {enabled: false}"


def helm(*values, release="v26.3.3"):
    return HELM.format(release=release, values="".join(values))


def node(name, id="ubuntu", version="22.04", **facts):  # noqa: A002 - as the label has it
    given = {
        "runtime": "containerd://1.7.27",
        "kernel": "5.15.0-105-generic",
        "gpu": "NVIDIA-A100-SXM4-80GB",
        "more": "",
    }
    return NODE.format(name=name, id=id, version=version, **{**given, **facts})


OPTED_OUT = '    nvidia.com/gpu.deploy.container-toolkit: "false"\n'
# the nodes, the values, what is said and where, the advice, the nodes and the values corrected
MISTAKES = {
    "no precompiled image for today's kernel (NVIDIA/gpu-operator issues 910, 682, 1203)": (
        node("n-1", kernel="6.5.0-45-generic"),
        helm(PRECOMPILED),
        {"warning no-driver-image at helm.yaml:8:36"},
        "else compile the driver on the node",
        node("n-1", kernel="6.5.0-45-generic"),
        helm(COMPILED),
    ),
    "a full version, where the image has the branch (NVIDIA/gpu-operator issue 933)": (
        node("n-1"),
        helm(PRECOMPILED.replace("'580'", "580.126.20")),
        {"error driver-exclusion at helm.yaml:8:36"},
        'driver.version: "580"',
        node("n-1"),
        helm(PRECOMPILED),
    ),
    "debian12 has no tag (NVIDIA/gpu-operator issue 1212)": (
        node("n-1", "debian", "12"),
        helm(COMPILED),
        {"warning no-driver-image at helm.yaml:8:14"},
        "name the repository of your own driver images",
        node("n-1", "debian", "12"),
        helm(COMPILED.replace("version", "repository: registry.example.com/gpu, version", 1)),
    ),
    "driver and toolkit of Talos, and the operator's beside them (cozystack/cozystack issue 3563)": (
        node("n-1", "talos", "v1.9.2"),
        helm(COMPILED),
        {
            "error driver-of-the-system at helm.yaml:8:5",
            "warning driver-of-the-system at helm.yaml:7:3",
            "warning host-driver-folder at helm.yaml:7:3",
        },
        "set `driver.enabled: false`",
        node("n-1", "talos", "v1.9.2"),
        helm(OFF, NO_TOOLKIT, "\n    hostPaths: {driverInstallDir: /usr/local/glibc}"),
    ),
    "COS has its driver elsewhere (NVIDIA/gpu-operator issues 1292, 1623)": (
        node("n-1", "cos", "121"),
        helm(OFF),
        {"error host-driver-folder at helm.yaml:7:3"},
        "hostPaths.driverInstallDir: /home/kubernetes/bin/nvidia",
        node("n-1", "cos", "121"),
        helm(OFF, "\n    hostPaths: {driverInstallDir: /home/kubernetes/bin/nvidia}" + FROM_FILE),
    ),
    "driver containers on AL2023 (NVIDIA/gpu-operator issue 946)": (
        node("n-1", "amzn", "2023"),
        helm(COMPILED, NO_TOOLKIT),
        {"error no-driver-image at helm.yaml:8:14"},
        "pre-install the driver",
        node("n-1", "amzn", "2023"),
        helm(OFF, NO_TOOLKIT),
    ),
    "CDI is on from 25.10, and containerd does not know it": (
        node("n-1", runtime="containerd://1.6.20"),
        helm(COMPILED),
        {"error outdated-container-runtime at nodes.yaml:1:3"},
        "cdi.enabled: false",
        node("n-1", runtime="containerd://1.6.20"),
        helm(COMPILED, "\n    cdi: {enabled: false}"),
    ),
    "one containerd node, and the others get its toolkit (NVIDIA/gpu-operator issues 620, 1528)": (
        node("a") + node("b", runtime="cri-o://1.33.1"),
        helm(COMPILED),
        {"error mixed-container-runtimes at nodes.yaml:10:3"},
        "nvidia.com/gpu.deploy.container-toolkit=false",
        node("a") + node("b", runtime="cri-o://1.33.1", more=OPTED_OUT),
        helm(COMPILED),
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(write_files, run_cli, name):
    nodes, mistake, said, advice, right_nodes, fix = MISTAKES[name]
    root = write_files(
        {"wrong/helm.yaml": mistake, "right/helm.yaml": fix, "wrong/nodes.yaml": nodes, "right/nodes.yaml": right_nodes}
    )

    def check(folder):
        arguments = ["--fail-on", "warning", "--format", "json", "--nodes", root / folder / "nodes.yaml"]
        return run_cli(["check", "--root", root, *arguments, root / folder / "helm.yaml"])

    wrong, right = check("wrong"), check("right")

    assert wrong.code == 1
    assert {
        f"{item['severity']} {item['name']} at {item['primary']['path'].removeprefix('wrong/')}"
        f":{item['primary']['line']}:{item['primary']['column']}"
        for item in wrong.diagnostics
    } == said
    assert advice in " ".join(item["help"] for item in wrong.diagnostics)
    assert (right.code, right.diagnostics) == (0, [])
    assert right.report["summary"]["checkedByKind"]["GPU setups"] == 1
