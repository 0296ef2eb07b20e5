"""Objects that Terraform applies are judged as any others are."""

from __future__ import annotations

import pytest

from poolsmith.interface.app import check_paths
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
from poolsmith.kubernetes.repository.terraform_objects import terraform_objects

NAMED = """
locals { labels = { a = "b" } }
resource "kubernetes_namespace" "gpu" {
  metadata {
    name   = "gpu-operator"
    labels = local.labels
  }
}
resource "kubernetes_config_map_v1" "lists" {
  metadata {
    name      = "lists"
    namespace = kubernetes_namespace.gpu.metadata[0].name
  }
  data = { "a.csv" = file("${path.module}/a.csv") }
}
resource "kubernetes_runtime_class_v1" "a" {
  count = 0
  metadata { name = "a" }
  handler = "a"
}
resource "kubectl_manifest" "b" {
  yaml_body = <<-EOT
    apiVersion: node.k8s.io/v1
    kind: RuntimeClass
    metadata: {name: b}
    handler: b
  EOT
}
resource "kubernetes_manifest" "c" {
  manifest = yamldecode("apiVersion: v1\\nkind: Secret\\nmetadata: {name: c}")
}
resource "kubernetes_manifest" "off" {
  count    = var.on ? 1 : 0
  manifest = { apiVersion = "v1", kind = "Secret", metadata = { name = "c" }, immutable = true }
}
variable "on" { default = false }
"""


def test_objects_are_what_terraform_applies_and_of_several_with_one_name_the_one_that_defaults_leave(tmp_path):
    (tmp_path / "a.csv").write_text("DCGM_FI_DEV_GPU_UTIL, gauge, a\n")
    (tmp_path / "main.tf").write_text(NAMED)
    found = terraform_objects(["main.tf"], RepositoryFiles(tmp_path, [tmp_path]))

    assert [(item.name, item.is_incomplete) for item in found] == [
        ("Namespace/gpu-operator", False),
        ("ConfigMap/lists", False),
        ("RuntimeClass/b", False),
        ("Secret/c", False),
    ]
    assert found[0].metadata["labels"] == {"a": "b"}
    assert "immutable" not in found[3].data


IN_HCL = """"kubernetes_manifest" "a" {
  manifest = {
    apiVersion = "node.k8s.io/v1"
    kind = "RuntimeClass"
    metadata = { name = "nvidia" }
    handler = "nvidia"
    handlers = "a"
  }
}
"""
OF_A_TYPE = """"kubernetes_config_map" "a" {
  metadata { name = "dcgm" }
  data = {
    "m.csv" = <<-EOT
      DCGM_FI_DEV_GPU_UTIL, gauge, a
      DCGM_FI_DEV_GPU_UTILS, gauge, a
    EOT
  }
}
"""


@pytest.mark.parametrize(
    ("text", "expected"), [(IN_HCL, (7, "unknown-object-field")), (OF_A_TYPE, (6, "metrics-list"))]
)
def test_a_mistake_is_told_at_its_line(tmp_path, text, expected):
    (tmp_path / "main.tf").write_text(f"resource {text}")
    found = [(item.primary.span.start.line, item.name) for item in check_paths(tmp_path, [tmp_path]).diagnostics]

    assert found == [expected]
