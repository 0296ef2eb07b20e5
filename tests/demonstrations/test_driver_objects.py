"""One driver for unlike nodes, and two of something that there may be once: the mistake, what is said, the fix.

Pains 1 and 13 of the field. Each case is files that people wrote by hand, with the nodes of their cluster.
"""

from __future__ import annotations

import json

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
DRIVER = """\
apiVersion: nvidia.com/v1alpha1
kind: NVIDIADriver
metadata: {{name: {name}}}
spec: {{driverType: gpu, repository: nvcr.io/nvidia, image: driver, version: {version}, {rest}}}
"""
NODE = """\
- name: {name}
  labels:
    feature.node.kubernetes.io/pci-10de.present: "true"
    feature.node.kubernetes.io/system-os_release.ID: ubuntu
    feature.node.kubernetes.io/system-os_release.VERSION_ID: "{system}"
    nvidia.com/gpu.product: {product}
    eks.amazonaws.com/nodegroup: {group}
{more}"""
A100, V100 = "NVIDIA-A100-SXM4-80GB", "Tesla-V100-SXM2-32GB"
POLICY = "driver: {version: 580.126.20, upgradePolicy: {autoUpgrade: false}}"
OBJECTS = "driver: {nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}"
WITH_DEFAULT = "driver: {nvidiaDriverCRD: {enabled: true}, version: 580.126.20, upgradePolicy: {autoUpgrade: false}}"


def helm(values, release="v26.3.3"):
    return HELM.format(values=values, release=release)


def driver(name, group=None, version="580.126.20", **rest):
    selector = {"nodeSelector": {"eks.amazonaws.com/nodegroup": group}} if group else {}
    return DRIVER.format(name=name, version=version, rest=json.dumps(selector | rest)[1:-1] or "env: []")


def node(name, group, system="22.04", product=A100, adapter=False):
    more = '    feature.node.kubernetes.io/pci-15b3.present: "true"\n' if adapter else ""
    return NODE.format(name=name, group=group, system=system, product=product, more=more)


TWO_SYSTEMS = node("a-1", "a") + node("b-1", "b", system="24.04")
TWO_GENERATIONS = node("a-1", "a", adapter=True) + node("v-1", "v", product=V100)
PARTS = (
    "operator",
    "driver",
    "toolkit",
    "devicePlugin",
    "dcgm",
    "dcgmExporter",
    "gfd",
    "nodeStatusExporter",
    "daemonsets",
)
SECOND = f"""\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {{name: mine}}
spec: {json.dumps({part: {} for part in PARTS} | {"operator": {"defaultRuntime": "containerd"}})}
"""
PLUGIN = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: nvdp, namespace: nvdp}
spec:
  interval: 1h
  chart: {spec: {chart: nvidia-device-plugin, version: 0.17.1, sourceRef: {kind: HelmRepository, name: nvdp}}}
