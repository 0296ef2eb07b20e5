"""Charts that tasks of Ansible install."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.repository.ansible_charts import ansible_charts
from poolsmith.kubernetes.repository.manifest_files import parse_documents
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles

PLAY = """\
- hosts: localhost
  tasks:
    - name: gpus
      when: with_gpus
      block:
        - kubernetes.core.helm:
            name: gpu-operator
            chart_ref: nvidia/gpu-operator
            chart_version: v25.3.4
            release_namespace: gpu-operator
            release_values:
              driver: {enabled: false, version: "{{ driver }}"}
"""


def charts(tmp_path, text):
    (document,), _ = parse_documents("site.yaml", text.encode())
    return list(ansible_charts(document, RepositoryFiles(tmp_path, [tmp_path])))


def test_a_task_in_a_block_has_chart_version_and_values(tmp_path):
    (found,) = charts(tmp_path, PLAY)

    assert (found.chart, found.version, found.namespace, found.is_locked) == (
        "gpu-operator",
        "v25.3.4",
        "gpu-operator",
        False,
    )
    assert found.values["driver"]["enabled"] is False
    assert str(found.locate(("driver", "enabled")).span) == "site.yaml:12:24"
    assert found.unknown == ()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("{chart_ref: '{{ chart }}'}", []),
        ("{chart_ref: nvidia/gpu-operator, state: absent}", []),
        ("{chart_ref: ./charts/gpu-operator}", [("gpu-operator", None, True, 0)]),
        ("{chart_ref: nvidia/gpu-operator, chart_version: '{{ v }}'}", [("gpu-operator", None, False, 0)]),
        ("{chart_ref: nvidia/gpu-operator, values: '{{ v }}'}", [("gpu-operator", None, False, 1)]),
        ("{chart_ref: nvidia/gpu-operator, values_files: [a.yaml]}", [("gpu-operator", None, False, 1)]),
    ],
)
def test_what_is_computed_is_unknown(tmp_path, arguments, expected):
    found = charts(tmp_path, f"- kubernetes.core.helm: {arguments}\n")

    assert [(item.chart, item.version, item.is_locked, len(item.unknown)) for item in found] == expected


@pytest.mark.parametrize("text", ["a: 1\n", "- 1\n", "- kubernetes.core.helm: x\n", "- block: {a: 1}\n"])
def test_what_installs_nothing(tmp_path, text):
    assert charts(tmp_path, text) == []
