"""Pods of custom resources, and names in objects beside the stack, are needs like those of workloads and charts."""

from __future__ import annotations

import textwrap

import pytest

from poolsmith.interface.app import check_paths

RELEASE = """\
apiVersion: v1
kind: Namespace
metadata: {{name: gpu-operator, labels: {{pod-security.kubernetes.io/enforce: privileged}}}}
---
apiVersion: source.toolkit.fluxcd.io/v1
kind: HelmRepository
metadata: {{name: vendor, namespace: gpu-operator}}
spec: {{interval: 1h, url: https://helm.ngc.nvidia.com/nvidia}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: gpu-operator, namespace: gpu-operator}}
spec:
  interval: 1h
  timeout: 30m
  chart: {{spec: {{chart: gpu-operator, version: v26.3.3, sourceRef: {{kind: HelmRepository, name: {source}}}}}}}
  {more}
  values: {{driver: {{enabled: false}}, cdi: {{enabled: true}}}}
"""
APPLICATION = """\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: gpu-operator, namespace: argocd}
spec:
  project: default
  destination: {server: https://kubernetes.default.svc, namespace: gpu-operator}
  source:
    repoURL: https://helm.ngc.nvidia.com/nvidia
    chart: gpu-operator
    targetRevision: v26.3.3
    helm: {valuesObject: {driver: {enabled: false}}}
"""
POD = "containers: [{name: main, image: a, resources: {limits: {nvidia.com/gpu.shared: 1}}}]"
OF_OTHERS = {
    "RayCluster ray.io/v1": "workerGroupSpecs: [{groupName: a, template: {spec: {POD}}}]",
    "RayJob ray.io/v1": "rayClusterSpec: {headGroupSpec: {template: {spec: {POD}}}}",
    "PyTorchJob kubeflow.org/v1": "pytorchReplicaSpecs: {Worker: {template: {spec: {POD}}}}",
    "MPIJob kubeflow.org/v2beta1": "mpiReplicaSpecs: {Launcher: {template: {spec: {POD}}}}",
    "JobSet jobset.x-k8s.io/v1alpha2": "replicatedJobs: [{name: a, template: {spec: {template: {spec: {POD}}}}}]",
    "LeaderWorkerSet leaderworkerset.x-k8s.io/v1": "leaderWorkerTemplate: {workerTemplate: {spec: {POD}}}",
    "InferenceService serving.kserve.io/v1beta1": "predictor: {POD}",
    "Service serving.knative.dev/v1": "template: {spec: {POD}}",
    "Job batch.volcano.sh/v1alpha1": "tasks: [{name: a, template: {spec: {POD}}}]",
    "Rollout argoproj.io/v1alpha1": "template: {spec: {POD}}",
}


def codes(folder, files):
    for path, text in files.items():
        (folder / path).write_text(text, "utf-8")
    return {item.code: item for item in check_paths(folder, [folder]).diagnostics}


def together(*names, more=""):
    return f"apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [{', '.join(names)}]\n{more}"


def custom(kind, spec, pod=POD):
    name, version = kind.split()
    head = f"apiVersion: {version}\nkind: {name}\nmetadata: {{name: train, namespace: team}}\n"
    return head + textwrap.dedent(f"spec: {{{spec.replace('POD', pod)}}}\n")


@pytest.mark.parametrize("kind", OF_OTHERS)
@pytest.mark.parametrize("install", [RELEASE.format(source="vendor", more=""), APPLICATION], ids=["flux", "argocd"])
def test_pods_of_custom_resources_are_judged_with_the_plugin_beside_them(tmp_path, kind, install):
    files = {"kustomization.yaml": together("op.yaml", "train.yaml"), "op.yaml": install}

    told = codes(tmp_path, {**files, "train.yaml": custom(kind, OF_OTHERS[kind])})
    right = codes(tmp_path, {**files, "train.yaml": custom(kind, OF_OTHERS[kind], POD.replace(".shared", ""))})

    assert "nvidia.com/gpu.shared" in told["PSM757"].message
    assert "PSM757" not in right


@pytest.mark.parametrize(
    ("name", "is_told"), [("DynamoGraphDeployment", False), ("ClusterPolicies", True), ("GPUCluster", True)]
)
def test_only_kinds_of_the_operator_have_to_be_served_by_it(tmp_path, name, is_told):
    other = (
        f"apiVersion: nvidia.com/v1alpha1\nkind: {name}\nmetadata: {{name: a, namespace: gpu-operator}}\nspec: {{}}\n"
    )
    files = {"kustomization.yaml": together("op.yaml", "a.yaml"), "a.yaml": other}

    told = codes(tmp_path, {**files, "op.yaml": RELEASE.format(source="vendor", more="")})

    assert ("PSM315" in told) is is_told


def test_the_source_of_a_release_is_a_name(tmp_path):
    files = {"kustomization.yaml": together("op.yaml")}

    told = codes(tmp_path, {**files, "op.yaml": RELEASE.format(source="vendro", more="")})
    right = codes(tmp_path, {**files, "op.yaml": RELEASE.format(source="vendor", more="")})

    assert told["PSM773"].help == "did you mean `vendor`?"
    assert "PSM773" not in right


def test_values_of_a_map_that_kustomize_calls_otherwise(tmp_path):
    generator = "namespace: gpu-operator\nconfigMapGenerator: [{name: gpu-values, files: [values.yaml=values.txt]}]\n"
    still = "generatorOptions: {disableNameSuffixHash: true}\n"
    files = {
        "op.yaml": RELEASE.format(source="vendor", more="valuesFrom: [{kind: ConfigMap, name: gpu-values}]"),
        "values.txt": "toolkit: {enabled: true}\n",
    }

    told = codes(tmp_path, {**files, "kustomization.yaml": together("op.yaml", more=generator)})
    right = codes(tmp_path, {**files, "kustomization.yaml": together("op.yaml", more=generator + still)})

    assert "kustomize calls it" in told["PSM773"].message
    assert "PSM773" not in right


def test_values_of_a_map_without_the_key(tmp_path):
    map_of = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: gpu-values, namespace: gpu-operator}}\ndata: {{{}: a}}\n"
    )
    files = {
        "kustomization.yaml": together("op.yaml", "map.yaml"),
        "op.yaml": RELEASE.format(source="vendor", more="valuesFrom: [{kind: ConfigMap, name: gpu-values}]"),
    }

    assert "`values.yaml`" in codes(tmp_path, {**files, "map.yaml": map_of.format("vals.yaml")})["PSM773"].message
    assert "PSM773" not in codes(tmp_path, {**files, "map.yaml": map_of.format("values.yaml")})
