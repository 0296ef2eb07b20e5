"""Values that another setting turns off, beside those that look like it."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import check_paths

RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  interval: 1h
  chart: {{spec: {{chart: gpu-operator, version: {release}, sourceRef: {{kind: HelmRepository, name: nvidia}}}}}}
  values: {values}
"""
POLICY = """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {{name: cluster-policy}}
spec: {spec}
"""
REQUIRED = ", ".join(
    f"{part}: {{}}"
    for part in ("daemonsets", "dcgmExporter", "dcgm", "devicePlugin", "driver", "gfd", "nodeStatusExporter", "toolkit")
)
"""What the definition asks for in each policy."""


def told(folder, text, release=None):
    (folder / "file.yaml").write_text(text)
    found = check_paths(folder, [folder / "file.yaml"], release=release, everything=True).diagnostics
    return [item.message for item in found if item.code == "PSM331"]


@pytest.mark.parametrize(
    ("values", "release", "because"),
    [
        ("{driver: {env: [{name: A, value: b}], nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}}", "v26.3.3", "objects of your own"),
        ("{driver: {version: 570.86.15, nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}}", "v25.3.4", "objects of your own"),
        ("{driver: {rdma: {useHostMofed: true}}}", "v26.3.3", "`driver.rdma.enabled` is not on"),
        ("{driver: {nvidiaDriverCRD: {driverType: vgpu}}}", "v25.10.1", "`driver.nvidiaDriverCRD.enabled` is not on"),
        ("{dcgmExporter: {serviceMonitor: {interval: 5s}}}", "v25.3.0", "`dcgmExporter.serviceMonitor.enabled` is not on"),
        ("{driver: {enabled: false}, gds: {enabled: true, env: [{name: A, value: b}]}}", "v26.3.1", "`driver.enabled` is `false`"),
        ("{daemonsets: {updateStrategy: OnDelete, rollingUpdate: {maxUnavailable: 20%}}}", "v24.9.2", "`OnDelete`"),
        ("{ccManager: {enabled: true, env: [{name: A, value: b}]}}", "v26.3.0", "`sandboxWorkloads.enabled` is not on"),
        ("{toolkit: {env: [{name: A, value: b}, {name: B, value: c}, {name: A, value: d}]}}", "v26.7.0", "`A` stands twice"),
    ],
)  # fmt: skip
def test_it_is_told_with_what_turns_it_off(tmp_path, values, release, because):
    assert [item for item in told(tmp_path, RELEASE.format(values=values, release=release)) if because in item]


@pytest.mark.parametrize(
    ("values", "release"),
    [
        ("{driver: {env: [{name: A, value: b}], nvidiaDriverCRD: {enabled: true}}}", "v25.10.1"),
        ("{driver: {repository: registry.example.com/nvidia, nvidiaDriverCRD: {enabled: true, deployDefaultCR: false}}}", "v26.3.3"),
        ("{driver: {enabled: false, env: [{name: A, value: b}]}}", "v26.3.3"),
        ("{dcgmExporter: {serviceMonitor: {enabled: false, interval: 5s}}}", "v25.3.0"),
        ("{driver: {upgradePolicy: {drain: {enable: false, force: true}}}}", "v26.7.0"),
        ("{daemonsets: {updateStrategy: RollingUpdate, rollingUpdate: {maxUnavailable: 20%}}}", "v24.9.2"),
        ("{toolkit: {env: [{name: A, value: b}, {name: A, value: b}]}}", "v26.7.0"),
        ("{toolkit: {env: [1, {name: [a]}, {name: {}}, {}, null]}}", "v26.7.0"),
        ("{driver: {upgradePolicy: 1}, sandboxWorkloads: [], ccManager: x}", "v26.7.0"),
    ],
)  # fmt: skip
def test_what_takes_effect_or_only_waits_is_left_alone(tmp_path, values, release):
    assert not told(tmp_path, RELEASE.format(values=values, release=release))


def test_an_example_of_a_policy_with_a_block_turned_off_is_left_alone(tmp_path):
    spec = f"{{{REQUIRED}, operator: {{defaultRuntime: containerd}}, vfioManager: {{env: [{{name: A, value: b}}]}}"

    assert not told(tmp_path, POLICY.format(spec=f"{spec}, sandboxWorkloads: {{enabled: false}}}}"), "v26.3.3")
    assert told(tmp_path, POLICY.format(spec=f"{spec}}}"), "v26.3.3")
