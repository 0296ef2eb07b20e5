"""Charts and labels of Terraform files, as far as they are literals."""

from __future__ import annotations

import time

import pytest

from poolsmith.core.sources.hcl_file import COMPUTED, HclFile, HclProblemError
from poolsmith.core.sources.terraform_files import read_hcl
from poolsmith.kubernetes.repository.infrastructure_code import terraform_charts, terraform_labels
from poolsmith.kubernetes.repository.repository_files import RepositoryFiles
from poolsmith.kubernetes.repository.terraform_scope import TerraformScopes

FILE = """\
variable "driver" { type = string }

# the operator
resource "helm_release" "gpu" {
  name       = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  chart      = "gpu-operator"
  version    = "v25.3.4" // one
  namespace  = "gpu-operator"
  values = [
    yamlencode({
      driver = { enabled = false, version = var.driver }
      "toolkit" : { version = "v1.16.1-ubuntu20.04" },
    }),
    <<-EOT
      mig:
        strategy: mixed
    EOT
    ,
    file("${path.module}/values.yaml"),
  ]
  set {
    name  = "cdi.enabled"
    value = "true"
  }
  dynamic "set" {
    for_each = var.more
    content { name = set.key }
  }
}

resource "google_container_node_pool" "gpu" {
  name = "gpu-${var.zone}"
  node_config {
    labels = merge(var.labels, { a = "b" })
    taint {
      key = "nvidia.com/gpu"
    }
  }
}

module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    gpu = {
      labels = {
        "nvidia.com/gpu.workload.config" = "vm-passthru"
        (var.key)                        = "x"
        team                             = local.team
      }
    }
  }
}
"""


def charts(tmp_path, text):
    (tmp_path / "values.yaml").write_text("nfd: {enabled: false}\n")
    (tmp_path / "main.tf").write_text(text)
    files = RepositoryFiles(tmp_path, [tmp_path])
    return list(terraform_charts("main.tf", TerraformScopes(["main.tf"], files), files))


def test_a_release_has_its_chart_version_and_values_in_their_order(tmp_path):
    (found,) = charts(tmp_path, FILE)

    assert (found.chart, found.version, found.namespace) == ("gpu-operator", "v25.3.4", "gpu-operator")
    assert found.values == {
        "driver": {"enabled": False},
        "toolkit": {"version": "v1.16.1-ubuntu20.04"},
        "mig": {"strategy": "mixed"},
        "nfd": {"enabled": False},
        "cdi": {"enabled": True},
    }
    assert [item.what for item in found.unknown] == [
        "values that Terraform computes",
        "a value that Terraform computes",
    ]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("driver", "enabled"), "main.tf:12:18"),
        (("toolkit", "version"), "main.tf:13:21"),
        (("mig", "strategy"), "main.tf:17:9"),
        (("nfd", "enabled"), "values.yaml:1:7"),
        (("cdi", "enabled"), "main.tf:24:5"),
    ],
)
def test_each_value_has_its_line(tmp_path, path, expected):
    (found,) = charts(tmp_path, FILE)

    assert str(found.locate(path).span) == expected
    assert str(found.version_at().span) == "main.tf:8:3"


