"""Every code of the compatibility and value families: a profile that raises it, where, with what advice, and one that does not."""

from __future__ import annotations

import re

import pytest

from poolsmith.core.diagnostics.codes import compatibility, gpu_use, node_software, schema, support
from poolsmith.core.diagnostics.codes.schema import REFUSED_BY_DEFINITION
from poolsmith.gpu.values.registry import VALUE_RULES
from poolsmith.guard.rules.rule_book import find_rule, rule_book
from support.clusters import placed
from support.code_book import entries_of

KATA = {
    "driver": None,
    "workload": "kata",
    "gpu": "{product: NVIDIA-A10, count: 1}",
    "acknowledge": "[{fact: iommu}, {fact: acs}, {fact: nouveau-off}]",
}
SEALED = {
    "driver": None,
    "workload": "kata-confidential",
    "gpu": "{product: H100 SXM5 80GB, count: 8}",
    "sandbox": "{tee: snp}",
}
MANAGER = "vgpuManager: {repository: registry.example.com/vgpu, version: 580.82.07}"
HOST = {**KATA, "workload": "vm-vgpu", "driver": f"{{{MANAGER}}}"}
CDI = {"acknowledge": "[{fact: cdi-runtime}]"}
ERA_LEFT = {"acknowledge": "[{fact: sandbox-era-left}]"}
V24_6, V24_9, V25_3, V25_10, V26_7 = (
    {"stack": f"{{release: {tag}}}"} for tag in ("v24.6.1", "v24.9.2", "v25.3.4", "v25.10.1", "v26.7.0")
)
MANUAL = {"stack": "{kind: device-plugin, release: v0.17.1}"}
PREINSTALLED = {"driver": "{source: preinstalled}"}
A100 = "product: NVIDIA-A100-SXM4-80GB, count: 2"
MIXED = {"acknowledge": "[{fact: mixed-runtimes}]"}
RHEL = {"os": '{id: rhel, version: "9.4"}'}
K3S = {"kubernetes": '{version: "1.33", distribution: k3s}'}
K3S_FOLDER = "/var/lib/rancher/k3s/agent/etc/containerd"
STARTING = "{autoscaled: true, startupTaints: [{key: readiness.k8s.io/gpu, effect: NoSchedule}]}"


def stack(text):
    return {"stack": text}


def claims(more=""):
    return {
        "kubernetes": '{version: "1.34.2", distribution: kubeadm}',
        **stack(f"{{kind: gpu-cluster, release: v26.7.0{more}}}"),
    }


def signed(text):
    return {"delivery": f"{{engine: flux, repoURL: https://git.example.com/gpu.git, verify: {text}}}"}


def values(text):
    return stack(f"{{release: v26.3.3, values: {text}}}")


HERE = ""
"""The place of the finding is marked in the texts."""

