"""Values as people write them by hand: the mistake, by the release that it is one in, and the nearest that is none."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Severity
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.judge import judge_values
from poolsmith.gpu.values.registry import VALUE_RULES
from poolsmith.guard.rules.rule_book import find_rule

K3S = "/var/lib/rancher/k3s/agent/etc/containerd"
RKE2 = "/var/lib/rancher/rke2/agent/etc/containerd"
K3S_SOCKET = "/run/k3s/containerd/containerd.sock"
MICROK8S = "/var/snap/microk8s/current/args/containerd-template.toml"
MICROK8S_SOCKET = "/var/snap/microk8s/common/run/containerd.sock"
K0S_SOCKET = "/run/k0s/containerd.sock"
SOCKET_FROM_ELSEWHERE = "{name: CONTAINERD_SOCKET, valueFrom: {configMapKeyRef: {name: a, key: b}}}"
EXTRA_JOB = "extraObjects: [{kind: Job, spec: {template: {spec: {runtimeClassName: nvidia}}}}]\n"
UNPRIVILEGED = "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED"
MOUNTS = "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS"


def env(component="toolkit", **variables):
    entries = ", ".join(f"{{name: {name}, value: '{value}'}}" for name, value in variables.items())
    return f"{component}: {{env: [{entries}]}}\n"


def nfd(**pci):
    fields = ", ".join(f"{key}: {value}" for key, value in pci.items())
    return f"node-feature-discovery: {{worker: {{config: {{sources: {{pci: {{{fields}}}}}}}}}}}\n"


def mirrored(*components, registry="registry.example.com"):
    lines = []
    for name in components:
        top, _, below = name.partition(".")
        inner = f"{below}: {{repository: {registry}/x}}" if below else f"repository: {registry}/x"
        lines.append(f"{top}: {{{inner}}}\n")
    return "".join(lines)


# code, release, values, severity, place, a word of the message or of the help
MISTAKES = [
    # one half of the pair
    ("PSM280", "v25.3.4", env(CONTAINERD_CONFIG=f"{K3S}/config.toml"), "error", "toolkit.env.0.value", K3S_SOCKET),
    ("PSM280", "v22.9.0", env(CONTAINERD_CONFIG=f"{RKE2}/config.toml"), "error", "toolkit.env.0.value", K3S_SOCKET),
    ("PSM280", "v25.3.4", env(CONTAINERD_SOCKET=MICROK8S_SOCKET), "error", "toolkit.env.0.value", MICROK8S),
    ("PSM280", "v26.3.3", env(CONTAINERD_SOCKET=K0S_SOCKET), "error", "toolkit.env.0.value", "/run/k0s/"),
    # halves of different pairs
    (
        "PSM280",
        "v25.3.4",
        env(CONTAINERD_CONFIG=f"{K3S}/config.toml", CONTAINERD_SOCKET="/run/containerd/containerd.sock"),
        "error",
        "toolkit.env.1.value",
        "`k3s`",
    ),
    (
        "PSM280",
        "v25.3.4",
        env(CONTAINERD_CONFIG=MICROK8S, CONTAINERD_SOCKET=K3S_SOCKET),
        "error",
        "toolkit.env.1.value",
        "`microk8s`",
    ),
    (
        "PSM280",
        "v26.3.3",
        env(CONTAINERD_SOCKET=K0S_SOCKET, RUNTIME_DROP_IN_CONFIG="/etc/containerd/conf.d/99-nvidia.toml"),
        "error",
        "toolkit.env.1.value",
        "as one distribution",
    ),
    ("PSM280", "v25.3.4", env(CONTAINERD_SOCKET=f"unix://{K3S_SOCKET}"), "error", "toolkit.env.0.value", "absolute"),
    (
        "PSM281",
        "v24.9.2",
        env(CONTAINERD_CONFIG=f"{RKE2}/config.toml.tmpl"),
        "error",
        "toolkit.env.0.value",
        "template",
    ),
    (
        "PSM281",
        "v26.3.3",
        env(CONTAINERD_CONFIG=f"{K3S}/config-v3.toml.tmpl"),
        "error",
        "toolkit.env.0.value",
        "`/var/lib/rancher/k3s/agent/etc/containerd/config.toml`",
    ),
    (
        "PSM282",
        "v25.10.0",
        env(CONTAINERD_CONFIG=MICROK8S, CONTAINERD_SOCKET=MICROK8S_SOCKET),
        "error",
        "toolkit.env.0.value",
        "RUNTIME_CONFIG_SOURCE: file=/var/snap/microk8s/current/args/containerd.toml",
    ),
    (
        "PSM282",
        "v26.7.0",
        env(CONTAINERD_CONFIG="/run/k0s/containerd-cri.toml", CONTAINERD_SOCKET=K0S_SOCKET),
        "error",
        "toolkit.env.0.value",
        "RUNTIME_DROP_IN_CONFIG: /etc/k0s/containerd.d/nvidia.toml",
    ),
    (
        "PSM282",
        "v25.10.1",
        env(CONTAINERD_CONFIG=f"{K3S}/config.toml", CONTAINERD_SOCKET=K3S_SOCKET),
        "warning",
        "toolkit.env.0.value",
        "config-v3.toml.d",
    ),
    ("PSM283", "v25.10.1", "toolkit: {version: v1.14.6-centos7}", "error", "toolkit.version", "version 3"),
    ("PSM283", "v25.3.4", "toolkit: {version: v1.17.3-ubi8}", "error", "toolkit.version", "v1.17.4"),
    ("PSM283", "v26.3.3", "toolkit: {version: v1.17.8-ubi8}", "warning", "toolkit.version", "drop-in"),
    (
        "PSM283",
        "v26.3.3",
        "cdi: {nriPluginEnabled: true}\ntoolkit: {version: v1.18.1}",
        "error",
        "toolkit.version",
        "v1.19.0",
    ),
    ("PSM283", "v24.9.2", "toolkit: {version: v1.17.0-ubuntu20.04}", "error", "toolkit.version", "K3s"),
    ("PSM283", "v25.10.1", "toolkit: {version: v1.18.0}", "warning", "toolkit.version", "imports"),
    ("PSM283", "v25.10.0", "toolkit: {version: v1.18.0}", "note", "toolkit.version", "imports"),
    ("PSM283", "v25.10.0", "dcgm: {enabled: true}", "note", "", "v1.18.1"),
    ("PSM284", "v26.7.0", env(CONTAINERD_SET_AS_DEFAULT="true"), "warning", "toolkit.env.0.value", "has no effect"),
    (
        "PSM284",
        "v26.7.0",
        "cdi: {enabled: false}\n" + env(CONTAINERD_SET_AS_DEFAULT="true"),
        "warning",
        "toolkit.env.0.value",
        "every pod on the node",
    ),
    ("PSM284", "v25.10.0", env(NVIDIA_RUNTIME_SET_AS_DEFAULT="1"), "warning", "toolkit.env.0.value", "every pod"),
    ("PSM284", "v25.3.4", env(CONTAINERD_SET_AS_DEFAULT="True"), "note", "toolkit.env.0.value", "runtimeClassName"),
    (
        "PSM286",
        "v25.10.1",
        env("devicePlugin", DEVICE_LIST_STRATEGY="envvar"),
        "error",
        "devicePlugin.env.0.value",
        "cdi",
    ),
    (
        "PSM286",
        "v26.3.3",
        env("devicePlugin", DEVICE_LIST_STRATEGY="cdi-cri,cdi-annotations,volume-mounts"),
        "note",
        "devicePlugin.env.0.value",
        "by hand",
    ),
    (
        "PSM286",
        "v26.3.3",
        env("devicePlugin", DEVICE_LIST_STRATEGY="volume-mounts") + env(**{UNPRIVILEGED: "false", MOUNTS: "true"}),
        "warning",
        "devicePlugin.env.0.value",
        "by hand",
    ),
    (
        "PSM286",
        "v25.3.4",
        env("devicePlugin", DEVICE_LIST_STRATEGY="cdi-annotations"),
        "error",
        "devicePlugin.env.0.value",
        "cdi.enabled: true",
    ),
    (
        "PSM286",
        "v26.3.3",
        env(NVIDIA_CONTAINER_RUNTIME_MODE="legacy"),
        "error",
        "toolkit.env.0.value",
        "remove it",
    ),
    ("PSM286", "v25.10.1", "operator: {runtimeClass: nvidia-cdi}", "error", "operator.runtimeClass", "write `nvidia`"),
    ("PSM287", "v26.3.3", env(NRI_SOCKET="/var/run/nri/nri.sock"), "warning", "toolkit.env.0", "turn the plugin on"),
    (
        "PSM287",
        "v26.7.0",
        "cdi: {nriPluginEnabled: true}\n" + env(CONTAINERD_CONFIG=f"{K3S}/config.toml"),
        "warning",
        "toolkit.env.0",
        "no effect",
    ),
    (
        "PSM287",
        "v26.3.3",
        "cdi: {nriPluginEnabled: true}\n" + EXTRA_JOB,
        "error",
        "extraObjects.0.spec.template.spec.runtimeClassName",
        "deletes",
    ),
    ("PSM288", "v25.3.4", env(RUNTIME_CONFIG_SOURCE="file"), "warning", "toolkit.env.0.name", "v25.10.0"),
    ("PSM288", "v25.10.1", env(NRI_SOCKET="/run/nri.sock"), "warning", "toolkit.env.0.name", "v26.3.0"),
    (
        "PSM288",
        "v26.3.3",
        env(CONTAINERD_CONFG="/etc/containerd/config.toml"),
        "warning",
        "toolkit.env.0.name",
        "CONFIG`",
    ),
    ("PSM288", "v26.3.3", env(containerd_socket="/run/c.sock"), "warning", "toolkit.env.0.name", "CONTAINERD_SOCKET"),
    ("PSM288", "v26.3.3", env(RUNTIME_CONFIG_SOURCE="file=etc/config.toml"), "error", "toolkit.env.0.value", "command"),
    ("PSM288", "v26.3.3", env(RUNTIME_SOCKET=K3S_SOCKET), "warning", "toolkit.env.0.name", "set `CONTAINERD_SOCKET`"),
    ("PSM288", "v25.10.1", env(RUNTIME="containerd"), "warning", "toolkit.env.0.name", "remove it"),
    (
        "PSM288",
        "v25.3.4",
        env(CONTAINERD_RUNTIME_CLASS="gpu"),
        "warning",
        "toolkit.env.0.name",
        "operator.runtimeClass",
    ),
    ("PSM290", "v26.3.3", "driver: {enabled: true}", "note", "driver.enabled", "580.126.20"),
    (
        "PSM290",
        "v25.3.2",
        "driver: {upgradePolicy: {autoUpgrade: true}}",
        "warning",
        "driver.upgradePolicy.autoUpgrade",
        "on all nodes by itself",
    ),
    ("PSM291", "v26.3.3", "driver: {version: 580.105.08}", "note", "driver.version", "autoUpgrade"),
    (
        "PSM291",
        "v26.3.3",
        "driver: {upgradePolicy: {gpuPodDeletion: {deleteEmptyDir: true}}}",
        "warning",
        "driver.upgradePolicy.gpuPodDeletion.deleteEmptyDir",
        "emptyDir",
    ),
    (
        "PSM291",
        "v24.9.2",
        "driver: {upgradePolicy: {autoUpgrade: false, drain: {enable: true}}}",
        "warning",
        "driver.upgradePolicy.drain.enable",
        "no effect",
    ),
    ("PSM292", "v26.3.3", "driver: {usePrecompiled: true}", "error", "driver.usePrecompiled", '"580"'),
    ("PSM292", "v26.7.0", "driver: {usePrecompiled: true, version: 595.91.07}", "error", "driver.version", '"595"'),
    (
        "PSM292",
        "v26.3.3",
        f"driver: {{usePrecompiled: true, version: 'sha256:{'0' * 64}'}}",
        "error",
        "driver.version",
        "digest",
    ),
    (
        "PSM292",
        "v24.9.2",
        "driver: {usePrecompiled: true, version: '550'}\ngds: {enabled: true}",
        "error",
        "gds.enabled",
        "GPUDirect Storage",
    ),
    (
        "PSM292",
        "v24.9.2",
        "gds: {enabled: true}",
        "error",
        "gds.enabled",
        "driver.useOpenKernelModules: true",
    ),
    (
        "PSM292",
        "v26.3.3",
        "driver: {nvidiaDriverCRD: {enabled: true}}\ngds: {enabled: true}",
        "error",
        "gds.enabled",
        "kernelModuleType: open",
    ),
    (
        "PSM292",
        "v26.3.3",
        "driver: {kernelModuleType: proprietary}\ngds: {enabled: true}",
        "error",
        "driver.kernelModuleType",
        "kernelModuleType: open",
    ),
    ("PSM293", "v25.3.4", "driver: {version: '535'}", "warning", "driver.version", "proprietary"),
    (
        "PSM293",
        "v26.3.3",
        "driver: {version: 550.163.01, kernelModuleType: auto}",
        "warning",
        "driver.kernelModuleType",
        "does not know",
    ),
    (
        "PSM293",
        "v24.9.2",
        "driver: {version: 570.133.20, useOpenKernelModules: true}",
        "warning",
        "driver.useOpenKernelModules",
        "KERNEL_MODULE_TYPE: open",
    ),
    (
        "PSM293",
        "v24.6.1",
        "driver: {version: 580.65.06, useOpenKernelModules: true}",
        "warning",
        "driver.useOpenKernelModules",
        "KERNEL_MODULE_TYPE: open",
    ),
    ("PSM293", "v25.3.4", "driver: {version: 570.100.01}", "warning", "driver.version", "proprietary"),
    (
        "PSM293",
        "v26.3.3",
        "driver: {kernelModuleType: open, env: [{name: KERNEL_MODULE_TYPE, value: proprietary}]}",
        "warning",
        "driver.env.0.value",
        "remove the variable",
    ),
    (
        "PSM294",
        "v26.3.3",
        nfd(deviceLabelFields="[vendor, device]"),
        "warning",
        "node-feature-discovery.worker.config.sources.pci.deviceLabelFields",
        "[vendor]",
    ),
    (
        "PSM294",
        "v24.9.2",
        nfd(deviceClassWhitelist="['02', '0300']"),
        "warning",
        "node-feature-discovery.worker.config.sources.pci.deviceClassWhitelist",
        "`0302`",
    ),
    (
        "PSM294",
        "v26.3.3",
        "driver: {rdma: {enabled: true}}\n" + nfd(deviceClassWhitelist="['03']"),
        "warning",
        "node-feature-discovery.worker.config.sources.pci.deviceClassWhitelist",
        "`0200`, `0207`",
    ),
    (
        "PSM294",
        "v26.3.3",
        "node-feature-discovery: {master: {config: {extraLabelNs: []}}}",
        "warning",
        "node-feature-discovery.master.config.extraLabelNs",
        "nvidia.com",
    ),
    (
        "PSM295",
        "v26.3.3",
        "operator: {tolerations: [{operator: Exists, effect: NoExecute}]}",
        "warning",
        "operator.tolerations.0",
        "NoExecute",
    ),
    (
        "PSM295",
        "v26.3.3",
        "node-feature-discovery: {worker: {tolerations: [{key: '', operator: Exists}]}}",
        "warning",
        "node-feature-discovery.worker.tolerations.0",
        "every taint",
    ),
    ("PSM426", "v26.3.3", env(**{UNPRIVILEGED: "true"}), "warning", "toolkit.env.0.value", "all GPUs"),
    ("PSM426", "v25.3.4", env(**{UNPRIVILEGED: "false"}), "error", "toolkit.env.0.value", "volume-mounts"),
    (
        "PSM426",
        "v25.3.4",
        env("devicePlugin", DEVICE_LIST_STRATEGY="volume-mounts") + env(**{MOUNTS: "true"}),
        "error",
        "devicePlugin.env.0.value",
        UNPRIVILEGED,
    ),
    (
        "PSM426",
        "v25.3.4",
        env("devicePlugin", DEVICE_LIST_STRATEGY="volume-mounts") + env(**{UNPRIVILEGED: "false"}),
        "error",
        "devicePlugin.env.0.value",
        MOUNTS,
    ),
    ("PSM427", "v24.6.1", "toolkit: {version: v1.16.0-ubi8}", "error", "toolkit.version", "CVE-2024-0132"),
    ("PSM427", "v25.10.1", "toolkit: {version: v1.17.7}", "error", "toolkit.version", "v1.19.1"),
    ("PSM427", "v25.10.1", "toolkit: {version: v1.17.8}", "warning", "toolkit.version", "CVE-2026-24260"),
    ("PSM427", "v25.3.0", "mig: {strategy: none}", "warning", "", "v26.3.2"),
    ("PSM427", "v24.9.2", "toolkit: {version: v1.17.4-ubuntu20.04}", "warning", "", "CVE-2025-23266"),
    ("PSM428", "v26.3.3", "toolkit: {version: latest}", "warning", "toolkit.version", "digest"),
    ("PSM428", "v26.3.3", "driver: {manager: {version: main-ubi9}}", "warning", "driver.manager.version", "main"),
    (
        "PSM428",
        "v26.3.3",
        "node-feature-discovery: {image: {tag: master}}",
        "warning",
        "node-feature-discovery.image.tag",
        "master",
    ),
    ("PSM429", "v26.3.3", env(NGC_API_KEY=f"nvapi-{'a' * 64}"), "error", "toolkit.env.0.value", "NGC API key"),
    ("PSM429", "v26.3.3", env("driver", LICENSE_TOKEN="correct-horse"), "error", "driver.env.0.value", "of that name"),
    (
        "PSM429",
        "v26.3.3",
        env("driver", HTTPS_PROXY="http://me:correct-horse@proxy:3128"),
        "error",
        "driver.env.0.value",
        "address",
    ),
    (
        "PSM429",
        "v26.3.3",
        "x-shared: {registryPassword: correct-horse}",
        "error",
        "x-shared.registryPassword",
        "key of that name",
    ),
    (
        "PSM429",
        "v26.3.3",
        "extraObjects: [{kind: Secret, data: {token: Y29ycmVjdC1ob3JzZQ==}}]",
        "error",
        "extraObjects.0.data",
        "a Secret",
    ),
    (
        "PSM429",
        "v26.3.3",
        "devicePlugin: {config: {data: {any: '-----BEGIN RSA PRIVATE KEY-----'}}}",
        "error",
        "devicePlugin.config.data.any",
        "private key",
    ),
    ("PSM520", "v26.3.3", mirrored("operator"), "note", "operator.repository", "driver.manager"),
    ("PSM520", "v24.9.2", mirrored("toolkit", "devicePlugin"), "warning", "devicePlugin.repository", "registry.k8s.io"),
    (
        "PSM520",
        "v23.9.0",
        mirrored("operator", "dcgm") + "sandboxWorkloads: {enabled: true}\n",
        "note",
        "operator.repository",
        "vfioManager.driverManager",
    ),
    ("PSM521", "v26.3.3", "devicePlugin: {version: v0.17.0}", "note", "devicePlugin.version", "v0.19.3"),
    ("PSM521", "v25.3.1", "migManager: {version: v0.10.0}", "note", "migManager.version", "remove it"),
    ("PSM521", "v26.3.3", "operator: {version: v25.3.4}", "note", "operator.version", "v26.3.3"),
    ("PSM521", "v26.3.3", "toolkit: {version: v1.20.0}", "note", "toolkit.version", "v1.19.1"),
]

# code, release, values: what looks like it, and is none
SOUND = [
    ("PSM280", "v25.3.4", env(CONTAINERD_CONFIG=f"{K3S}/config.toml", CONTAINERD_SOCKET=K3S_SOCKET)),
    ("PSM280", "v25.3.4", env(CONTAINERD_CONFIG=f"{RKE2}/config.toml", CONTAINERD_SOCKET=f"/var{K3S_SOCKET}")),
    ("PSM280", "v25.10.1", env(CONTAINERD_SOCKET=K3S_SOCKET)),  # as RKE2 documents it
    ("PSM280", "v25.10.1", env(CONTAINERD_CONFIG="/etc/containerd/config.toml", CONTAINERD_SOCKET=K3S_SOCKET)),
    (
        "PSM280",
        "v25.10.1",
        env(CONTAINERD_SOCKET=K3S_SOCKET, RUNTIME_DROP_IN_CONFIG="/etc/containerd/conf.d/99-nvidia.toml"),
    ),
    (
        "PSM292",
        "v26.3.3",
        "driver: {usePrecompiled: true, version: 580.126.20, repository: registry.example.com/drivers}",
    ),
    ("PSM292", "v26.3.3", "driver: {usePrecompiled: true, version: 580.126.20, image: my-driver}"),
    ("PSM280", "v25.3.4", env(CONTAINERD_CONFIG="/opt/own/config.toml", CONTAINERD_SOCKET="/opt/own/c.sock")),
    ("PSM280", "v25.3.4", env(CONTAINERD_CONFIG="/opt/own/config.toml")),
    ("PSM280", "v26.3.3", env(CONTAINERD_CONFIG=f"{K3S}/config.toml") + "cdi: {nriPluginEnabled: true}\n"),
    ("PSM280", "v25.3.4", f"toolkit: {{enabled: false, env: [{{name: CONTAINERD_CONFIG, value: {K3S}/config.toml}}]}}"),
    (
        "PSM280",
        "v25.3.4",
        f"toolkit: {{env: [{{name: CONTAINERD_CONFIG, value: {K3S}/config.toml}}, {SOCKET_FROM_ELSEWHERE}]}}",
    ),
    (
        "PSM280",
        "v25.10.1",  # as k0s documents it
        env(
            RUNTIME_CONFIG="/tmp/nvidia-operator-dummy-import.toml",
            RUNTIME_DROP_IN_CONFIG="/etc/k0s/containerd.d/nvidia.toml",
            CONTAINERD_SOCKET=K0S_SOCKET,
        ),
    ),
    ("PSM281", "v26.3.3", env(CONTAINERD_CONFIG=MICROK8S, CONTAINERD_SOCKET=MICROK8S_SOCKET)),
    ("PSM282", "v25.3.4", env(CONTAINERD_CONFIG=MICROK8S, CONTAINERD_SOCKET=MICROK8S_SOCKET)),
    ("PSM282", "v26.3.3", env(CONTAINERD_SOCKET=K3S_SOCKET)),
    ("PSM282", "v26.3.3", env(CONTAINERD_SOCKET="/run/containerd/containerd.sock")),
    ("PSM283", "v24.9.2", "toolkit: {version: v1.17.8-ubi8}"),
    ("PSM283", "v25.10.1", f"toolkit: {{version: 'sha256:{'0' * 64}'}}"),
    ("PSM283", "v25.10.1", "toolkit: {version: v1.18.1}"),  # the chart's own
    ("PSM284", "v26.3.3", env(CONTAINERD_SET_AS_DEFAULT="false")),
    (
        "PSM284",
        "v25.3.4",  # as microk8s is documented
        env(CONTAINERD_CONFIG=MICROK8S, CONTAINERD_SOCKET=MICROK8S_SOCKET, CONTAINERD_SET_AS_DEFAULT="true"),
    ),
    ("PSM286", "v25.3.4", env("devicePlugin", DEVICE_LIST_STRATEGY="volume-mounts")),
    ("PSM286", "v26.3.3", env(NVIDIA_CONTAINER_RUNTIME_MODE="cdi")),
    ("PSM287", "v26.3.3", "cdi: {nriPluginEnabled: true}\n" + env(CONTAINERD_SOCKET=K3S_SOCKET)),
    ("PSM287", "v26.3.3", "extraObjects: [{kind: Pod, spec: {runtimeClassName: nvidia}}]"),
    ("PSM288", "v26.3.3", env(HTTP_PROXY="http://proxy:3128", RUNTIME_CONFIG_SOURCE="file,command")),
    ("PSM288", "v26.3.3", env(CONTAINERD_RUNTIME_CLASS="nvidia")),
    ("PSM288", "v26.3.3", env(CONTAINERD_RUNTIME_CLASS="gpu") + "operator: {runtimeClass: gpu}\n"),
    ("PSM290", "v26.3.3", "driver: {enabled: true, version: 580.126.20}"),
    ("PSM290", "v26.3.3", "driver: {enabled: true, nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}"),
    ("PSM290", "v26.3.3", "driver: {kernelModuleType: open}"),
    ("PSM291", "v26.3.3", "driver: {version: 580.105.08, upgradePolicy: {autoUpgrade: true}}"),
    ("PSM291", "v26.3.3", "driver: {upgradePolicy: {drain: {force: true}}}"),  # the drain is off
    ("PSM292", "v26.3.3", "driver: {usePrecompiled: true, version: '580'}"),
    ("PSM292", "v26.3.3", "gds: {enabled: true}"),
    ("PSM292", "v26.3.3", "driver: {enabled: false, usePrecompiled: true}"),
    ("PSM292", "v22.9.0", "driver: {usePrecompiled: true}"),  # PSM322
    ("PSM293", "v26.3.3", "driver: {version: '570'}"),
    ("PSM293", "v26.3.3", "driver: {version: 550.163.01, kernelModuleType: open}"),
    ("PSM293", "v24.9.2", "driver: {version: 550.163.01}"),
    ("PSM294", "v26.3.3", nfd(deviceLabelFields="[class, vendor]", deviceClassWhitelist="['02', '03']")),
    ("PSM294", "v26.3.3", "nfd: {enabled: false}\n" + nfd(deviceLabelFields="[device]")),
    ("PSM295", "v26.3.3", "daemonsets: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}"),
    ("PSM426", "v26.3.3", env(**{UNPRIVILEGED: "false"})),  # under CDI
    (
        "PSM426",
        "v25.3.4",
        env(**{UNPRIVILEGED: "false", MOUNTS: "true"}) + env("devicePlugin", DEVICE_LIST_STRATEGY="volume-mounts"),
    ),
    ("PSM427", "v26.3.2", "mig: {strategy: none}"),
    ("PSM427", "v24.6.1", "toolkit: {version: v1.19.1}"),
    ("PSM427", "v24.6.1", "toolkit: {enabled: false}"),
    ("PSM428", "v26.3.3", "toolkit: {version: v1.19.1-ubi9}"),
    ("PSM429", "v26.3.3", env(API_TOKEN="$(TOKEN)", HTTPS_PROXY="http://$(USER):$(PASS)@proxy:3128", DB_PASSWORD="")),
    (
        "PSM429",
        "v26.3.3",
        "driver: {secretEnv: token, licensingConfig: {secretName: licence}, imagePullSecrets: [secret]}",
    ),
    ("PSM429", "v26.3.3", "extraObjects: [{kind: ExternalSecret, spec: {target: {name: token}}}]"),
    ("PSM520", "v26.3.3", mirrored("driver")),  # one's own build
    ("PSM520", "v26.3.3", mirrored("dcgmExporter")),
    (
        "PSM520",
        "v26.3.3",
        "driver: {repository: r.example.com/x, manager: {repository: r.example.com/x}}\n"
        "node-feature-discovery: {image: {repository: r.example.com/nfd}}\n"
        + mirrored("operator", "validator", "toolkit", "devicePlugin", "gfd", "dcgmExporter", "migManager"),
    ),
    ("PSM521", "v26.3.3", "driver: {version: 580.105.08}"),
    ("PSM521", "v26.3.3", "toolkit: {version: v1.19.1-ubi9}"),
    ("PSM521", "v24.9.2", "toolkit: {version: v1.17.8-ubi8}"),
    ("PSM521", "v26.3.3", "devicePlugin: {image: my-device-plugin, version: v1.0.0}"),
]


@pytest.fixture
def judge():
    def run(release, text, **options):
        (values,) = read_documents(text)
        return judge_values(values, value_paths().release(release), **options).findings

    return run


def ids(rows):
    return [f"{row[0]}-{row[1]}-{index}" for index, row in enumerate(rows)]


@pytest.mark.parametrize(("code", "release", "text", "severity", "place", "word"), MISTAKES, ids=ids(MISTAKES))
def test_a_mistake_is_told_at_its_place_with_a_way_out(judge, code, release, text, severity, place, word):
    found = {".".join(map(str, item.finding.place)): item for item in judge(release, text) if item.rule.code == code}
    item = found.get(place)

    assert item is not None, found
    assert item.severity == severity
    assert word in f"{item.finding.message} {item.finding.help}"


@pytest.mark.parametrize(("code", "release", "text"), SOUND, ids=ids(SOUND))
def test_what_looks_like_it_is_left_alone(judge, code, release, text):
    assert [item.finding.message for item in judge(release, text) if item.rule.code == code] == []


@pytest.mark.parametrize(
    "rule", [rule.RULE for rule in VALUE_RULES if rule.RULE.code[:4] != "PSM3"], ids=lambda r: r.code
)
def test_every_rule_has_a_mistake_and_something_sound(rule):
    assert rule.code in {row[0] for row in MISTAKES}
    assert rule.code in {row[0] for row in SOUND}
    assert find_rule(rule.code).symptom
    assert rule.fix


@pytest.mark.parametrize(("code", "release", "text"), [row[:3] for row in MISTAKES if row[0] in ("PSM290", "PSM520")])
def test_what_is_missing_is_not_told_where_more_values_come_from_elsewhere(judge, code, release, text):
    assert code not in [item.rule.code for item in judge(release, text, partial=True)]


@pytest.mark.parametrize("text", [row[2] for row in MISTAKES if row[0] == "PSM429"])
def test_a_secret_is_never_repeated(judge, text):
    told = " ".join(f"{item.finding.message} {item.finding.help}" for item in judge("v26.3.3", text))

    assert not any(secret in told for secret in ("correct-horse", "a" * 20, "Y29ycmVjdC1ob3JzZQ==", "BEGIN RSA"))


@pytest.mark.parametrize(
    "text",
    [
        "toolkit: null",
        "toolkit: {env: null}",
        "toolkit: {env: {CONTAINERD_CONFIG: a}}",
        "toolkit: {env: [null, 1, a, {name: 1}, {name: CONTAINERD_CONFIG}, {name: CONTAINERD_SOCKET, value: [a]}]}",
        "driver: {version: [1], usePrecompiled: 'true', upgradePolicy: [], env: 5}",
        "driver: [a]",
        "operator: 5\nnode-feature-discovery: [worker]\nextraObjects: {kind: Secret}",
        "daemonsets: {tolerations: {operator: Exists}}",
        "node-feature-discovery: {worker: {config: 'sources: {}', tolerations: [5]}, image: latest}",
    ],
)
@pytest.mark.parametrize("release", ["v22.9.0", "v24.9.2", "v26.7.0"])
def test_values_of_any_shape_are_judged(judge, release, text):
    judge(release, text)


def test_a_value_that_profiles_generate_counts_as_set(judge):
    below = {"driver": {"version": "580", "usePrecompiled": True}, "cdi": {"nriPluginEnabled": True}}
    found = judge("v26.3.3", "gdrcopy: {enabled: true}\noperator: {runtimeClass: gpu}", beneath=below)

    assert sorted(item.rule.code for item in found) == ["PSM287", "PSM292"]


def test_errors_are_errors_of_the_release_alone(judge):
    """The same values, release by release: what the toolkit reads changes with 25.10."""
    text = env(CONTAINERD_CONFIG=MICROK8S, CONTAINERD_SOCKET=MICROK8S_SOCKET)
    wrong = [tag for tag in value_paths().tags if any(item.rule.code == "PSM282" for item in judge(tag, text))]

    assert wrong == [tag for tag in value_paths().tags if tag >= "v25.10" and not tag.startswith("v25.3")]
    assert {Severity.ERROR} == {item.rule.severity for item in judge("v26.3.3", text) if item.rule.code == "PSM282"}


@pytest.mark.parametrize(
    ("tag", "ignored"), [("v25.3.0", False), ("v25.3.3", True), ("v25.3.4", True), ("v25.10.0", False)]
)
def test_variables_of_the_exporter_that_the_operator_ignores_are_told(tag, ignored):
    # NVIDIA/gpu-operator@v25.3.4:controllers/object_controls.go TransformDCGMExporter returns before it sets them
    judged = judge_values({"dcgmExporter": {"env": [{"name": "A", "value": "b"}]}}, value_paths().release(tag))

    assert ("PSM321" in {item.rule.code for item in judged.findings}) is ignored
