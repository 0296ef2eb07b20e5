"""Each row of the table of known issues is found on values that have it, and on none that are mended."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import whole_file
from poolsmith.core.facts import store
from poolsmith.gpu.catalog import Catalog
from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.guard.rules.setup import known_issue
from poolsmith.guard.rules.setup.setup_view import SetupValues, SetupView
from poolsmith.interface.app import check_paths

ISSUES = {issue["id"]: issue for issue in reversed([*known_issue.issues()])}
"""The first of each row."""
RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  chart: {{spec: {{chart: gpu-operator, version: {version}, sourceRef: {{kind: HelmRepository, name: nvidia}}}}}}
  values: {values}
"""
HAVE = {
    "network-driver-of-the-host-not-seen": ("v25.10.0", "{driver: {rdma: {enabled: true, useHostMofed: true}}}"),
    "toolkit-asks-containerd-itself": ("v24.9.0", "{}"),
    "one-driver-object-for-two-systems": ("v25.3.4", "{driver: {nvidiaDriverCRD: {enabled: true}}}"),
    "rdma-without-a-network-driver": ("v25.10.1", "{driver: {rdma: {enabled: true}}}"),
    "interval-below-the-timeout": ("v25.10.1", "{dcgmExporter: {serviceMonitor: {enabled: true, interval: 5s}}}"),
    "driver-arguments": ("v26.3.3", "{driver: {args: [--debug]}}"),
    "host-engine-arguments": ("v26.7.0", "{dcgm: {enabled: true, args: [--log-level, DEBUG]}}"),
    "host-engine-address": ("v26.7.0", "{dcgm: {enabled: true, args: [-n]}}"),
    "driver-object-in-spite": ("v25.3.4", "{driver: {enabled: false, nvidiaDriverCRD: {enabled: true}}}"),
    "validator-image-moved": ("v25.10.0", "{validator: {image: gpu-operator-validator}}"),
    "vfio-image-moved": ("v26.3.0", "{vfioManager: {image: cuda}}"),
    "discovery-image-moved": ("v24.6.2", "{gfd: {image: gpu-feature-discovery}}"),
    "pod-labels-by-variable": (
        "v26.3.3",
        "{dcgmExporter: {env: [{name: DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS, value: 'true'}]}}",
    ),
    "pod-labels-without-role": (
        "v26.3.0",
        "{dcgmExporter: {env: [{name: DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS, value: 'true'}]}}",
    ),
    "peermem-after-restart": ("v26.3.0", "{driver: {rdma: {enabled: true}}}"),
    "mig-manager-on-rhel-8": ("v26.3.1", "{driver: {enabled: false}}"),
    "mixed-nodes-with-early-570": ("v25.3.2", "{driver: {version: 570.148.08}, mig: {strategy: mixed}}"),
    "cdi-on-rke2": ("v25.3.2", "{cdi: {enabled: true}}"),
    "imports-overwritten": ("v25.10.0", "{}"),
    "system-in-the-version": ("v26.3.3", "{driver: {version: 580.126.20-ubuntu22.04}}"),
    "branch-that-is-compiled": ("v26.3.3", "{driver: {version: '580'}}"),
    "drain-by-the-driver-manager": (
        "v26.3.3",
        "{driver: {manager: {env: [{name: ENABLE_AUTO_DRAIN, value: 'true'}]}, upgradePolicy: {autoUpgrade: true}}}",
    ),
    "address-without-colon": ("v26.3.3", "{dcgmExporter: {env: [{name: DCGM_EXPORTER_LISTEN, value: '9400'}]}}"),
    "token-without-nls": ("v26.3.3", "{driver: {licensingConfig: {secretName: a, nlsEnabled: false}}}"),
    "socket-before-variables": ("v25.3.3", "{toolkit: {env: [{name: CONTAINERD_SOCKET, value: /run/k3s/a.sock}]}}"),
    "labels-that-openshift-does-not-read": ("v25.10.1", "{}"),
    "command-that-k0s-lacks": ("v25.3.4", "{}"),
    "map-of-the-operator": ("v26.3.3", "{}"),
    "driver-too-old-for-compute-domains": ("v25.10.1", "{driver: {version: 570.133.20}}"),
    "version-of-talos": ("v26.3.0", "{}"),
    "network-devices-for-all": ("v26.3.2", "{}"),
    "claims-and-another-root": (
        "v26.7.0",
        "{driver: {enabled: false}, gpuCluster: {deployCR: true}, hostPaths: {driverInstallDir: /usr/local}}",
    ),
    "hami-without-the-class": ("v25.10.1", "{cdi: {enabled: true}}"),
    "exporter-looks-for-another-id": (
        "v26.3.3",
        "{dcgmExporter: {env: [{name: DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE, value: device-name}]}}",
    ),
    "driver-folder-at-the-root": ("v25.10.1", "{hostPaths: {driverInstallDir: /}}"),
    "nri-without-the-toolkit": ("v26.3.1", "{cdi: {nriPluginEnabled: true}, toolkit: {enabled: false}}"),
    "nri-where-the-toolkit-is-kept-off": ("v26.7.0", "{cdi: {nriPluginEnabled: true}}"),
    "lists-without-a-folder": ("v25.3.4", "{driver: {repoConfig: {configMapName: a}}}"),
    "lists-without-a-folder-on-oracle-linux": ("v26.3.3", "{driver: {repoConfig: {configMapName: a}}}"),
    "probe-of-a-driver-that-compiles": ("v26.3.3", "{driver: {startupProbe: {failureThreshold: 5}}}"),
    "upgrade-without-a-drain": ("v26.3.3", "{driver: {upgradePolicy: {autoUpgrade: true, drain: null}}}"),
}
MENDED = {
    "network-driver-of-the-host-not-seen": ("v25.10.1", "{driver: {rdma: {enabled: true, useHostMofed: true}}}"),
    "toolkit-asks-containerd-itself": ("v24.9.1", "{}"),
    "one-driver-object-for-two-systems": ("v25.10.1", "{driver: {nvidiaDriverCRD: {enabled: true}}}"),
    "rdma-without-a-network-driver": ("v25.10.1", "{driver: {rdma: {enabled: true, useHostMofed: true}}}"),
    "interval-below-the-timeout": ("v25.10.1", "{dcgmExporter: {serviceMonitor: {enabled: true, interval: 15s}}}"),
    "driver-arguments": ("v26.3.3", "{driver: {args: [init, --debug]}}"),
    "host-engine-arguments": ("v26.7.0", "{dcgm: {enabled: true, args: [-n, -b, 0.0.0.0, --log-level, DEBUG]}}"),
    "host-engine-address": ("v26.7.0", "{dcgm: {enabled: true, args: [-n, --bind-interface=0.0.0.0]}}"),
    "driver-object-in-spite": ("v25.10.1", "{driver: {enabled: false, nvidiaDriverCRD: {enabled: true}}}"),
    "validator-image-moved": ("v25.3.4", "{validator: {image: gpu-operator-validator}}"),
    "vfio-image-moved": ("v25.10.1", "{vfioManager: {image: cuda}}"),
    "discovery-image-moved": ("v24.6.2", "{gfd: {image: gpu-feature-discovery, version: v0.8.1-ubi8}}"),
    "pod-labels-by-variable": ("v26.3.3", "{dcgmExporter: {enablePodLabels: true}}"),
    "pod-labels-without-role": ("v26.3.3", "{dcgmExporter: {enablePodLabels: true}}"),
    "peermem-after-restart": (
        "v26.3.0",
        "{driver: {rdma: {enabled: true}, manager: {env: [{name: FORCE_REINSTALL, value: 'true'}]}}}",
    ),
    "mig-manager-on-rhel-8": ("v26.3.1", "{driver: {enabled: false}, migManager: {version: v0.12.3}}"),
    "mixed-nodes-with-early-570": ("v25.3.2", "{driver: {version: 570.172.08}, mig: {strategy: mixed}}"),
    "cdi-on-rke2": ("v25.10.1", "{cdi: {enabled: true}}"),
    "imports-overwritten": ("v25.10.1", "{}"),
    "system-in-the-version": ("v26.3.3", "{driver: {version: 580.126.20}}"),
    "branch-that-is-compiled": ("v26.3.3", "{driver: {version: '580', usePrecompiled: true}}"),
    "drain-by-the-driver-manager": (
        "v26.3.3",
        "{driver: {manager: {env: [{name: ENABLE_AUTO_DRAIN, value: 'true'}]}, upgradePolicy: {autoUpgrade: false}}}",
    ),
    "address-without-colon": ("v26.3.3", "{dcgmExporter: {env: [{name: DCGM_EXPORTER_LISTEN, value: ':9400'}]}}"),
    "token-without-nls": ("v26.3.3", "{driver: {licensingConfig: {secretName: a, nlsEnabled: true}}}"),
    "socket-before-variables": ("v25.3.4", "{toolkit: {env: [{name: CONTAINERD_SOCKET, value: /run/k3s/a.sock}]}}"),
    "labels-that-openshift-does-not-read": ("v26.3.0", "{}"),
    "command-that-k0s-lacks": ("v25.10.0", "{}"),
    "map-of-the-operator": ("v26.3.3", "{migManager: {enabled: false}}"),
    "driver-too-old-for-compute-domains": ("v25.10.1", "{driver: {version: 570.172.08}}"),
    "version-of-talos": ("v26.3.1", "{}"),
    "network-devices-for-all": ("v26.3.2", "{devicePlugin: {env: [{name: MOFED_ENABLED, value: 'false'}]}}"),
    "claims-and-another-root": ("v26.7.0", "{driver: {enabled: false}, gpuCluster: {deployCR: true}}"),
    "hami-without-the-class": ("v25.10.1", "{cdi: {enabled: false}}"),
    "exporter-looks-for-another-id": (
        "v26.3.3",
        "{dcgmExporter: {env: [{name: DCGM_EXPORTER_KUBERNETES_GPU_ID_TYPE, value: uid}]}}",
    ),
    "driver-folder-at-the-root": ("v25.10.1", "{hostPaths: {driverInstallDir: /run/nvidia/driver}}"),
    "nri-without-the-toolkit": ("v26.3.1", "{cdi: {nriPluginEnabled: false}, toolkit: {enabled: false}}"),
    "nri-where-the-toolkit-is-kept-off": ("v26.7.0", "{cdi: {nriPluginEnabled: false}}"),
    "lists-without-a-folder": ("v26.7.0", "{driver: {repoConfig: {configMapName: a}}}"),
    "lists-without-a-folder-on-oracle-linux": ("v26.7.0", "{driver: {repoConfig: {configMapName: a}}}"),
    "probe-of-a-driver-that-compiles": ("v26.3.3", "{driver: {startupProbe: {failureThreshold: 60}}}"),
    "upgrade-without-a-drain": ("v26.7.0", "{driver: {upgradePolicy: {autoUpgrade: true, drain: null}}}"),
}
OF_A_DISTRIBUTION = {name for name, issue in ISSUES.items() if any("distribution" in item for item in issue["when"])}
ELSEWHERE = [name for name in ISSUES if name not in OF_A_DISTRIBUTION]
BESIDE = """\
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: network-operator, namespace: network}
spec: {chart: {spec: {chart: network-operator, version: 26.1.0, sourceRef: {kind: HelmRepository, name: nvidia}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: dra, namespace: dra}
spec: {chart: {spec: {chart: nvidia-dra-driver-gpu, version: 25.8.1, sourceRef: {kind: HelmRepository, name: nvidia}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: hami, namespace: kube-system}
spec: {chart: {spec: {chart: hami, version: 2.6.1, sourceRef: {kind: HelmRepository, name: hami}}}}
"""
MAPS = "".join(
    f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: gpu-operator}}\n"
    for name in ("default-mig-parted-config", "default-gpu-clients", "default-vgpu-devices-config")
)
NODES = """\
- name: node-0
  labels: {nvidia.com/gpu.present: "true", feature.node.kubernetes.io/system-os_release.ID: ol}
- name: node-1
  labels:
    nvidia.com/gpu.present: "true"
    feature.node.kubernetes.io/system-os_release.ID: rhel
    feature.node.kubernetes.io/system-os_release.VERSION_ID: "8.10"
- name: node-2
  labels:
    nvidia.com/gpu.present: "true"
    nvidia.com/gpu.deploy.container-toolkit: "false"
    feature.node.kubernetes.io/system-os_release.ID: ubuntu
    feature.node.kubernetes.io/system-os_release.VERSION_ID: "24.04"
"""


