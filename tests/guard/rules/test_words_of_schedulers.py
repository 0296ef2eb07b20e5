"""Queues of Kueue and pods of the KAI scheduler in other words than the examples of the rule have."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import check_paths

QUEUES = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {{name: all}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
    - coveredResources: {covered}
      flavors: [{{name: any, resources: [{{name: cpu, nominalQuota: 4}}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: LocalQueue
metadata: {{name: team, namespace: ml}}
spec: {{clusterQueue: all}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: train, namespace: ml, labels: {{kueue.x-k8s.io/queue-name: team}}}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: registry.example.com/a:1
          resources: {{requests: {{cpu: 1}}, limits: {{nvidia.com/mig-1g.10gb: 1}}}}
"""
LEFT_OUT = "excludeResourcePrefixes: [nvidia.com/mig-]"
REPLACED = (
    "transformations: [{input: nvidia.com/mig-1g.10gb, strategy: Replace, outputs: {example.com/gpu-memory: 10Gi}}]"
)
SETTINGS = """\
        apiVersion: config.kueue.x-k8s.io/v1beta1
        kind: Configuration
        resources: {%s}
"""
OF_A_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
    controller_manager_config.yaml: |
"""
OF_A_CHART = """\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: kueue, namespace: kueue-system}
spec:
  interval: 1h
  chart: {spec: {chart: kueue, version: 0.13.0, sourceRef: {kind: HelmRepository, name: kueue}}}
  values:
    managerConfig:
      controllerManagerConfigYaml: |
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: share, namespace: ml, annotations: {{{annotation}}}}}
spec:
  schedulerName: kai-scheduler
  containers: [{{name: main, image: "registry.example.com/a:1", resources: {{limits: {{nvidia.com/gpu: {number}}}}}}}]
"""


def told(folder, **texts):
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text)
    return [item.message for item in check_paths(folder, [folder]).diagnostics if item.code == "PSM938"]


def test_a_resource_that_no_group_covers_is_told(tmp_path):
    assert len(told(tmp_path, queues=QUEUES.format(covered="[cpu]"))) == 1


@pytest.mark.parametrize("setting", [LEFT_OUT, REPLACED])
@pytest.mark.parametrize("where", [OF_A_MAP, OF_A_CHART], ids=["map", "chart"])
def test_what_kueue_is_told_to_leave_out_or_to_replace_needs_no_group(tmp_path, where, setting):
    settings = where + SETTINGS.replace("%s", setting)

    assert told(tmp_path, queues=QUEUES.format(covered="[cpu]"), settings=settings) == []


@pytest.mark.parametrize("covered", ["5", "{a: b}", "[[a], {b: 1}, cpu]", "null"])
def test_groups_of_any_shape_are_read(tmp_path, covered):
    assert "the quotas of a flavor" not in str(told(tmp_path, queues=QUEUES.format(covered=covered)))


@pytest.mark.parametrize(
    ("annotation", "number", "count"),
    [
        ("gpu-fraction: '0.5'", 0, 0),
        ("gpu-fraction: '0.5'", 1, 1),
        ("gpu-memory: '${MEMORY}'", 0, 0),
        ("gpu-memory: '{{ memory }}'", 0, 0),
        ("gpu-memory: 2Gi", 0, 1),
    ],
)
def test_parts_of_gpus_of_the_kai_scheduler(tmp_path, annotation, number, count):
    assert len(told(tmp_path, pod=POD.format(annotation=annotation, number=number))) == count