"""
PROVEN = driver("a", "a") + "---\n" + driver("b", "b")

# the nodes, the files with the mistake, what is said and where, the advice, the files corrected
MISTAKES = {
    "nodes of two systems under one ClusterPolicy (NVIDIA/gpu-operator issues 328, 94, 433)": (
        TWO_SYSTEMS,
        {"helm.yaml": helm(POLICY)},
        [("unlike-nodes", "helm.yaml:8:5")],
        "driver.nvidiaDriverCRD.enabled: true",
        {"helm.yaml": helm(OBJECTS), "drivers.yaml": PROVEN},
    ),
    "RDMA for all, and V100 nodes without an adapter stay pending (OCP-on-NERC/nerc-ocp-config pulls 926, 927)": (
        TWO_GENERATIONS,
        {"helm.yaml": helm(POLICY.replace("driver: {", "driver: {rdma: {enabled: true}, "))},
        [("rdma-without-adapter", "helm.yaml:8:21")],
        "`rdma` only where there are adapters",
        {
            "helm.yaml": helm(OBJECTS),
            "drivers.yaml": driver("a", "a", rdma={"enabled": True}) + "---\n" + driver("v", "v"),
        },
    ),
    "a release with a new default driver, and V100 nodes (rwlove/home-ops pull 13690)": (
        TWO_GENERATIONS,
        {"helm.yaml": helm(POLICY.replace("580.126.20", "595.91.07"), "v26.7.0")},
        [("driver-and-gpu", "helm.yaml:8:14")],
        "branch 580 or older",
        {
            "helm.yaml": helm(OBJECTS, "v26.7.0"),
            "drivers.yaml": driver("a", "a", "595.91.07") + "---\n" + driver("v", "v"),
        },
    ),
    "driver objects whose selectors meet on a node (NVIDIA/gpu-operator issue 2282)": (
        TWO_SYSTEMS,
        {
            "helm.yaml": helm(OBJECTS),
            "drivers.yaml": driver("a", "a") + "---\n" + driver("b", nodeSelector={"nvidia.com/gpu.present": "true"}),
        },
        [("refused-driver-objects", "drivers.yaml:9:89")],
        "each another value of it",
        {"helm.yaml": helm(OBJECTS), "drivers.yaml": PROVEN},
    ),
    "the chart's default object beside those of pools (NVIDIA/gpu-operator issue 2259)": (
        TWO_SYSTEMS,
        {"helm.yaml": helm(WITH_DEFAULT), "drivers.yaml": PROVEN},
        [("refused-driver-objects", "helm.yaml:8:32")],
        "driver.nvidiaDriverCRD.deployDefaultCR: false",
        {"helm.yaml": helm(OBJECTS), "drivers.yaml": PROVEN},
    ),
    "an object without a selector, taken along to a release that knows defaults (NVIDIA/gpu-operator pull 2518)": (
        TWO_SYSTEMS,
        {
            "helm.yaml": helm(OBJECTS, "v26.7.0"),
            "drivers.yaml": driver("rest", version="595.91.07") + "---\n" + driver("b", "b", "595.91.07"),
        },
        [("refused-driver-objects", "drivers.yaml:9:88")],
        "write `default: true` in `rest`",
        {
            "helm.yaml": helm(OBJECTS, "v26.7.0"),
            "drivers.yaml": driver("rest", version="595.91.07", default=True) + "---\n" + driver("b", "b", "595.91.07"),
        },
    ),
    "a typo in a selector, so that a node has no driver (NVIDIA/gpu-operator issue 1622)": (
        TWO_SYSTEMS,
        {"helm.yaml": helm(OBJECTS), "drivers.yaml": driver("a", "a") + "---\n" + driver("b", "bb")},
        [("driver-coverage", "nodes.yaml:8:3"), ("driver-coverage", "drivers.yaml:9:89")],
        "has `eks.amazonaws.com/nodegroup: a`, not `bb`",
        {"helm.yaml": helm(OBJECTS), "drivers.yaml": PROVEN},
    ),
    "two ClusterPolicies (NVIDIA/gpu-operator issue 167)": (
        node("a-1", "a"),
        {
            "helm.yaml": helm(POLICY),
            "policy.yaml": SECOND,
        },
        [("several-cluster-policies", "policy.yaml:3:12")],
        "into the values of the chart",
        {"helm.yaml": helm(POLICY)},
    ),
    "two device plugins, and the resource goes with one of them (NVIDIA/k8s-device-plugin issue 255)": (
        node("a-1", "a"),
        {"helm.yaml": helm(POLICY), "plugin.yaml": PLUGIN},
        [("one-device-plugin", "helm.yaml:7:3")],
        "devicePlugin: {enabled: false}",
        {"helm.yaml": helm(POLICY)},
    ),
    "both stacks of one operator, DRA and device plugin (NVIDIA/gpu-operator pull 1541)": (
        node("a-1", "a"),
        {"helm.yaml": helm("{gpuCluster: {deployCR: true}, driver: {nvidiaDriverCRD: {enabled: true}}}", "v26.7.0")},
        [("refused-values", "helm.yaml:8:19")],
        "change one of the values",
        {"helm.yaml": helm(POLICY, "v26.7.0")},
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(write_files, run_cli, name):
    nodes, mistake, said, advice, fix = MISTAKES[name]
    paths = {"nodes.yaml": nodes}
    root = write_files(
        paths
        | {f"wrong/{path}": text for path, text in mistake.items()}
        | {f"right/{path}": text for path, text in fix.items()}
    )

    def check(folder):
        arguments = ["--fail-on", "warning", "--nodes", root / "nodes.yaml", "--release", "v26.7.0", "--format", "json"]
        return run_cli(["check", "--root", root, *arguments, root / folder])

    wrong, right = check("wrong"), check("right")

    found = [
        (
            item["name"],
            f"{item['primary']['path'].removeprefix('wrong/')}:{item['primary']['line']}:{item['primary']['column']}",
        )
        for item in wrong.diagnostics
        if item["severity"] != "note"
    ]
    assert (wrong.code, found) == (1, said)
    assert any(advice in item["help"] for item in wrong.diagnostics)
    assert [item for item in right.diagnostics if item["severity"] != "note"] == []
    assert right.code == 0
    assert right.report["summary"]["checkedByKind"]["GPU setups"] == 1
    assert right.report["summary"]["notEvaluated"] == 0
