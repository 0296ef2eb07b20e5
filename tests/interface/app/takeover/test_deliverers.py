"""Who delivers today is read, and what its end does is said before anybody removes it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from interface.app.takeover.test_take_over import repository, spec, taken
from poolsmith.change.takeover.deliverers import deliverers

TERRAFORM = """\
resource "helm_release" "gpu" {
  name       = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  chart      = "gpu-operator"
  version    = "v25.10.1"
  namespace  = "gpu-operator"
  values     = [file("values.yaml")]
}
"""
FLEET = """\
defaultNamespace: gpu-operator
helm: {repo: https://helm.ngc.nvidia.com/nvidia, chart: gpu-operator, version: v25.10.1, values: {driver: {enabled: false}}}
"""
HELMFILE = """\
repositories: [{name: nvidia, url: https://helm.ngc.nvidia.com/nvidia}]
releases:
  - {name: gpu-operator, namespace: gpu-operator, chart: nvidia/gpu-operator, version: v25.10.1}
"""
ANSIBLE = """\
- hosts: all
  tasks:
    - kubernetes.core.helm:
        name: gpu-operator
        chart_ref: nvidia/gpu-operator
        chart_version: v25.10.1
        release_namespace: gpu-operator
        values: {driver: {enabled: false}}
"""
HELM_CHART = """\
apiVersion: helm.cattle.io/v1
kind: HelmChart
metadata: {name: gpu, namespace: kube-system}
spec: {repo: https://helm.ngc.nvidia.com/nvidia, chart: gpu-operator, version: v25.10.1, targetNamespace: gpu-operator}
"""
HELM_RELEASE = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: gpu, namespace: gpu-operator}
spec: {chart: {spec: {chart: gpu-operator, version: v25.10.1, sourceRef: {kind: HelmRepository, name: nvidia}}}}
"""
POLICY = """\
apiVersion: nvidia.com/v1
kind: ClusterPolicy
metadata: {name: gpu-policy}
spec: {driver: {enabled: false}, dcgm: {enabled: true}, mig: {strategy: mixed}}
"""
SUBSCRIPTION = """\
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: gpu-operator-certified, namespace: nvidia-gpu-operator}
spec:
  name: gpu-operator-certified
  channel: v25.10
  source: certified-operators
  sourceNamespace: openshift-marketplace
  startingCSV: gpu-operator-certified.v25.10.1
---
"""
KUSTOMIZATION = """\
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
helmCharts:
  - {name: gpu-operator, repo: https://helm.ngc.nvidia.com/nvidia, version: v25.10.1, releaseName: gpu-operator,
     namespace: gpu-operator}
"""
UMBRELLA = """\
apiVersion: v2
name: platform
version: 0.1.0
dependencies: [{name: gpu-operator, version: v25.10.1, repository: https://helm.ngc.nvidia.com/nvidia}]
"""
SCRIPT = """\
VERSION=v25.10.1
helm repo add nvidia https://helm.ngc.nvidia.com/nvidia
helm upgrade --install gpu-operator nvidia/gpu-operator -n gpu-operator --version "$VERSION" --set driver.enabled=false
"""
PULUMI = """\
name: gpu
runtime: yaml
resources:
  gpu:
    type: kubernetes:helm.sh/v3:Release
    properties:
      chart: gpu-operator
      version: v25.10.1
      namespace: gpu-operator
      repositoryOpts: {repo: https://helm.ngc.nvidia.com/nvidia}
      values: {driver: {enabled: false}}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gpu, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: gpu-operator}
  source: {repoURL: https://helm.ngc.nvidia.com/nvidia, chart: gpu-operator, targetRevision: v25.10.1}
"""
RKE2 = HELM_CHART.replace(
    "targetNamespace: gpu-operator}", "targetNamespace: gpu-operator, valuesContent: 'driver: {}'}"
)
PLUGIN = HELM_RELEASE.replace("chart: gpu-operator, version: v25.10.1", "chart: nvidia-device-plugin, version: 0.17.1")
CASES = [
    ("gpu.tf", TERRAFORM, "Terraform delivers it today (gpu.tf:", "`terraform state rm`"),
    ("fleet.yaml", FLEET, "Fleet delivers it today (fleet.yaml:", "`keepResources: true`"),
    ("helmfile.yaml", HELMFILE, "Helmfile delivers it today (helmfile.yaml:", "take it out of `helmfile.yaml`"),
    ("site.yml", ANSIBLE, "Ansible delivers it today (site.yml:", "no `state: absent`"),
    (
        "gpu.yaml",
        HELM_CHART,
        "RKE2 delivers it today (gpu.yaml:",
        "annotate `gpu` with `helmcharts.helm.cattle.io/unmanaged",
    ),
    (
        "gpu.yaml",
        POLICY,
        "whoever applies the ClusterPolicy delivers it today (gpu.yaml:4:",
        "keep `gpu-policy` from being",
    ),
    ("gpu.yaml", HELM_RELEASE, "Flux delivers it today (gpu.yaml:", "write `suspend: true` into `gpu`"),
    ("kustomization.yaml", KUSTOMIZATION, "whoever applies the kustomization delivers it today (", "turn pruning off"),
    ("Chart.yaml", UMBRELLA, "whoever installs the chart around it delivers it today (", "helm.sh/resource-policy"),
    (
        "install.sh",
        SCRIPT,
        "a script that runs `helm` delivers it today (install.sh:3:",
        "take the command out of `install.sh`",
    ),
    ("Pulumi.yaml", PULUMI, "Pulumi delivers it today (Pulumi.yaml:", "`retainOnDelete: true`"),
]
WALKS = {
    "Flux": ("gpu.yaml", HELM_RELEASE),
    "Argo CD": ("gpu.yaml", APPLICATION),
    "Fleet": ("gpu/fleet.yaml", FLEET),
    "k3s": ("gpu.yaml", HELM_CHART),
    "RKE2": ("gpu.yaml", RKE2),
    "Terraform": ("gpu.tf", TERRAFORM),
    "Helmfile": ("helmfile.yaml", HELMFILE),
    "Ansible": ("site.yml", ANSIBLE),
    "a script": ("install.sh", SCRIPT),
    "Pulumi": ("Pulumi.yaml", PULUMI),
    "OLM": ("gpu.yaml", SUBSCRIPTION + POLICY),
    "a ClusterPolicy in a file": ("gpu.yaml", POLICY),
    "the device plugin's chart": ("gpu.yaml", PLUGIN),
    "a kustomization": ("kustomization.yaml", KUSTOMIZATION),
    "a chart around it": ("Chart.yaml", UMBRELLA),
}
_KNOWN = "--kubernetes 1.34 --runtime containerd --gpu NVIDIA-L40S"
_DISTRIBUTION = {"k3s": "k3s", "RKE2": "rke2"}


def poolsmith(root, words):
    command = [
        sys.executable,
        "-m",
        "poolsmith",
        *words.split(),
        *(["--os", "ubuntu 24.04"] if "init" in words else []),
    ]
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=300)
    return run.returncode, run.stdout + run.stderr


@pytest.mark.rows(3, "four runs of the command line for each deliverer")
@pytest.mark.parametrize("who", WALKS)
def test_the_page_is_walked_from_every_deliverer(tmp_path, who):
    """docs/takeover.md: propose, correct what is assumed, generate, check; no file that was there is changed."""
    file, text = WALKS[who]
    root = repository(tmp_path, {file: text, "values.yaml": "driver: {enabled: false}\n"})
    release = " --release v25.10.1" if who == "a ClusterPolicy in a file" else ""

    told = f"{_KNOWN} --distribution {_DISTRIBUTION.get(who, 'kubeadm')}{release}"
    code, printed = poolsmith(root, f"init --from . {told}")
    assert code == 0, printed
    assert re.search(r"docs/takeover\.md#|unknown delivery", printed), printed
    for profile in (root / "profiles").rglob("*.yaml"):
        lines = [line for line in profile.read_text().splitlines() if "TODO assumed" not in line]
        profile.write_text("\n".join(lines) + "\n")
    assert poolsmith(root, "generate")[0] == 0
    assert poolsmith(root, "generate --check")[0] == 0
    assert (root / file).read_text() == text
    code, printed = poolsmith(root, "check")
    assert code == 0, printed


@pytest.mark.parametrize(
    ("file", "text", "who", "step"), CASES, ids=[who.split(" delivers")[0] for *_, who, _ in CASES]
)
def test_another_owner_is_named_with_what_keeps_the_operator(tmp_path, file, text, who, step):
    (found,) = taken(repository(tmp_path, {file: text, "values.yaml": "driver: {enabled: false}\n"}), engine="argocd")
    (line,) = [item for item in found.lines if item.startswith("differs delivery: ")]

    assert who in line
    assert step in line
    assert "Argo CD follows; docs/takeover.md#" in line
    assert not any(item.startswith("same    chart, release") for item in found.lines)


def test_the_same_owner_is_no_other_one(tmp_path):
    (found,) = taken(repository(tmp_path, {"gpu.yaml": HELM_RELEASE}))

    assert not any("delivers it today" in item for item in found.lines)
    assert any("The removal of gpu uninstalls the operator, unless it is suspended" in item for item in found.lines)


def test_the_plugins_own_chart_has_an_owner_too(tmp_path):
    (found,) = taken(repository(tmp_path, {"gpu.yaml": PLUGIN}))

    (line,) = [item for item in found.lines if item.startswith("differs HelmRelease: gpu becomes ")]
    assert "-device-plugin-chart. The removal of gpu uninstalls" in line


def test_values_alone_say_nothing_of_who_installs_them(tmp_path):
    root = repository(tmp_path, {"values.yaml": "driver: {enabled: false}\nmigManager: {enabled: true}\n"})
    (found,) = taken(root, source=root / "values.yaml", release="v25.10.1")

    assert any(item.startswith("unknown delivery: ") for item in found.lines)
    assert not any(item.startswith("same    chart, release") for item in found.lines)


def test_a_helm_chart_means_k3s_or_rke2(tmp_path):
    (found,) = taken(repository(tmp_path, {"gpu.yaml": HELM_CHART}))

    assert spec(found)["kubernetes"]["distribution"] in ("k3s", "rke2")


def test_a_policy_by_hand_is_read_like_values_and_olm_says_the_release(tmp_path):
    root = repository(tmp_path, {"gpu.yaml": SUBSCRIPTION + POLICY})
    (found,) = taken(root, distribution="kubeadm", engine="argocd")

    assert spec(found)["stack"]["release"] == "v25.10.1"
    assert spec(found)["stack"]["values"] == {"dcgm": {"enabled": True}, "mig": {"strategy": "mixed"}}
    assert any("Operator Lifecycle Manager delivers it today" in line for line in found.lines)
    assert not any("ClusterPolicy/gpu-policy" in line for line in found.lines)


def test_a_subscription_means_openshift_for_which_nothing_is_generated(tmp_path):
    (found,) = taken(repository(tmp_path, {"gpu.yaml": SUBSCRIPTION + POLICY}))

    assert found.refused
    assert found.lines[0].startswith("refused: OpenShift gets the operator from OLM")


def test_the_plugins_chart_alone_is_a_hand_installed_stack(tmp_path):
    text = PLUGIN.replace(
        "name: nvidia}}}}", "name: nvidia}}}, values: {gfd: {enabled: true}, failOnInitError: false}}"
    )
    (found,) = taken(repository(tmp_path, {"gpu.yaml": text}))

    assert spec(found)["stack"] == {
        "kind": "device-plugin",
        "release": "v0.17.1",
        "namespace": "gpu-operator",
        "gpuFeatureDiscovery": True,
    }
    assert spec(found, "gpu")["driver"]["source"] == "preinstalled"
    assert not found.refused
    assert any(line.startswith("differs failOnInitError goes: ") for line in found.lines)


def test_the_operator_goes_before_a_plugin_beside_it(tmp_path):
    (found,) = taken(repository(tmp_path, {"a.yaml": PLUGIN, "b.yaml": HELM_RELEASE}))

    assert spec(found)["stack"]["kind"] == "operator"


def test_each_has_its_steps_on_the_page():
    page = (Path(__file__).parents[4] / "docs/takeover.md").read_text("utf-8")
    anchors = {line.lstrip("# ").lower().replace(" ", "-") for line in page.splitlines() if line.startswith("#")}

    assert {item.page for item in deliverers()} <= anchors
