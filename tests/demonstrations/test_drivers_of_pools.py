"""Drivers that don't fit their nodes: the mistake as people made it, what poolsmith says of the profile, and the fix."""

from __future__ import annotations

import pytest

CLUSTER = """\
apiVersion: poolsmith/v1
kind: Cluster
metadata: {{name: prod}}
spec:
  kubernetes: {{version: "1.33", distribution: {distribution}}}
  stack: {{release: {release}{more}}}
  poolLabel: example.com/gpu-pool
  delivery: {{engine: argocd, repoURL: https://git.example.com/gpu.git}}
"""
POOL = """\
apiVersion: poolsmith/v1
kind: NodePool
metadata: {{name: {name}}}
spec:
  runtime: {{name: containerd, version: "2.1"}}
{spec}"""
IMAGES = """\
apiVersion: poolsmith/v1
kind: DriverImageList
metadata: {name: seen}
spec:
  images:
    - repository: nvcr.io/nvidia/driver
      tags: [580-5.15.0-105-generic-ubuntu22.04]
"""


def pool(os, gpu, driver, **more):
    fields = {"os": os, "gpu": f"{{product: {gpu}, count: 1}}", "driver": driver, **more}
    return "".join(f"  {key}: {value}\n" for key, value in fields.items() if value is not None)


UBUNTU = '{id: ubuntu, version: "22.04"}'
A100, V100, B200 = "NVIDIA-A100-SXM4-80GB", "V100", "B200"
CONTAINER = "{source: container, version: 580.126.20, upgradePolicy: {}}"
PRECOMPILED = '{source: precompiled, version: "580", upgradePolicy: {}}'
KERNEL = "{release: 5.15.0-105-generic}"

