"""Each value of a built object is placed at the user's line that decides it."""

from __future__ import annotations

import pytest

from kubernetes.repository.kustomize.side_by_side import ours, written

FILES = """\
# file: top/kustomization.yaml
resources: [../base]
namespace: gpu
commonAnnotations:
  team: ml
images:
- name: agent
  newTag: "2"
patches:
- patch: |
    apiVersion: apps/v1
    kind: DaemonSet
    metadata: {name: agent}
    spec:
      minReadySeconds: 5
- target: {kind: DaemonSet}
  patch: |
    - op: add
      path: /spec/revisionHistoryLimit
      value: 3
configMapGenerator:
- name: settings
  literals:
  - a=1
  files:
  - plugin.yaml
# file: top/plugin.yaml
version: v1
flags: {}
# file: base/kustomization.yaml
resources: [agent.yaml]
# file: base/agent.yaml
apiVersion: apps/v1
kind: DaemonSet
metadata:
  name: agent
spec:
  template:
    spec:
      hostPID: true
      containers:
      - name: main
        image: agent:1
"""
PLACES = {
    "/spec/template/spec/hostPID": ("base/agent.yaml", 8),
    "/metadata/namespace": ("top/kustomization.yaml", 2),
    "/metadata/annotations/team": ("top/kustomization.yaml", 4),
    "/spec/minReadySeconds": ("top/kustomization.yaml", 14),
    "/spec/revisionHistoryLimit": ("top/kustomization.yaml", 19),
    "/spec/template/spec/containers/0/image": ("top/kustomization.yaml", 6),
}


@pytest.mark.parametrize("pointer", PLACES)
def test_a_value_has_its_line(pointer, tmp_path):
    written(tmp_path, FILES)
    build = ours(tmp_path, "top")
    agent = next(item for item in build.objects if item.kind == "DaemonSet")
    path, line = PLACES[pointer]
    span = agent.source.locate(pointer).span

    assert span.path == path
    assert abs(span.start.line - line) <= 1
    assert build.unknown == ()


def test_what_is_generated_has_the_lines_of_its_files(tmp_path):
    written(tmp_path, FILES)
    settings = next(item for item in ours(tmp_path, "top").objects if item.kind == "ConfigMap")

    assert settings.data["data"] == {"a": "1", "plugin.yaml": "version: v1\nflags: {}\n"}
    assert settings.source.locate("/data/a").span.start.line == 23
    assert settings.source.locate("/data/plugin.yaml").span.path == "top/plugin.yaml"