def messages(folder, given):
    version, values = given
    (folder / "a.yaml").write_text(RELEASE.format(version=version, values=values) + BESIDE + MAPS)
    (folder / "nodes.yaml").write_text(NODES)
    found = check_paths(folder, [folder / "a.yaml"], nodes=folder / "nodes.yaml", release=version).diagnostics
    return [item.message for item in found if item.name == "known-issue"]


@pytest.mark.parametrize(
    ("name", "release", "distribution", "values", "is_told"),
    [
        ("cdi-on-rke2", "v25.3.2", "rke2", {"cdi": {"enabled": True}}, True),
        ("cdi-on-rke2", "v25.10.1", "rke2", {"cdi": {"enabled": True}}, False),
        ("toolkit-asks-containerd-itself", "v24.9.0", "k3s", {"toolkit": {"version": "v1.17.0-ubi8"}}, True),
        ("toolkit-asks-containerd-itself", "v24.9.0", "k3s", {"toolkit": {"version": "v1.17.1-ubi8"}}, False),
        ("toolkit-asks-containerd-itself", "v24.9.0", "kubeadm", {"toolkit": {"version": "v1.17.0-ubi8"}}, False),
    ],
)
def test_a_distribution_that_is_known_counts(name, release, distribution, values, is_told):
    view = SetupView(
        catalog=Catalog(),
        tag=release,
        distribution=distribution,
        values=SetupValues(values=values, defaults={}, place=lambda *_: whole_file("a.yaml")),
    )

    assert any(item.message == ISSUES[name]["says"] for item in known_issue.check(view)) is is_told