# code, cluster, pools, place of the finding, words of its help
FAILING = [
    ("PSM201", stack("{«release: v26.9.9}"), {}, HERE, "the nearest that is known: `v26.7.0`"),
    (
        "PSM201",
        stack("{kind: device-plugin, «release: v0.17.9}"),
        {"a": PREINSTALLED},
        HERE,
        "v0.17.1",
    ),
    (
        "PSM201",
        stack("{kind: device-plugin, release: v0.17.1, dcgmExporter: {«release: 4.1.1}}"),
        {"a": PREINSTALLED},
        HERE,
        "4.1.1-4.0.4",
    ),
    (
        "PSM160",
        MANUAL,
        {"a": {**PREINSTALLED, "gpu": f"{{{A100}, mig: {{«layout: all-1g.10gb}}}}"}},
        HERE,
        "fact: mig-partitions",
    ),
    ("PSM202", {}, {"a": {"os": '{«id: ubunut, version: "22.04"}'}}, HERE, "did you mean `ubuntu`"),
    ("PSM202", {}, {"a": {"os": '{id: ubuntu, «version: "21.10"}'}}, HERE, "os.imageTag"),
    (
        "PSM202",
        {},
        {"a": {"os": "{id: rhel, «version: stream, imageTag: rhelstream}"}},
        HERE,
        "a version like 9.4",
    ),
    (
        "PSM202",
        {},
        {"a": {"os": '{id: rhel, version: "9.4", «imageTag: rhel9}'}},
        HERE,
        "imageTag: rhel9.4",
    ),
    (
        "PSM203",
        {"kubernetes": '{version: "1.33", «distribution: k3z}'},
        {},
        HERE,
        "did you mean `k3s`",
    ),
    (
        "PSM203",
        {"kubernetes": '{version: "1.33", «distribution: openshift}'},
        {},
        HERE,
        "poolsmith check",
    ),
    ("PSM204", {}, {"a": {"gpu": "{«product: A101, count: 1}"}}, HERE, "gpu.architecture"),
    (
        "PSM204",
        {},
        {"a": {"gpu": "{product: A100, count: 1, «architecture: hoper}"}},
        HERE,
        "did you mean `hopper`",
    ),
    (
        "PSM204",
        {},
        {
            "a": {
                **KATA,
                "workload": "vm-passthrough",
                "gpu": "{«product: T999, count: 1, architecture: turing}",
            }
        },
        HERE,
        "gpu.passthroughResource",
    ),
    ("PSM205", {}, {"a": {"runtime": "{«name: podman}"}}, HERE, "containerd"),
    (
        "PSM205",
        {"kubernetes": '{version: "1.33", distribution: k3s}'},
        {"a": {"runtime": "{«name: docker}"}},
        HERE,
        "k3s runs `containerd`",
    ),
    ("PSM130", {}, {"a": {**KATA, "«workload": "vm-vgpu"}}, HERE, "vgpuManager"),
    ("PSM130", {}, {"a": {**HOST, "«arch": "arm64"}}, HERE, "amd64"),
    ("PSM130", {}, {"a": {**HOST, "«secureBoot": "true"}}, HERE, "turn it off"),
    ("PSM130", {}, {"a": {**HOST, "gpu": "{«product: A10G, count: 1}"}}, HERE, "pass it through"),
    (
        "PSM130",
        V25_10,
        {"a": {**HOST, "driver": f"{{{MANAGER}, «kernelModuleConfig: {{name: modules, files: [nvidia.conf]}}}}"}},
        HERE,
        "remove it",
    ),
    ("PSM131", {}, {"a": {**HOST, "gpu": "{product: NVIDIA-A10, count: 1, vgpu: {«layout: A40-12Q}}"}}, HERE, "A10"),
    (
        "PSM207",
        {"kubernetes": '{version: "1.31", distribution: rke2}', **V24_9},
        {},
        "a.yaml:6:3",
        "runtime.config",
    ),
    (
        "PSM207",
        {"kubernetes": '{version: "1.33", distribution: talos}'},
        {"a": {**PREINSTALLED, "«runtime": "{name: containerd, config: /etc/x.toml}"}},
        HERE,
        "runtime.socket",
    ),
    ("PSM208", {"kubernetes": '{version: "1.31", distribution: kubeadm}'}, {}, "a.yaml:5:3", "nothing to do"),
    ("PSM208", V24_6, {}, "cluster.yaml:6:11", "nothing to do"),
    ("PSM209", signed("{}"), {}, "cluster.yaml:7:70", None),
    (
        "PSM210",
        {},
        {"a": {}, "b": {"«os": '{id: ubuntu, version: "24.04"}'}},
        HERE,
        "driverMode: nvidia-driver",
    ),
    (
        "PSM210",
        {},
        {"a": {}, "b": {"driver": "{source: container, «version: 570.124.06}"}},
        HERE,
        "driverMode: nvidia-driver",
    ),
    (
        "PSM211",
        {},
        {
            "a": {
                "driver": "{source: precompiled, «version: 535.183.01}",
                "kernel": "{release: 5.15.0-105-generic}",
            }
        },
        HERE,
        'version: "535"',
    ),
    (
        "PSM211",
        {},
        {"a": {"driver": "{«source: precompiled}", "kernel": "{release: 5.15.0-105-generic}"}},
        HERE,
        'version: "535"',
    ),
    ("PSM211", {}, {"a": {"driver": "{source: container, «version: 535-server}"}}, HERE, "550.90.07"),
    ("PSM211", {}, {"a": {"driver": '{source: container, «version: "535"}'}}, HERE, "550.90.07"),
    ("PSM212", {}, {"a": {"driver": None}}, "a.yaml:4:1", "source: container"),
    ("PSM212", MANUAL, {"a": {"driver": None}}, "a.yaml:4:1", "source: preinstalled"),
    (
        "PSM213",
        {},
        {
            "a": {
                "driver": '{source: precompiled, version: "580", «gdrcopy: true}',
                "kernel": "{release: 5.15.0-105-generic}",
            }
        },
        HERE,
        "source: container",
    ),
    (
        "PSM213",
        {},
        {"a": {"driver": "{source: container, version: 550.163.01, «gds: true}"}},
        HERE,
        "kernelModuleType: open",
    ),
    (
        "PSM213",
        stack("{release: v26.3.3, driverMode: nvidia-driver}"),
        {"a": {"driver": "{source: container, «gds: true}"}},
        HERE,
        "kernelModuleType: open",
    ),
    ("PSM213", V24_9, {"a": {"driver": "{source: container, «gds: true}"}}, HERE, "kernelModuleType: open"),
    (
        "PSM213",
        {},
        {"a": {"driver": "{source: preinstalled, «gdrcopy: true}"}},
        HERE,
        "source: container",
    ),
    (
        "PSM213",
        {},
        {"a": {"driver": "{source: container, «installDir: /opt/nvidia}"}},
        HERE,
        "preinstalled",
    ),
    (
        "PSM213",
        {},
        {"a": {**KATA, "workload": "vm-passthrough", "driver": "{«source: container}"}},
        HERE,
        "remove `driver.source`",
    ),
    ("PSM213", {}, {"a": {"os": '{id: bottlerocket, version: "1.20"}'}}, "a.yaml:8:12", "preinstalled"),
    (
        "PSM213",
        stack("{release: v26.3.3, «driverMode: nvidia-driver}"),
        {"a": PREINSTALLED},
        HERE,
        "remove `driverMode`",
    ),
    (
        "PSM214",
        V24_9,
        {
            "a": {
                "gpu": "{product: GH200 96GB (120/480GB), count: 1}".replace(
                    "GH200 96GB (120/480GB)", "NVIDIA-GH200-480GB"
                )
            }
        },
        "a.yaml:7:9",
        "kernelModuleType: open",
    ),
    (
        "PSM214",
        {},
        {
            "a": {
                "gpu": "{product: V100 PCIE 32GB, count: 1, architecture: volta}",
                "driver": "{source: container, version: 570.124.06, «kernelModuleType: open}",
            }
        },
        HERE,
        "proprietary",
    ),
    (
        "PSM215",
        {},
        {
            "a": {
                "gpu": "{product: X, count: 1, architecture: pascal}",
                "driver": "{source: container, «version: 595.91.07}",
            }
        },
        HERE,
        "580",
    ),
    ("PSM216", {}, {"a": {"driver": '{«source: precompiled, version: "580"}'}}, HERE, "uname -r"),
    ("PSM220", {}, {"a": {}, "b": {"runtime": "{«name: cri-o}"}}, HERE, "acknowledge: [{fact: mixed-runtimes"),
    ("PSM221", {}, {"a": {"toolkit": "{«source: overlay}"}}, HERE, "source: auto"),
    (
        "PSM221",
        values("{cdi: {enabled: true}}"),
        {"a": {}, "b": {"toolkit": "{«source: preinstalled}"}},
        HERE,
        "CDI is then off",
    ),
    (
        "PSM221",
        {},
        {"a": {**KATA, "workload": "vm-passthrough", "toolkit": "{«source: operator}"}},
        HERE,
        "remove `toolkit.source`",
    ),
    (
        "PSM221",
        {},
        {"a": {**PREINSTALLED, "os": '{id: bottlerocket, version: "1.20"}', "toolkit": "{«source: operator}"}},
        HERE,
        "source: auto",
    ),
    (
        "PSM222",
        {},
        {"a": {"runtime": '{name: containerd, «version: "1.7.2"}'}},
        HERE,
        "upgrade containerd to 1.7.16",
    ),
    (
        "PSM222",
        {"kubernetes": '{version: "1.33", distribution: k3s}'},
        {"a": {"runtime": '{name: containerd, «version: "1.7.27"}'}},
        HERE,
        "2.0",
    ),
    ("PSM223", MIXED, {"a": {}, "b": {"runtime": "{«name: docker}"}}, HERE, "one runtime"),
    ("PSM223", V24_9, {"a": {"runtime": "{name: docker}"}, "b": {"runtime": "{«name: cri-o}"}}, HERE, "one"),
    ("PSM224", {}, {"a": {"runtime": '{name: containerd, «version: "2.1"}'}}, HERE, "runtime.configVersion"),
    (
        "PSM224",
        {},
        {"a": {"runtime": '{name: containerd, version: "1.7.27", «configVersion: 3}'}},
        HERE,
        "configVersion: 2",
    ),
    ("PSM225", V24_6, {"a": {"runtime": '{name: containerd, «version: "2.0"}'}}, HERE, "1.17.4"),
    (
        "PSM225",
        stack("{release: v24.9.2, values: {toolkit: {«version: v1.17.3-ubuntu20.04}}}"),
        {"a": {"runtime": '{name: containerd, version: "2.0"}'}},
        HERE,
        "1.17.4",
    ),
    (
        "PSM226",
        MIXED,
        {"a": RHEL, "b": {**RHEL, "runtime": "{«name: cri-o}"}},
        HERE,
        "subscribe",
    ),
    ("PSM226", {**V25_3, **MIXED}, {"a": {}, "b": {"runtime": "{«name: docker}"}}, HERE, "cri-dockerd"),
    (
        "PSM227",
        K3S,
        {"a": {"runtime": f"{{name: containerd, config: {K3S_FOLDER}/config.toml.tmpl}}"}},
        "a.yaml:6:31",
        "remove",
    ),
    ("PSM227", K3S, {"a": {"runtime": "{name: containerd, «socket: /run/containerd.sock}"}}, HERE, "remove"),
    (
        "PSM227",
        K3S,
        {"a": {"runtime": "{name: containerd, «config: /data/containerd/config.toml}"}},
        HERE,
        "dropIn: /data/containerd/config-v3.toml.d/99-nvidia.toml",
    ),
    (
        "PSM228",
        values("{cdi: {nriPluginEnabled: true}}"),
        {"a": {"runtime": '{name: containerd, «version: "2.0.4"}'}},
        HERE,
        "2.1 and later",
    ),
    ("PSM228", values("{cdi: {nriPluginEnabled: true}}"), {"a": {"runtime": "{«name: docker}"}}, HERE, "cri-o"),
    ("PSM140", {**claims(), "kubernetes": '{«version: "1.33", distribution: kubeadm}'}, {"a": CDI}, HERE, "1.34.2"),
    ("PSM141", claims(", «upgradingFrom: v26.3.3"), {"a": CDI}, HERE, "a new cluster"),
    ("PSM142", claims(", draDriver: {featureGates: {«DynamicMig: true}}"), {"a": CDI}, HERE, "DynamicMIG"),
    ("PSM143", claims(), {"a": {**CDI, "gpu": "{product: L40S, count: 1, «multiNodeNvlink: true}"}}, HERE, "GB200"),
    ("PSM190", stack("{release: v26.3.3, «upgradingFrom: v25.10.1}"), {"a": KATA}, HERE, "uninstall kata-deploy"),
    ("PSM230", V24_6, {"a": KATA}, "a.yaml:8:3", "pin one of v26.3.0"),
    (
        "PSM231",
        V24_9,
        {"a": KATA, "b": {**KATA, "«workload": "vm-passthrough"}},
        HERE,
        "cluster of its own",
    ),
    ("PSM231", V24_9, {"a": {**KATA, "runtime": "{«name: cri-o}"}}, HERE, "containerd"),
    ("PSM231", V24_9, {"a": {**KATA, "sandbox": "{«runtimeClass: nvidia}"}}, HERE, "another name"),
    ("PSM231", V24_9, {"a": {**KATA, "runtime": "{name: containerd, «config: /opt/c.toml}"}}, HERE, "/etc/containerd"),
    ("PSM231", V25_3, {"a": {**KATA, "«arch": "arm64"}}, HERE, "amd64"),
    ("PSM231", V24_9, {"a": {**KATA, "sandbox": "{«gpusPerPod: 2}"}}, HERE, "gpusPerPod: 1"),
    ("PSM231", {}, {"a": {**KATA, "sandbox": "{«gpusPerPod: 2}"}}, HERE, "up to 1"),
    ("PSM231", {}, {"a": {**KATA, "sandbox": "{«runtimeClass: kata-nvidia-gpu}"}}, HERE, "kata-qemu-nvidia-gpu"),
    ("PSM231", {}, {"a": {**KATA, "«arch": "arm64"}}, HERE, "amd64"),
    (
        "PSM231",
        {"kubernetes": '{version: "1.33", distribution: talos}'},
        {"a": {**KATA, "os": '{«id: talos, version: "1.13"}'}},
        HERE,
        "another system",
    ),
    ("PSM231", {}, {"a": {**KATA, "sandbox": "{«tee: snp}"}}, HERE, "kata-confidential"),
    ("PSM231", {}, {"a": {**KATA, "sandbox": '{«ccMode: "on"}'}}, HERE, "kata-confidential"),
    ("PSM231", {}, {"a": {**SEALED, "sandbox": None}}, "a.yaml:8:3", "tee: snp"),
    ("PSM231", V25_10, {"a": {**SEALED, "sandbox": "{«tee: tdx}"}}, HERE, "snp"),
    ("PSM231", {}, {"a": {**SEALED, "sandbox": '{tee: snp, «ccMode: "off"}'}}, HERE, 'ccMode: "on"'),
    ("PSM231", {}, {"a": {**SEALED, "sandbox": "{tee: snp, «ccMode: devtools}"}}, HERE, "ppcie"),
    ("PSM231", {}, {"a": {**SEALED, "gpu": "{«product: NVIDIA-A10, count: 1}"}}, HERE, "hopper"),
    ("PSM231", V24_9, {"a": {**SEALED, "gpu": "{«product: H200 NVL, count: 1}"}}, HERE, "v26.3.0"),
    ("PSM231", {}, {"a": {**SEALED, "sandbox": "{tee: snp, «gpusPerPod: 4}"}}, HERE, "gpusPerPod: 8"),
    ("PSM231", {}, {"a": {**SEALED, "«sandbox": "{tee: snp, gpusPerPod: 8}"}}, HERE, "ccMode: ppcie"),
    ("PSM231", {}, {"a": {**SEALED, "sandbox": "{tee: snp, «ccMode: ppcie}"}}, HERE, 'ccMode: "on"'),
    ("PSM231", stack("{release: v25.3.4, «upgradingFrom: v24.9.2}"), {"a": KATA}, HERE, "a new cluster"),
    (
        "PSM231",
        {},
        {"a": {**KATA, "workload": "vm-passthrough", "«sharing": "{mps: {replicas: 2}}"}},
        HERE,
        "remove `sharing`",
    ),
    (
        "PSM231",
        {},
        {
            "a": {
                **KATA,
                "workload": "vm-passthrough",
                "gpu": "{product: A30, count: 1, mig: {«layout: all-1g.6gb}}",
            }
        },
        HERE,
        "remove `gpu.mig`",
    ),
    (
        "PSM232",
        V24_9,
        {"a": {**KATA, "acknowledge": "[{fact: iommu}]"}},
        "a.yaml:8:3",
        "acknowledge: [{fact: acs}, {fact: nouveau-off}]",
    ),
    ("PSM233", V24_9, {"a": {}, "b": KATA}, "b.yaml:8:3", "delete driver pods"),
    ("PSM248", {}, {"a": PREINSTALLED, "b": {}}, "a.yaml:3:12", "nodes.names"),
    (
        "PSM240",
        {},
        {"a": {"gpu": "{product: A100 SXM4 80GB, count: 1, mig: {«layout: all-1g.11gb}}"}},
        HERE,
        "did you mean `all-1g.1",
    ),
    (
        "PSM240",
        {},
        {"a": {"gpu": "{product: A10, count: 1, mig: {«layout: all-1g.10gb}}"}},
        HERE,
        "timeSlicing",
    ),
    (
        "PSM240",
        {},
        {"a": {"gpu": "{product: A30, count: 1, mig: {«layout: all-1g.10gb}}"}},
        HERE,
        "its profiles",
    ),
    (
        "PSM240",
        {},
        {
            "a": {
                "gpu": "{product: A30, count: 2, mig: {layout: own, devices: [{«devices: [2], migDevices: {1g.6gb: 4}}]}}"
            }
        },
        HERE,
        "below `gpu.count`",
    ),
    (
        "PSM240",
        {},
        {"a": {"gpu": "{product: A30, count: 2, mig: {layout: own, devices: [{«devices: some}]}}"}},
        HERE,
        "devices: all",
    ),
    (
        "PSM240",
        {},
        {"a": {"gpu": "{product: A30, count: 2, mig: {layout: own, devices: [{migDevices: {«1g.7gb: 1}}]}}"}},
        HERE,
        "1g.6gb",
    ),
    (
        "PSM240",
        {},
        {"a": {"gpu": "{product: A30, count: 2, mig: {«layout: all-1g.6gb, devices: [{migDevices: {1g.6gb: 4}}]}}"}},
        HERE,
        "call it `a`",
    ),
    (
        "PSM240",
        {},
        {
            "a": {
                "gpu": "{product: A30, count: 2, mig: {layout: own, devices: [{devices: all, migDevices: {1g.6gb: 4}}, "
                "{«devices: [1], migEnabled: false}]}}"
            }
        },
        HERE,
        "each GPU in one group",
    ),
    (
        "PSM240",
        stack("{release: v25.3.4}"),
        {"a": {"gpu": "{product: H200 NVL, count: 2, mig: {«layout: all-1g.24gb}}"}},
        HERE,
        "its profiles",
    ),
    (
        "PSM240",
        stack("{release: v25.3.4}"),
        {"a": {"gpu": "{product: H100 SXM5 94GB, count: 2, mig: {«layout: all-balanced}}"}},
        HERE,
        "another name",
    ),
    (
        "PSM150",
        {},
        {
            "a": {
                "gpu": "{product: A30, count: 2, mig: {layout: own, «devices: [{devices: [1], migDevices: "
                "{1g.6gb: 4}}]}}"
            }
        },
        HERE,
        "migEnabled: false",
    ),
    (
        "PSM150",
        {},
        {
            "a": {
                "gpu": "{product: A30, count: 2, mig: {layout: own, devices: [{devices: all, migDevices: {1g.6gb: 4}}, "
                "{«devices: [1], migDevices: {2g.12gb: 2}}]}}"
            }
        },
        HERE,
        "each GPU in one group",
    ),
    (
        "PSM241",
        {},
        {"a": {"sharing": "{timeSlicing: {replicas: 2}, «mps: {replicas: 2}}"}},
        HERE,
        "keep one",
    ),
    (
        "PSM241",
        {},
        {
            "a": {
                "gpu": "{product: A30, count: 1, mig: {layout: all-1g.6gb}}",
                "sharing": "{«mps: {replicas: 2}}",
            }
        },
        HERE,
        "timeSlicing",
    ),
    (
        "PSM241",
        {},
        {"a": {"sharing": "{timeSlicing: {replicas: 2, «resource: nvidia.com/mig-1g.10gb}}"}},
        HERE,
        "nvidia.com/gpu",
    ),
    ("PSM241", {}, {"default": {"sharing": "{timeSlicing: {replicas: 2}}"}}, "default.yaml:3:12", "rename"),
    ("PSM243", {}, {"a": {"nodes": "{«autoscaled: true}"}}, HERE, "startupTaints: [{key: readiness.k8s.io/"),
    (
        "PSM243",
        {"kubernetes": '{version: "1.33", distribution: aks}'},
        {"a": {"nodes": "{«autoscaled: true}"}},
        HERE,
        "startup-taint.cluster-autoscaler.kubernetes.io/",
    ),
    (
        "PSM244",
        {"kubernetes": '{version: "1.33", distribution: gke}'},
        {"a": {"nodes": "{autoscaled: true, startupTaints: [{«key: example.com/x, effect: NoSchedule}]}"}},
        HERE,
        "startup-taint.cluster-autoscaler.kubernetes.io/",
    ),
    (
        "PSM245",
        {},
        {"a": {"nodes": "{taints: [{key: x, effect: NoSchedule}, «{key: x, value: b, effect: NoSchedule}]}"}},
        HERE,
        "keep one",
    ),
    (
        "PSM245",
        {},
        {
            "a": {
                "nodes": "{taints: [{key: x, effect: NoSchedule}], startupTaints: [«{key: x, value: b, effect: NoSchedule}]}"
            }
        },
        HERE,
        "keep one",
    ),
    (
        "PSM246",
        V24_9,
        {"a": {**KATA, "nodes": "{taints: [«{key: nvidia.com/gpu, effect: NoSchedule}]}"}},
        HERE,
        "once Kata is installed",
    ),
    ("PSM247", {}, {"a": {"nodes": "{autoscaled: true, «names: [n1]}"}}, HERE, "let the provisioner"),
    (
        "PSM209",
        {"delivery": '{engine: flux, repoURL: "https://git.example.com/gpu.git", «verify: {mode: HEAD}}'},
        {"a": {}},
        HERE,
        "name one in `secret`",
    ),
    ("PSM250", {}, {"a": {}, "b": {"nodes": "{«labelValue: a}"}}, HERE, "another nodes.labelValue"),
    (
        "PSM250",
        {},
        {"a": {"nodes": '{names: ["n[1-3]"]}'}, "b": {"nodes": "{«names: [n2]}"}},
        HERE,
        "one pool",
    ),
    (
        "PSM251",
        {},
        {
            "a": {"runtime": "{name: containerd, «config: /etc/a.toml}"},
            "b": {"runtime": "{name: containerd, config: /etc/b.toml}"},
        },
        HERE,
        "same path",
    ),
    (
        "PSM251",
        {},
        {"a": {"driver": "{source: preinstalled, «installDir: /opt/a}"}, "b": PREINSTALLED},
        HERE,
        "cluster of its own",
    ),
    (
        "PSM251",
        {},
        {
            "a": {"driver": "{source: container, upgradePolicy: {maxParallelUpgrades: 2}}"},
            "b": {"driver": "{source: container, «upgradePolicy: {maxParallelUpgrades: 3}}"},
        },
        HERE,
        "same policy",
    ),
    (
        "PSM251",
        {},
        {
            name: {
                "gpu": f"{{product: A30, count: 1, mig: {{layout: own, devices: [{{migDevices: {{1g.6gb: {count}}}}}]}}}}"
            }
            for name, count in (("a", 4), ("b", 2))
        },
        "b.yaml:7:39",
        "another name",
    ),
    (
        "PSM251",
        V24_9,
        {
            "a": {**KATA, "sandbox": "{artifacts: example.com/a}"},
            "b": {**KATA, "sandbox": "{«artifacts: example.com/b}"},
        },
        HERE,
        "sandbox.runtimeClass",
    ),
    (
        "PSM252",
        MANUAL,
        {"a": {**PREINSTALLED, "nodes": "{«names: [n1]}"}},
        HERE,
        "provider: external",
    ),
    ("PSM253", {"«poolLabel": "nvidia.com/pool"}, {}, HERE, "prefix of your own"),
    ("PSM253", {"«poolLabel": "node.kubernetes.io/pool"}, {}, HERE, "prefix of your own"),
    ("PSM253", {"«poolLabel": "nvidia.com/gpu.product"}, {}, HERE, "prefix of your own"),
    (
        "PSM253",
        {"«poolLabel": "eks.amazonaws.com/nodegroup"},
        {"a": {"nodes": "{names: [n1]}"}},
        HERE,
        "prefix of your own",
    ),
    (
        "PSM253",
        {},
        {"a": {"nodes": "{taints: [{«key: node.kubernetes.io/not-ready, effect: NoSchedule}]}"}},
        HERE,
        "a key of your own",
    ),
    ("PSM254", MANUAL, {"a": {}}, "a.yaml:8:12", "kind: operator"),
    (
        "PSM254",
        MANUAL,
        {"a": {**PREINSTALLED, "«workload": "kata"}},
        HERE,
        "kind: operator",
    ),
    (
        "PSM254",
        stack("{kind: device-plugin, release: v0.17.1, «driverMode: nvidia-driver}"),
        {"a": PREINSTALLED},
        HERE,
        "remove `driverMode`",
    ),
    (
        "PSM254",
        stack("{kind: device-plugin, release: v0.17.1, «values: {a: 1}}"),
        {"a": PREINSTALLED},
        HERE,
        "remove `values`",
    ),
    (
        "PSM255",
        {**V24_9, "registry": "{mirrors: {«quay.io: registry.example.com}}"},
        {"a": KATA},
        HERE,
        "mirror that repository as well",
    ),
    (
        "PSM301",
        values("{toolkit: {«enbaled: true}}"),
        {},
        HERE,
        "did you mean `toolkit.enabled`",
    ),
    ("PSM301", values("{«enabled: true, nodeSelector: {x: y}}"), {}, HERE, "this release reads it at"),
    (
        "PSM302",
        values("{operator: {«upgradeCRD: true}}"),
        {},
        HERE,
        "remove it from stack.values",
    ),
    (
        "PSM302",
        values('{driver: {«usePrecompiled: true, version: "580"}}'),
        {"a": {"driver": "{source: container}"}},
        HERE,
        "remove it from stack.values",
    ),
    (
        "PSM332",
        values("{devicePlugin: {env: [{«name: PASS_DEVICE_SPEC, value: 'true'}]}}"),
        {},
        HERE,
        "did you mean `PASS_DEVICE_SPECS`",
    ),
    (
        "PSM337",
        values("{devicePlugin: {args: [«--pass-device-specs]}}"),
        {},
        HERE,
        "set `PASS_DEVICE_SPECS` in `devicePlugin.env` instead",
    ),
    ("PSM303", values('{dcgm: {«enabled: "ture"}}'), {}, HERE, "write a boolean"),
    ("PSM320", values("{driver: {«useOpenKernelModules: true}}"), {}, HERE, "driver.kernelModuleType"),
    ("PSM320", values("{operator: {«defaultRuntime: crio}}"), {}, HERE, "remove it"),
    ("PSM321", values("{dcgm: {«tolerations: []}}"), {}, HERE, "daemonsets.tolerations"),
    ("PSM322", values("{«draDriver: {computeDomains: {enabled: true}}}"), {}, HERE, "pin v26.7.0"),
    ("PSM323", values("{ccManager: {«defaultMode: devtool}}"), {}, HERE, "did you mean `devtools`"),
    ("PSM324", values("{dcgm: {«version: 4}}"), {}, HERE, "quote it"),
    ("PSM324", values("{hostPaths: {«rootFS: 4.10}}"), {}, HERE, "quote it"),
    (
        "PSM325",
        values('{migManager: {config: {data: {a: "b: 1\\nb: 2"}}}}'),
        {},
        "cluster.yaml:6:67",
        "correct the text",
    ),
    ("PSM326", values("{cdi: {«nriPluginEnabled: true, enabled: false}}"), {}, HERE, "change one"),
    ("PSM329", values('{operator: {«priorityClassName: "a\\nhostPID: true"}}'), {}, HERE, None),
    (
        "PSM327",
        values("{node-feature-discovery: {worker: {«tolerations: [{key: a, operator: Exists}]}}}"),
        {},
        HERE,
        "nvidia.com/gpu",
    ),
    ("PSM304", values("{dcgmExporter: {«enabled: true}}"), {}, HERE, "remove it"),
    (
        "PSM256",
        {"delivery": "{engine: flux, «repoURL: git@git.example.com:gpu.git}"},
        {},
        HERE,
        "delivery.sourceRef",
    ),
    ("PSM217", {}, {"a": {"«secureBoot": "true"}}, HERE, "precompiled"),
    (
        "PSM257",
        {"delivery": "{engine: flux, repoURL: https://git.example.com/gpu.git, «project: gpu}"},
        {},
        HERE,
        "engine: argocd",
    ),
    ("PSM171", V25_10, {}, "cluster.yaml:6:11", "26.7"),
    ("PSM171", {}, {"a": {"driver": "{source: container, «version: 550.163.01}"}}, HERE, "branch"),
    (
        "PSM910",
        {},
        {"a": {"driver": '{source: precompiled, version: "580"}', "kernel": "{«release: 5.15.0-105}"}},
        HERE,
        "`5.15.0-105-generic`",
    ),
    ("PSM911", {}, {"a": {"driver": "{source: container, «version: 999.1.2}"}}, HERE, "vendor's list"),
    ("PSM911", {}, {"a": {"driver": "{source: container, «version: 581.10.01}"}}, HERE, "vendor's list"),
    ("PSM172", stack("{release: v25.10.1, «upgradingFrom: v24.9.2}"), {}, HERE, "pin v25.3.4 first"),
    ("PSM172", stack("{release: v26.7.0, «upgradingFrom: v25.3.0}"), {}, HERE, "v25.3.0, v25.10.1, v26.3.3, v26.7.0"),
    ("PSM170", stack("{«release: v25.3.0}"), {}, HERE, "v26.3.2"),
    ("PSM170", stack("{release: v26.7.0, values: {toolkit: {«version: v1.17.7}}}"), {}, HERE, "v1.19.1"),
    ("PSM170", {}, {"a": {"toolkit": "{source: preinstalled, «version: 1.17.7-1}"}}, HERE, "v1.19.1"),
    ("PSM170", MANUAL, {"a": {**PREINSTALLED, "toolkit": "{source: preinstalled, «version: 1.16.0}"}}, HERE, "v1.19.1"),
    ("PSM225", MANUAL, {"a": {**PREINSTALLED, "toolkit": "{source: preinstalled, «version: 1.6.0}"}}, HERE, "1.7.0"),
    ("PSM241", {}, {"a": {"sharing": "{mps: {«replicas: 49}}"}}, HERE, "replicas: 48"),
    (
        "PSM241",
        {},
        {"a": {"gpu": "{product: V100, count: 4}", "sharing": "{mps: {«replicas: 17}}"}},
        HERE,
        "replicas: 16",
    ),
    (
        "PSM257",
        {},
        {"a": {"arch": "arm64", "gpu": "{product: GB200, count: 4, «multiNodeNvlink: true}"}},
        HERE,
        "`dra-driver-nvidia-gpu`",
    ),
    (
        "PSM257",
        V26_7,
        {"a": {"arch": "arm64", "gpu": "{product: GB200, count: 4, «multiNodeNvlink: true}"}},
        HERE,
        "kind: gpu-cluster",
    ),
    ("PSM257", {}, {"a": {"driver": "{source: container, «rdma: true}"}}, HERE, "nic: mellanox"),
    ("PSM257", {}, {"a": {"sandbox": "{«runtimeClass: x}"}}, HERE, "workload"),
    (
        "PSM257",
        {},
        {"a": {"nodes": "{startupTaints: [{key: x, «effect: PreferNoSchedule}]}"}},
        HERE,
        "effect: NoSchedule",
    ),
    ("PSM257", {}, {"a": {"toolkit": "{«version: 1.17.8-1}"}}, HERE, "preinstalled"),
    ("PSM257", V25_3, {"a": {"runtime": "{name: containerd, «dropIn: /opt/d.toml}"}}, HERE, "runtime.dropIn"),
    ("PSM257", {}, {"a": {"runtime": "{name: cri-o, «socket: /run/crio.sock}"}}, HERE, "runtime.socket"),
    (
        "PSM258",
        {"«stack": '{release: v26.7.0, values: {toolkit: {repository: ""}}}'},
        {"a": {"runtime": '{name: containerd, version: "2.1"}'}},
        HERE,
        "",
    ),
    (
        "PSM259",
        {"stack": "{release: v26.7.0, values: {toolkit: {«enabled: false}}}"},
        {},
        HERE,
        "let the pools' profiles decide",
    ),
    (
        "PSM259",
        {"stack": "{release: v24.6.1, values: {toolkit: {«enabled: false}}}"},
        {"a": RHEL},
        HERE,
        "let the pools' profiles decide",
    ),
    ("PSM259", values("{driver: {«enabled: false}}"), {}, HERE, "let the pools' profiles decide"),
    ("PSM259", values("{devicePlugin: {«enabled: false}}"), {}, HERE, "let the pools' profiles decide"),
]