# cluster, the pool with the mistake, what is said, the advice, the pool corrected
MISTAKES = {
    # An image for this system or kernel does not exist
    "today's kernel has no precompiled image yet (NVIDIA/gpu-operator issue 910)": (
        {},
        pool(UBUNTU, A100, PRECOMPILED, kernel="{release: 5.15.0-113-generic}"),
        "unknown-driver-image at 9",
        "profiles/_driver-images.yaml",
        pool(UBUNTU, A100, PRECOMPILED, kernel=KERNEL),
    ),
    "no precompiled images for kernels other than 5.15 on 22.04 (NVIDIA/gpu-operator issue 1203)": (
        {"release": "v24.9.2"},
        pool(
            UBUNTU,
            A100,
            '{source: precompiled, version: "550", upgradePolicy: {}}',
            kernel="{release: 6.5.0-45-generic}",
        ),
        "driver-image-not-listed at 9",
        "ubuntu22.04 with kernel 5.15",
        pool(
            UBUNTU,
            A100,
            "{source: container, version: 550.144.03, upgradePolicy: {}}",
            kernel="{release: 6.5.0-45-generic}",
        ),
    ),
    "a kernel of GKE, and the full version instead of the branch (NVIDIA/gpu-operator issue 933)": (
        {},
        pool(UBUNTU, A100, "{source: precompiled, version: 580.126.20, upgradePolicy: {}}", kernel=KERNEL),
        "driver-version-form at 8",
        'version: "580"',
        pool(UBUNTU, A100, PRECOMPILED, kernel=KERNEL),
    ),
    "debian12 has no tag (NVIDIA/gpu-operator issue 1212)": (
        {},
        pool('{id: debian, version: "12"}', A100, CONTAINER),
        "unknown-operating-system at 6",
        "driver.repository",
        pool('{id: debian, version: "12"}', A100, "{source: preinstalled}"),
    ),
    "cos121 has no tag (NVIDIA/gpu-operator issue 1623)": (
        {"distribution": "gke"},
        pool('{id: cos, version: "121"}', A100, CONTAINER),
        "driver-contradiction at 8",
        "source: preinstalled",
        pool('{id: cos, version: "121"}', A100, "{source: preinstalled}"),
    ),
    "a system that is newer than the chart's driver": (
        {},
        pool('{id: ubuntu, version: "26.04"}', A100, "{source: container, upgradePolicy: {}}"),
        "driver-image-not-listed at 6",
        "branch 595",
        pool('{id: ubuntu, version: "26.04"}', A100, "{source: container, version: 595.91.07, upgradePolicy: {}}"),
    ),
    # The host has a driver
    "Talos brings its driver, and the operator one more (NVIDIA/gpu-operator issue 2731)": (
        {},
        pool('{id: talos, version: "v1.13.2"}', A100, CONTAINER),
        "driver-contradiction at 8",
        "source: preinstalled",
        pool('{id: talos, version: "v1.13.2"}', A100, "{source: preinstalled}"),
    ),
    "the validator looks for Talos' driver in the wrong root (NVIDIA/gpu-operator issue 1687)": (
        {},
        pool('{id: talos, version: "v1.13.2"}', A100, "{source: preinstalled, installDir: /usr/local/glibc}"),
        "driver-folder at 8",
        "remove `installDir`",
        pool('{id: talos, version: "v1.13.2"}', A100, "{source: preinstalled, installDir: /usr/local}"),
    ),
    "COS has its driver elsewhere than was written (NVIDIA/gpu-operator issue 1292)": (
        {"distribution": "gke"},
        pool('{id: cos, version: "121"}', A100, "{source: preinstalled, installDir: /usr/local/nvidia}"),
        "driver-folder at 8",
        "remove `installDir`",
        pool('{id: cos, version: "121"}', A100, "{source: preinstalled}"),
    ),
    "driver containers on AL2023 (NVIDIA/gpu-operator issue 946)": (
        {"distribution": "eks"},
        pool('{id: amzn, version: "2023"}', A100, CONTAINER),
        "unknown-operating-system at 6",
        "pre-install the driver",
        pool('{id: amzn, version: "2023"}', A100, "{source: preinstalled}"),
    ),
    "modules are chosen for a driver that is there already (NVIDIA/gpu-operator issue 126)": (
        {},
        pool(UBUNTU, A100, "{source: preinstalled, kernelModuleType: open}"),
        "field-without-effect at 8",
        "remove it",
        pool(UBUNTU, A100, "{source: preinstalled}"),
    ),
    # An upgrade means something else
    "the new release's driver has dropped Volta": (
        {"release": "v26.7.0"},
        pool(UBUNTU, V100, "{source: container, upgradePolicy: {}}"),
        "driver-branch-ended at 7",
        "branch 580",
        pool(UBUNTU, V100, CONTAINER),
    ),
    "Blackwell needs the open modules (skypilot-org/skypilot 9639)": (
        {},
        pool(
            UBUNTU, B200, "{source: container, version: 580.126.20, kernelModuleType: proprietary, upgradePolicy: {}}"
        ),
        "kernel-module-type at 8",
        "kernelModuleType: open",
        pool(UBUNTU, B200, "{source: container, version: 580.126.20, kernelModuleType: open, upgradePolicy: {}}"),
    ),
    "open modules for a GPU older than Turing (siderolabs/talos 9430)": (
        {},
        pool(UBUNTU, V100, "{source: container, version: 580.126.20, kernelModuleType: open, upgradePolicy: {}}"),
        "kernel-module-type at 8",
        "proprietary",
        pool(UBUNTU, V100, CONTAINER),
    ),
    "before 25.3 nothing chooses the modules": (
        {"release": "v24.9.2"},
        pool(UBUNTU, B200, "{source: container, version: 570.133.20, upgradePolicy: {}}"),
        "kernel-module-type at 7",
        "kernelModuleType: open",
        pool(UBUNTU, B200, "{source: container, version: 570.133.20, kernelModuleType: open, upgradePolicy: {}}"),
    ),
    "the driver was held back, and the new GPUs need a newer one": (
        {},
        pool(UBUNTU, B200, "{source: container, version: 550.163.01, kernelModuleType: open, upgradePolicy: {}}"),
        "driver-too-old at 8",
        "570.133.20",
        pool(UBUNTU, B200, "{source: container, version: 570.133.20, kernelModuleType: open, upgradePolicy: {}}"),
    ),
}


@pytest.fixture
def check(write_files, run_cli):
    """What does not fit together, notes left out."""

    def run(cluster, spec):
        options = {"release": "v26.3.3", "distribution": "kubeadm", "more": "", **cluster}
        files = {
            "profiles/prod/cluster.yaml": CLUSTER.format(**options),
            "profiles/prod/a.yaml": POOL.format(name="a", spec=spec),
        }
        if "precompiled" in spec and options["release"] == "v26.3.3":
            files["profiles/_driver-images.yaml"] = IMAGES
        result = run_cli(["check", "--root", write_files(files), "--format", "json"])
        return [item for item in result.diagnostics if item["code"].startswith("PSM2") and item["severity"] != "note"]

    return run


@pytest.mark.rows(7, "a row takes 0.081 s; each value of each column is seen first")
@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_the_diagnostic_the_fix(check, name):
    cluster, mistake, said, advice, fix = MISTAKES[name]
    found = {f"{item['name']} at {item['primary']['line']}": item for item in check(cluster, mistake)}

    assert said in found
    assert found[said]["primary"]["path"] == "profiles/prod/a.yaml"
    assert advice in found[said]["help"]
    assert [item["name"] for item in check(cluster, fix)] == []