def test_each_row_has_values_that_have_it_and_values_that_do_not():
    assert set(ISSUES) == set(HAVE) == set(MENDED)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_it_is_told_where_values_have_it(tmp_path, name):
    assert ISSUES[name]["says"] in messages(tmp_path, HAVE[name])


@pytest.mark.parametrize("name", ELSEWHERE)
def test_it_is_not_told_where_it_is_mended(tmp_path, name):
    assert ISSUES[name]["says"] not in messages(tmp_path, MENDED[name])


CHARTS = {issue["id"]: issue for issue in store.read_yaml("known_issues.yaml")["charts"]}
OF_CHARTS = {
    "default-of-no-map": ("0.17.4", "{config: {default: a}}", "0.17.4", "{config: {default: a, name: maps}}"),
    "profiling-without-the-capability": (
        "4.8.1",
        "{arguments: [-f, /etc/dcgm-exporter/dcp-metrics-included.csv], securityContext: {capabilities: {add: []}}}",
        "4.8.1",
        "{arguments: [-f, /etc/dcgm-exporter/default-counters.csv], securityContext: {capabilities: {add: []}}}",
    ),
    "exporter-without-memory": ("4.7.1", "{}", "4.7.1", "{resources: {limits: {memory: 1Gi}}}"),
    "chart-under-its-former-name": ("0.4.0", "{}", "25.12.0", "{}"),
    "chart-before-its-name": ("25.12.0", "{}", "0.4.1", "{}"),
}