OF_THE_PREDICTION = ("PSM258", "PSM259", "PSM329")

# code, cluster, pools: the nearest profile that is sound
PASSING = [
    (
        "PSM160",
        MANUAL,
        {
            "a": {
                **PREINSTALLED,
                "gpu": f"{{{A100}, mig: {{layout: all-1g.10gb}}}}",
                "acknowledge": "[{fact: mig-partitions}]",
            }
        },
    ),
    ("PSM201", MANUAL, {"a": PREINSTALLED}),
    ("PSM202", {}, {"a": {"os": '{id: mylinux, version: "7", imageTag: mylinux7}'}}),
    (
        "PSM203",
        {"kubernetes": '{version: "1.33", distribution: k3s}'},
        {"a": {"runtime": '{name: containerd, version: "2.1"}'}},
    ),
    ("PSM204", {}, {"a": {"gpu": "{product: A101, count: 1, architecture: ampere}"}}),
    (
        "PSM204",
        {},
        {
            "a": {
                **KATA,
                "workload": "vm-passthrough",
                "gpu": "{product: T999, count: 1, architecture: turing, passthroughResource: nvidia.com/T999}",
            }
        },
    ),
    ("PSM205", {}, {"a": {"runtime": "{name: cri-o}"}}),
    ("PSM130", {}, {"a": HOST}),
    ("PSM140", claims(), {"a": CDI}),
    ("PSM141", claims(), {"a": CDI}),
    ("PSM142", claims(", draDriver: {featureGates: {DynamicMIG: true}}"), {"a": CDI}),
    ("PSM143", claims(), {"a": {**CDI, "gpu": "{product: GB200, count: 1, multiNodeNvlink: true}", "arch": "arm64"}}),
    ("PSM131", {}, {"a": {**HOST, "gpu": "{product: NVIDIA-A10, count: 1, vgpu: {layout: A10-12Q}}"}}),
    (
        "PSM207",
        {"kubernetes": '{version: "1.31", distribution: rke2}', **V24_9},
        {"a": {"runtime": "{name: containerd, config: /etc/c.toml, socket: /run/c.sock}"}},
    ),
    ("PSM207", {"kubernetes": '{version: "1.33", distribution: rke2}', **V26_7}, {"a": {}}),
    ("PSM208", {}, {"a": {}}),
    ("PSM209", signed("{secret: release-keys}"), {"a": {}}),
    (
        "PSM210",
        stack("{release: v26.3.3, driverMode: nvidia-driver}"),
        {"a": {}, "b": {"os": '{id: ubuntu, version: "24.04"}'}},
    ),
    (
        "PSM211",
        {},
        {"a": {"driver": '{source: precompiled, version: "535"}', "kernel": "{release: 5.15.0-105-generic}"}},
    ),
    ("PSM212", {}, {"a": {"driver": None, "os": '{id: bottlerocket, version: "1.20"}'}}),
    ("PSM213", {}, {"a": {"driver": "{source: container, gds: true, kernelModuleType: open}"}}),
    ("PSM213", {}, {"a": {"driver": "{source: container, gds: true}"}}),
    ("PSM214", {}, {"a": {"gpu": "{product: NVIDIA-GH200-480GB, count: 1}"}}),
    (
        "PSM215",
        {},
        {
            "a": {
                "gpu": "{product: X, count: 1, architecture: pascal}",
                "driver": "{source: container, version: 580.126.20}",
            }
        },
    ),
    (
        "PSM216",
        {},
        {"a": {"driver": '{source: precompiled, version: "580"}', "kernel": "{release: 5.15.0-105-generic}"}},
    ),
    ("PSM220", {}, {"a": {}, "b": {}}),
    ("PSM220", MIXED, {"a": {}, "b": {"runtime": "{name: cri-o}"}}),
    ("PSM221", V25_3, {"a": {}, "b": {"toolkit": "{source: preinstalled}"}}),
    ("PSM221", MIXED, {"a": {}, "b": {"runtime": "{name: cri-o}", "toolkit": "{source: overlay}"}}),
    ("PSM222", {}, {"a": {"runtime": '{name: containerd, version: "1.7.16"}'}}),
    ("PSM222", {}, {"a": {"runtime": '{name: containerd, version: "1.7"}'}}),
    ("PSM223", {**V25_3, **MIXED}, {"a": {}, "b": {"runtime": "{name: docker}"}}),
    ("PSM224", {}, {"a": {"runtime": '{name: containerd, version: "2.1", configVersion: 2}'}}),
    (
        "PSM224",
        {"kubernetes": '{version: "1.33", distribution: aks}'},
        {"a": {"runtime": '{name: containerd, version: "2.3"}'}},
    ),
    ("PSM225", V24_6, {"a": {"runtime": '{name: containerd, version: "2.0", configVersion: 2}'}}),
    ("PSM225", V24_6, {"a": {"runtime": '{name: containerd, version: "1.7"}'}}),
    ("PSM226", MIXED, {"a": {}, "b": {"runtime": "{name: cri-o}"}}),
    ("PSM226", MIXED, {"a": PREINSTALLED, "b": {**RHEL, **PREINSTALLED, "runtime": "{name: cri-o}"}}),
    ("PSM227", K3S, {"a": {"runtime": f"{{name: containerd, config: {K3S_FOLDER}/config.toml}}"}}),
    ("PSM228", values("{cdi: {nriPluginEnabled: true}}"), {"a": {"runtime": '{name: containerd, version: "2.1"}'}}),
    ("PSM190", {**stack("{release: v26.3.3, upgradingFrom: v25.10.1}"), **ERA_LEFT}, {"a": KATA}),
    ("PSM190", stack("{release: v26.7.0, upgradingFrom: v26.3.3}"), {"a": KATA}),
    ("PSM230", V24_9, {"a": KATA}),
    ("PSM231", V24_9, {"a": KATA, "b": {}}),
    ("PSM231", {}, {"a": SEALED, "b": KATA, "c": {}}),
    ("PSM231", {}, {"a": {**SEALED, "sandbox": "{tee: tdx, gpusPerPod: 8, ccMode: ppcie}"}}),
    (
        "PSM232",
        V24_9,
        {
            "a": {
                **KATA,
                "acknowledge": "[{fact: acs}]",
                "kernel": "{args: [amd_iommu=on, modprobe.blacklist=nouveau]}",
            }
        },
    ),
    ("PSM233", V24_9, {"a": KATA, "b": PREINSTALLED}),
    (
        "PSM240",
        {},
        {
            "a": {
                "gpu": "{product: A100 SXM4 80GB, count: 2, mig: {layout: own, devices: [{devices: [0, 1], migDevices: {1g.10gb: 7}}]}}"
            }
        },
    ),
    (
        "PSM150",
        {},
        {
            "a": {
                "gpu": "{product: A30, count: 2, mig: {layout: own, devices: [{devices: [0], migEnabled: false}, "
                "{devices: [1], migDevices: {1g.6gb: 4}}]}}"
            }
        },
    ),
    ("PSM241", {}, {"a": {"sharing": "{mps: {replicas: 2}}"}}),
    ("PSM243", {}, {"a": {"nodes": STARTING}}),
    (
        "PSM244",
        {"kubernetes": '{version: "1.33", distribution: gke}'},
        {"a": {"nodes": STARTING.replace("readiness.k8s.io", "startup-taint.cluster-autoscaler.kubernetes.io")}},
    ),
    ("PSM244", {}, {"a": {"nodes": STARTING}}),
    (
        "PSM245",
        {},
        {"a": {"nodes": "{taints: [{key: x, effect: NoSchedule}, {key: x, effect: NoExecute}]}"}},
    ),
    ("PSM246", V24_9, {"a": {**KATA, "nodes": "{taints: [{key: x, effect: PreferNoSchedule}]}"}}),
    ("PSM248", {}, {"a": {**PREINSTALLED, "nodes": "{names: [n1]}"}, "b": {}}),
    (
        "PSM209",
        {"delivery": '{engine: flux, repoURL: "https://git.example.com/gpu.git", verify: {mode: HEAD, secret: keys}}'},
        {"a": {}},
    ),
    ("PSM247", {}, {"a": {"nodes": "{names: [n1]}"}}),
    ("PSM250", {}, {"a": {"nodes": '{names: ["n[1-3]"]}'}, "b": {"nodes": "{names: [n4]}"}}),
    ("PSM251", {}, {name: {"driver": "{source: preinstalled, installDir: /opt/a}"} for name in ("a", "b")}),
    ("PSM252", {**MANUAL, "nfd": "{provider: external}"}, {"a": {**PREINSTALLED, "nodes": "{names: [n1]}"}}),
    ("PSM253", {"poolLabel": "example.com/pool"}, {"a": {}}),
    ("PSM253", {"poolLabel": "eks.amazonaws.com/nodegroup"}, {"a": {}}),
    ("PSM254", MANUAL, {"a": PREINSTALLED}),
    (
        "PSM255",
        {"registry": "{mirrors: {registry.k8s.io: registry.example.com}}"},
        {"a": {}},
    ),
    ("PSM301", values("{toolkit: {enabled: false}, node-feature-discovery: {nameOverride: x}}"), {"a": {}}),
    ("PSM302", values("{operator: {upgradeCRD: false}}"), {"a": {}}),
    ("PSM332", values("{devicePlugin: {env: [{name: PASS_DEVICE_SPECS, value: 'true'}]}}"), {"a": {}}),
    ("PSM337", values("{gfd: {args: [--oneshot]}}"), {"a": {}}),
    ("PSM303", values('{dcgm: {version: "4", enabled: "true"}}'), {"a": {}}),
    ("PSM320", values("{operator: {cleanupCRD: true}}"), {"a": {}}),
    ("PSM321", values("{dcgm: {resources: {limits: {cpu: 1}}}}"), {"a": {}}),
    ("PSM322", {"stack": "{release: v26.7.0, values: {draDriver: {computeDomains: {enabled: true}}}}"}, {"a": {}}),
    ("PSM323", values("{daemonsets: {updateStrategy: OnDelete}}"), {"a": {}}),
    ("PSM324", values('{dcgm: {version: "4"}}'), {"a": {}}),
    ("PSM325", values('{migManager: {config: {data: {a: "b: 1"}}}}'), {"a": {}}),
    ("PSM326", values("{cdi: {nriPluginEnabled: true}}"), {"a": {}}),
    ("PSM329", values("{operator: {priorityClassName: system-cluster-critical}}"), {"a": {}}),
    ("PSM327", values("{node-feature-discovery: {worker: {tolerations: [{operator: Exists}]}}}"), {"a": {}}),
    ("PSM304", values("{dcgmExporter: {enabled: false}}"), {"a": {}}),
    (
        "PSM255",
        {
            **values("{node-feature-discovery: {image: {repository: x}}}"),
            "registry": "{mirrors: {registry.k8s.io: registry.example.com}}",
        },
        {"a": {}},
    ),
    (
        "PSM256",
        {"delivery": "{engine: flux, repoURL: git@git.example.com:gpu.git, sourceRef: {name: x}}"},
        {"a": {}},
    ),
    (
        "PSM217",
        {},
        {
            "a": {
                "secureBoot": "true",
                "driver": '{source: precompiled, version: "580"}',
                "kernel": "{release: 5.15.0-105-generic}",
            }
        },
    ),
    ("PSM171", V26_7, {"a": {"driver": "{source: container, version: 595.91.07}"}}),
    ("PSM171", {}, {"a": {"driver": "{source: container, version: 590.44.01}"}}),
    (
        "PSM910",
        {},
        {"a": {"driver": '{source: precompiled, version: "580"}', "kernel": "{release: 5.15.0-1063-aws}"}},
    ),
    ("PSM911", {}, {"a": {"driver": "{source: container, version: 625.10.01}"}}),
    ("PSM172", stack("{release: v25.10.1, upgradingFrom: v25.3.4}"), {"a": {}}),
    ("PSM172", stack("{release: v26.3.3, upgradingFrom: v26.3.0}"), {"a": {}}),
    ("PSM170", stack("{release: v26.3.2}"), {"a": {}}),
    ("PSM170", stack("{release: v25.10.1, values: {toolkit: {version: v1.19.1}}}"), {"a": {}}),
    ("PSM170", V25_10, {"a": {"toolkit": "{source: preinstalled}"}}),
    ("PSM170", {}, {"a": {"toolkit": "{source: preinstalled, version: 1.19.1-1}"}}),
    ("PSM225", MANUAL, {"a": {**PREINSTALLED, "toolkit": "{source: preinstalled, version: 1.7.0}"}}),
    ("PSM241", {}, {"a": {"sharing": "{mps: {replicas: 48}}"}}),
    ("PSM241", {}, {"a": {"gpu": "{product: V100, count: 4}", "sharing": "{mps: {replicas: 16}}"}}),
    ("PSM257", {}, {"a": {"driver": "{source: container, rdma: true}", "nic": "mellanox"}}),
    (
        "PSM258",
        {"stack": "{release: v26.7.0, values: {toolkit: {repository: nvcr.io/nvidia/k8s}}}"},
        {"a": {"runtime": '{name: containerd, version: "2.1"}'}},
    ),
    ("PSM259", {}, {"a": {"toolkit": "{source: preinstalled}"}}),
]


