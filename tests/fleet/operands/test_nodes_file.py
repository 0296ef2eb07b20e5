"""Nodes as kubectl prints them, or in a short form; what is wrong has a place."""

from __future__ import annotations

import json

import pytest

from poolsmith.fleet.operands.expansion import Node
from poolsmith.fleet.operands.node_files import read_nodes

WHOLE = """\
apiVersion: v1
kind: Node
metadata:
  name: gpu-1
  labels: {kubernetes.io/arch: amd64}
  annotations: {a: b}
spec:
  taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
status:
  nodeInfo: {containerRuntimeVersion: containerd://1.7.24}
"""
SHORT = """\
- name: gpu-1
  labels: {kubernetes.io/arch: amd64}
  annotations: {a: b}
  runtime: containerd://1.7.24
  taints: [{key: nvidia.com/gpu, effect: NoSchedule}]
"""
NODE = Node(
    name="gpu-1",
    labels={"kubernetes.io/arch": "amd64"},
    annotations={"a": "b"},
    runtime="containerd://1.7.24",
    taints=({"key": "nvidia.com/gpu", "effect": "NoSchedule"},),
)


@pytest.fixture
def read(tmp_path):
    def call(text):
        file = tmp_path / "nodes.yaml"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_nodes(file, "nodes.yaml")

    return call


def indented(text, by):
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        SHORT,
        "kind: List\napiVersion: v1\nitems:\n- " + indented(WHOLE, 2).lstrip(),
        "kind: NodeList\napiVersion: v1\nitems:\n- " + indented(WHOLE.split("\n", 2)[2], 2).lstrip(),
        f"---\n---\n{WHOLE}---\n",
        SHORT.replace("- ", "  ", 1).replace("\n  ", "\n  "),
    ],
    ids=["Node", "short", "List", "NodeList of bare items", "empty documents around", "short, no list"],
)
def test_forms_of_one_node(read, text):
    assert read(text).nodes == (NODE,)
    assert read(text).problems == ()


def test_json_is_read_as_well(read):
    items = [{"name": "a", "labels": {"x": "true"}, "runtime": "cri-o://1.31.3"}, {"name": "b"}]

    assert read(json.dumps(items, indent="\t")).nodes == (
        Node(name="a", labels={"x": "true"}, runtime="cri-o://1.31.3"),
        Node(name="b", labels={}),
    )


def test_several_documents_are_one_list(read):
    assert [node.name for node in read(f"{WHOLE}---\n[{{name: b}}, {{name: a}}]\n").nodes] == ["gpu-1", "b", "a"]


def test_a_list_may_be_empty_but_a_file_may_not(read):
    assert read("[]\n").problems == ()
    assert read("kind: NodeList\nitems: []\n").problems == ()
    assert [item.name for item in read("# nothing\n").problems] == ["empty-document"]


@pytest.mark.parametrize(
    ("text", "place", "name", "message"),
    [
        ("- name: a\n- labels: {}\n", "2:3", "missing-field", "the node has no name"),
        ("- {name: 1}\n", "1:4", "wrong-type", "`name` is a number; it has to be a string"),
        ("- {name: a, labels: {v: 22.04}}\n", "1:22", "ambiguous-scalar", "labels of node `a`: `v` is a number; it has to be a string"),
        ("- {name: a, labels: {v: [x]}}\n", "1:22", "wrong-type", "labels of node `a`: `v` is a list; it has to be a string"),
        ("- {name: a, labels: [v]}\n", "1:13", "wrong-type", "labels of node `a` are a list; they have to be a mapping"),
        ("- {name: a, lables: {}}\n", "1:13", "unknown-field", "a node has no field `lables`"),
        ("- {name: a, runtime: 1}\n", "1:13", "wrong-type", "`runtime` is a number; it has to be a string"),
        ("- {name: a, taints: x}\n", "1:13", "wrong-type", "taints have to be a list of mappings"),
        ("- {name: a}\n- {name: a}\n", "2:3", "duplicate-item", "the node `a` is listed twice"),
        ("- a\n", "1:3", "not-a-mapping", "this is a string, not a node"),
        ("kind: Pod\napiVersion: v1\n", "", "unknown-kind", "this is v1 Pod, not a v1 Node"),
        ("kind: [x]\n", "", "unknown-kind", "this is v1 a list, not a v1 Node"),
        ("text\n", "", "not-a-mapping", "this is a string, not a node"),
        ("a: [\n", "1:4", "yaml-syntax", ""),
        ("a: 1\na: 1\n", "2:1", "duplicate-key", ""),
        (b"- {name: \xff}\n", "1:10", "not-utf8", "byte 0xff is not UTF-8"),
        ("[" * 3000, "", "input-limit", ""),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_what_is_wrong_has_a_place(read, text, place, name, message):
    (problem,) = read(text).problems

    assert problem.name == name
    assert str(problem.primary.span).startswith(f"nodes.yaml:{place}" if place else "nodes.yaml")
    assert problem.message.startswith(message)


def test_thousands_of_mistakes_are_not_told_one_by_one(read):
    problems = read("[" + "{name: 1}, " * 1000 + "]").problems

    assert len(problems) == 201
    assert "more than 200 mistakes" in next(item.message for item in problems if item.name == "input-limit")