@pytest.mark.parametrize("name", CHARTS)
def test_charts_beside_the_operator_have_rows_too(tmp_path, name):
    bad, values, good, mended = OF_CHARTS[name]
    release = RELEASE.replace("chart: gpu-operator", f"chart: {CHARTS[name].get('named', CHARTS[name].get('chart'))}")
    for file, said in (("bad.yaml", (bad, values)), ("good.yaml", (good, mended))):
        (tmp_path / file).write_text(release.format(version=said[0], values=said[1]))
    told = {file: check_paths(tmp_path, [tmp_path / file]).diagnostics for file in ("bad.yaml", "good.yaml")}

    assert CHARTS[name]["says"] in [item.message for item in told["bad.yaml"]]
    assert CHARTS[name]["says"] not in [item.message for item in told["good.yaml"]]


@pytest.mark.parametrize(
    ("chart", "version", "values"),
    [
        ("nvidia-dra-driver-gpu", "25.x", "{}"),
        ("nvidia-dra-driver-gpu", "'>=0.4.0'", "{}"),
        ("dra-driver-nvidia-gpu", "0.x", "{}"),
        ("dcgm-exporter", "4.7.0", "{resources: null}"),
    ],
)
def test_a_range_and_a_default_that_is_taken_away_have_no_row(tmp_path, chart, version, values):
    release = RELEASE.replace("chart: gpu-operator", f"chart: {chart}").format(version=version, values=values)
    (tmp_path / "a.yaml").write_text(release)

    assert "PSM770" not in [item.code for item in check_paths(tmp_path, [tmp_path / "a.yaml"]).diagnostics]