def ids(rows):
    return [f"{row[0]}-{index}" for index, row in enumerate(rows)]


@pytest.mark.parametrize(("code", "cluster", "pools", "place", "advice"), FAILING, ids=ids(FAILING))
def test_a_mistake_is_found_at_its_line_with_a_way_out(resolve, code, cluster, pools, place, advice):
    cluster, pools, marked = placed(cluster, pools or {"a": {}})
    outcome = resolve(cluster, pools)
    found = [item for item in outcome.diagnostics if item.code == code]

    assert (place or marked) in [str(item.primary.span).removeprefix("profiles/prod/") for item in found]
    if advice is not None:
        assert advice in " ".join(item.help or "" for item in found)


@pytest.mark.parametrize(("code", "cluster", "pools", "place", "advice"), FAILING, ids=ids(FAILING))
def test_a_plan_exists_exactly_when_no_finding_is_an_error(resolve, code, cluster, pools, place, advice):
    cluster, pools, _ = placed(cluster, pools or {"a": {}})
    outcome = resolve(cluster, pools)
    of_the_plan = [item for item in outcome.diagnostics if item.code not in OF_THE_PREDICTION]

    assert (outcome.plan is None) == any(item.severity == "error" for item in of_the_plan)


@pytest.mark.parametrize(("code", "cluster", "pools"), PASSING, ids=ids(PASSING))
def test_the_nearest_sound_profile_does_not_raise_it(resolve, code, cluster, pools):
    outcome = resolve(cluster, pools)

    assert code not in [item.code for item in outcome.diagnostics]
    assert outcome.plan is not None, [item.message for item in outcome.diagnostics]