def test_labels_are_read_wherever_they_stand_as_literals():
    merged, found = terraform_labels(FILE, "main.tf")

    assert [(mark.key, mark.value) for mark in merged.marks] == [("a", "b")]
    assert [(mark.key, mark.value, str(found.at(mark).span)) for mark in found.marks] == [
        ("nvidia.com/gpu.workload.config", "vm-passthru", "main.tf:47:9")
    ]
    assert found.document.name == "module.eks"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"a${b}c"', COMPUTED),
        ('"a$${b}c"', "a${b}c"),
        (r'"a\"b\n\u00e4"', 'a"b\nä'),
        ('"${b ? "x}" : "y"}"', COMPUTED),
        ("-1.5", -1.5),
        ("3 + 4", COMPUTED),
        ('"a" == b', COMPUTED),
        ("x", COMPUTED),
        ("x.y[0]", COMPUTED),
        ("merge({a = 1, b = 2}, {b = 3})", {"a": 1, "b": 3}),
        ("merge({a = 1}, x.y, {b = 3})", {"a": COMPUTED, COMPUTED: COMPUTED, "b": 3}),
        ('try("a", x)', "a"),
        ('try(x.y, "a")', COMPUTED),
        ("coalesce(1, 2)", 1),
        ('coalesce("", null, "a")', "a"),
        ("coalesce(x, 1)", COMPUTED),
        ('compact(["a", "", null])', ["a"]),
        ("compact([1 == 2 ? 3 : null, {a = 1}])", [{"a": 1}]),
        ('concat(["a"], [], ["b"])', ["a", "b"]),
        ('format("v%s", 1)', "v1"),
        ('format("%s-%s", "a", "b")', "a-b"),
        ('format("%05d", 1)', COMPUTED),
        ('join(",", ["a", "b"])', "a,b"),
        ('length("abc") > 2', True),
        ("length([])", 0),
        ('lookup({a = 1}, "a", 2)', 1),
        ('lookup({a = 1}, "b", 2)', 2),
        ('trimspace(" a ") == "a"', True),
        ('trimprefix("v1", "v")', "1"),
        ('upper(lower("A"))', "A"),
        ('"1" == 1', False),
        ("true == 1", False),
        ("null == null", True),
        ('null != null && x != ""', False),
        ("!true || !false", True),
        ("1 < 2 && 2 >= 2", True),
        ("x || true", True),
        ("x && true", COMPUTED),
        ('"a" < "b"', COMPUTED),
        ("(1 > 2) ? 3 : 4 > 3 ? 5 : 6", 5),
        ("(true\n? 1\n: 2)", 1),
        ("true ? {\na = 1\n} : {\nb = 2\n}", {"a": 1}),
        ("[for a in [1, 2] : { v = a }]", [{"v": 1}, {"v": 2}]),
        ('[for k, v in {a = 1} : "${k}=${v}"]', ["a=1"]),
        ('{for k, v in {a = 1} : "${k}.b" => v}', {"a.b": 1}),
        ("[for a in [1, 2] : a if a > 1]", [2]),
        ("{for a in [1, 2] : a => a if x > 1}", COMPUTED),
        ("[for a in [{b = [7]}] : a.b[0]]", [7]),
        ("[for a in [[1], [2]] : [for b in a : b]]", [[1], [2]]),
        ("null", None),
        ("[1, 2,\n 3]", [1, 2, 3]),
        ("[for a in b : a]", COMPUTED),
        ("{for k, v in b : k => v}", COMPUTED),
        ("{a = 1, b = 2}", {"a": 1, "b": 2}),
        ("{a = 1\nb = [\n{c = 3}\n]}", {"a": 1, "b": [{"c": 3}]}),
        ("{a = b ? 1 : 2, c = 3}", {"a": COMPUTED, "c": 3}),
        ("{a = (\n1 + 2\n)\nc = 3}", {"a": COMPUTED, "c": 3}),
        ("{a.b = 1\nc = 3}", {COMPUTED: 1, "c": 3}),
        ('file("a.yaml")', HclFile("a.yaml")),
        ('file("${path.module}/../a.yaml")', HclFile("../a.yaml")),
        ('file("${var.a}.yaml")', COMPUTED),
        ('templatefile("a.yaml", {b = 1})', HclFile("a.yaml", is_template=True)),
        ('"${file("a.yaml")}"', HclFile("a.yaml")),
        ('"${file("a.yaml")}b"', COMPUTED),
        ("yamlencode({a = 1})", {"a": 1}),
        ("yamlencode({a = 1})[0]", COMPUTED),
        ("true ? 1 : 2", 1),
        ("x ? 1 : 2", COMPUTED),
        ("[1, /* two */ 2] # three", [1, 2]),
        ("<<EOT\n  a: 1\nEOT\n", "  a: 1\n"),
        ("<<-EOT\n  a: 1\n    b\n  EOT\n", "a: 1\n  b\n"),
        ("<<EOT\n${a}\nEOT\n", COMPUTED),
        ("<<EOT\n%{if a}\nEOT\n", COMPUTED),
    ],
)
def test_what_is_a_literal(text, expected):
    (block,) = read_hcl("a.tf", f"locals {{\n  v = {text}\n  w = 1\n}}\n")

    assert block.data == {"v": expected, "w": 1}