@pytest.mark.parametrize(
    ("chart", "version", "values", "severity"),
    [
        ("gpu-operator", "v26.3.3", "{node-feature-discovery: {worker: {priorityClassName: a}}}", None),
        ("gpu-operator", "v26.3.3", "{nfd: {enabled: false}, node-feature-discovery: {worker: {a: b}}}", "note"),
        ("nvidia-device-plugin", "0.17.1", "{nfd: {worker: {a: b}}}", "warning"),
        ("nvidia-device-plugin", "0.17.1", "{gfd: {enabled: true}, nfd: {worker: {a: b}}}", None),
        ("nvidia-device-plugin", "0.17.1", "{gfd: {enabled: true}, nfd: {enabled: false, worker: {a: b}}}", "note"),
        ("network-operator", "25.7.0", "{sriov-network-operator: {operator: {resourcePrefix: a}}}", "warning"),
    ],
)
def test_values_of_a_chart_inside_count_where_its_condition_brings_it(tmp_path, chart, version, values, severity):
    release = RELEASE.replace("chart: gpu-operator", f"chart: {chart}").format(version=version, values=values)
    (tmp_path / "a.yaml").write_text(release)
    found = check_paths(tmp_path, [tmp_path / "a.yaml"]).diagnostics
    told = [item.severity.value for item in found if "leaves the chart out" in item.message]

    assert told == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("said", "is_told"),
    [
        ("'on'", True),
        ("maybe", True),
        ("'true'", False),
        ("T", False),
        ("false", False),
        ("2", True),
        ("null", False),
        ("'${G}'", False),
    ],
)
def test_a_gate_of_the_claims_drivers_chart_is_a_boolean_as_go_reads_it(tmp_path, said, is_told):
    values = f"{{gpuResourcesEnabledOverride: true, featureGates: {{TimeSlicingSettings: {said}}}}}"
    release = RELEASE.replace("chart: gpu-operator", "chart: nvidia-dra-driver-gpu")
    (tmp_path / "a.yaml").write_text(release.format(version="25.12.0", values=values))
    found = check_paths(tmp_path, [tmp_path / "a.yaml"]).diagnostics

    assert [item.code for item in found if "no boolean" in item.message] == ["PSM142"] * is_told


@pytest.mark.parametrize("name", ISSUES)
def test_a_row_says_what_to_do_and_where_that_stands(name):
    issue = ISSUES[name]
    paths = [item["path"] for item in issue["when"] if "path" in item]

    assert issue["says"]
    assert issue["do"]
    assert issue["source"]
    assert issue["at"] in paths or issue["at"] == "migManager.version"


@pytest.mark.parametrize("name", ISSUES)
def test_the_paths_are_those_of_a_release_that_it_is_about(name):
    issue = ISSUES[name]
    releases = [tag for tag in Catalog().releases.by_tag if value_paths().release(tag) is not None]
    known = [value_paths().release(tag).line_defaults for tag in releases]
    tops = {item["path"].partition(".")[0] for item in issue["when"] if "path" in item}

    assert any(tops <= set(defaults) for defaults in known)
