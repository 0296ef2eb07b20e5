"""Terraform in JSON (developer.hashicorp.com/terraform/language/syntax/json), and OpenTofu's files."""

from __future__ import annotations

import json

import pytest

from poolsmith.core.sources.hcl_file import COMPUTED, HclFile, HclProblemError
from poolsmith.core.sources.terraform_files import read_assignments, read_hcl
from poolsmith.interface.app import check_paths

RELEASE = {"chart": "gpu-operator", "repository": "https://helm.ngc.nvidia.com/nvidia", "version": "v25.3.4"}
WRONG = {"name": "cdi.enabeld", "value": "true"}
IN_HCL = (
    'resource "helm_release" "gpu" {\n  chart = "gpu-operator"\n  repository = "https://helm.ngc.nvidia.com/nvidia"\n'
)
IN_HCL += '  version = "v25.3.4"\n  set = [{ name = "cdi.enabeld", value = true }]\n}\n'


def of_json(data):
    return read_hcl("main.tf.json", json.dumps(data), lambda kind, name: {"a": True, "b": "x"}.get(name, COMPUTED))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("${var.a}", True),
        ("${var.b}-${var.b}", "x-x"),
        ("${var.b}-${var.c}", COMPUTED),
        ("$${var.a}", "${var.a}"),
        ('${yamlencode({"a": var.a, b = [1]})}', {"a": True, "b": [1]}),
        ('${file("${path.module}/v.yaml")}', HclFile("v.yaml")),
        ('${var.b == "x" ? 1 : 2}', 1),
        ('a\n"b" \\ é', 'a\n"b" \\ é'),
        ("%{ if true }a%{ endif }", COMPUTED),
        (1.5, 1.5),
        (None, None),
    ],
)  # fmt: skip
def test_a_text_that_is_one_expression_is_that_expression(written, meant):
    (block,) = of_json({"locals": {"a": written}})

    assert block.data == {"a": meant}


def test_blocks_are_below_their_type_and_labels_or_in_lists():
    data = {
        "//": "a comment",
        "resource": {"helm_release": {"a": {"set": WRONG}, "b": [{"chart": "x"}, {"chart": "y"}]}},
        "module": [{"m": {"source": "./m"}}, {"n": {"dynamic": {"set": {"for_each": "${var.c}"}}}}],
    }

    assert [(block.kind, block.labels, block.data) for block in of_json(data)] == [
        ("resource", ("helm_release", "a"), {"set": [WRONG]}),
        ("resource", ("helm_release", "b"), {"chart": "x"}),
        ("resource", ("helm_release", "b"), {"chart": "y"}),
        ("module", ("m",), {"source": "./m"}),
        ("module", ("n",), {"set": [COMPUTED]}),
    ]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": ', '{"a": "b', '{"a": "\\x"}', "{} {}", '{"a":' * 5000])
def test_what_is_no_object_of_json(text):
    with pytest.raises(HclProblemError):
        read_hcl("main.tf.json", text)


def test_variables_in_json():
    assert read_assignments("terraform.tfvars.json", '{"a": {"b": [1]}}') == {"a": {"b": [1]}}


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("main.tf", IN_HCL, 5),
        ("main.tofu", IN_HCL, 5),
        ("main.tf.json", json.dumps({"resource": {"helm_release": {"a": RELEASE | {"set": [WRONG]}}}}, indent=1), 11),
        ("a.tofu.json", json.dumps({"resource": {"helm_release": {"a": RELEASE | {"set": WRONG}}}}, indent=1), 8),
    ],
)
def test_every_file_of_terraform_and_opentofu_is_judged_at_its_line(tmp_path, name, text, line):
    (tmp_path / name).write_text(text)
    found = [(item.name, item.primary.span.start.line) for item in check_paths(tmp_path, [tmp_path]).diagnostics]

    assert found == [("unknown-value", line)]