# Rules over objects are tested where files are checked.
BY_HAND = (
    "PSM328",
    "PSM338",
)  # a whole copied file; a driver, which a profile names itself: tests/guard/rules has them
# What is written by hand about runtimes, drivers and images has its table in tests/gpu/values/test_by_hand.py.
VALUE_CODES = [rule.RULE for rule in VALUE_RULES if rule.RULE.code.startswith("PSM3") and rule.RULE.code not in BY_HAND]
MODULES = (compatibility, gpu_use, support, node_software, schema)
OF_DRIVERS = ("PSM218", "PSM219", *(f"PSM{number}" for number in (*range(234, 240), 242)))  # test_drivers.py
PROFILE_CODES = [
    rule
    for rule in (*(item for module in MODULES for item in entries_of(module)), *VALUE_CODES)
    if find_rule(rule.code).applies_to != "manifest" and rule.code not in OF_DRIVERS
    if rule is not REFUSED_BY_DEFINITION  # of what is rendered: tests/gpu/values
]


@pytest.mark.parametrize("rule", PROFILE_CODES, ids=lambda rule: rule.code)
def test_every_code_has_a_failing_and_a_passing_profile(rule):
    assert rule.code in {row[0] for row in FAILING}
    assert rule.code in {row[0] for row in PASSING}


@pytest.mark.parametrize("code", sorted({row[0] for row in FAILING}))
def test_the_tables_hold_codes_of_the_book_only(code):
    assert code in {rule.code for rule in PROFILE_CODES}


def test_no_code_of_the_book_is_without_a_test(repository):
    files = (path for end in ("*.py", "*.md") for path in (repository / "tests").rglob(end))
    texts = [path.read_text("utf-8") for path in files]
    texts += [path.name for path in (repository / "tests/guard/rules/examples").iterdir()]
    words = set(re.findall(r"[A-Za-z0-9-]+", "\n".join(texts)))
    covered = {row[0] for row in FAILING}

    assert [rule.code for rule in rule_book() if not words & {rule.code, rule.name} and rule.code not in covered] == []