DYNAMIC = """
resource "helm_release" "gpu" {
  chart      = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  dynamic "set" {
    for_each = var.settings
    content {
      name  = set.key
      value = set.value
    }
  }
}
variable "settings" {
  default = { "driver.enabled" = "false", "mig.strategy" = "mixed" }
}
"""


def test_dynamic_blocks_are_as_many_as_their_map_has_entries(tmp_path):
    (found,) = charts(tmp_path, DYNAMIC)

    assert found.values == {"driver": {"enabled": False}, "mig": {"strategy": "mixed"}}
    assert not found.unknown


def test_locals_may_be_made_of_others_and_a_switch_is_for_somebody_to_turn(tmp_path):
    text = """
locals {
  all    = { driver = local.driver }
  driver = merge({ enabled = true }, var.version == null ? {} : { version = var.version })
}
variable "version" { default = null }
variable "is_on" { default = false }
resource "helm_release" "gpu" {
  count      = var.is_on ? 1 : 0
  chart      = "gpu-operator"
  repository = "https://helm.ngc.nvidia.com/nvidia"
  values     = compact([var.version != null && var.version != "" ? file(var.version) : null, yamlencode(local.all)])
}
"""
    (found,) = charts(tmp_path, text)

    assert found.values == {"driver": {"enabled": True}}
    assert not found.unknown


@pytest.mark.parametrize("text", ["[for a in [1] : [for a in [1] : " * 25, "true ? " * 3000, "(" * 3000])
def test_deep_expressions_are_no_hcl(text):
    with pytest.raises(HclProblemError):
        read_hcl("a.tf", f"locals {{\n  v = {text}\n}}\n")


@pytest.mark.parametrize("inner", ['"' + "a" * 100_000 + '"', "[for b in MANY : b]"])
def test_what_takes_too_many_rounds_is_computed_and_hides_nothing_else(inner):
    many = "[" + "1," * 200 + "]"
    text = f"v = [for a in {many} : {inner.replace('MANY', many)}]"
    (block,) = read_hcl("a.tf", f"locals {{\n  {text}\n  w = 1\n}}\n")

    assert block.data["w"] == 1
    assert block.data["v"] is COMPUTED or COMPUTED in block.data["v"]


@pytest.mark.parametrize(
    "text",
    [
        "a {",
        "a { b = [1 }",
        'a { b = "c\n" }',
        "a { b = <<EOT\n",
        "{}",
        "a { b = {c} }",
        "a { b = " + "[" * 900,
        "= 1",
        "\0",
    ],
)
def test_what_is_no_hcl(text, tmp_path):
    with pytest.raises(HclProblemError):
        read_hcl("a.tf", text)
    assert charts(tmp_path, text) == []


@pytest.mark.parametrize(
    "text",
    [
        "a { b = [x" + " " * 300_000 + "]\n}",
        "a { b = [x" + "\n" * 300_000 + "]\n}",
        "a { b = [x" + " \n" * 150_000 + "]\n}",
        "a { b = x " + "/* " * 100_000,
        "a { b = (" + "/* " * 100_000,
        'a { b = "' + '${"' * 100_000,
        "a { b = " + "(" * 300_000,
        "a {" * 100_000,
        "a { b = x\f\v\u00a0y\n}",
        "a { b = [x \f\f, 1]\n}",
    ],
)
def test_hostile_texts_take_no_time_and_crash_nothing(text, tmp_path):
    start = time.perf_counter()

    assert charts(tmp_path, text) == []
    assert list(terraform_labels(text, "a.tf")) == []
    assert time.perf_counter() - start < 5
