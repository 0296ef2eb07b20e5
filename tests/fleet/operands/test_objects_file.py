"""Any Kubernetes objects in a file: streams, lists, JSON; what is none has a place."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.objects_file import MAX_OBJECTS_BYTES, read_objects

OBJECT = "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}"


@pytest.fixture
def read(tmp_path):
    def call(text):
        file = tmp_path / "crs.yaml"
        file.write_text(text)
        return read_objects(file, "crs.yaml")

    return call


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (OBJECT % "a", ["a"]),
        (f"---\n{OBJECT % 'a'}\n---\n---\n{OBJECT % 'b'}\n", ["a", "b"]),
        (f"kind: List\napiVersion: v1\nitems:\n- {OBJECT % 'a'}\n- {OBJECT % 'b'}\n", ["a", "b"]),
        (f"- {OBJECT % 'a'}\n", ["a"]),
        ("kind: List\nitems: []\n", []),
    ],
    ids=["one", "stream", "List", "list", "empty List"],
)
def test_objects_in_their_order(read, text, names):
    found = read(text)

    assert [item.data["metadata"]["name"] for item in found.objects] == names
    assert found.problems == ()


def test_an_object_knows_where_it_stands(read):
    first, second = read(f"{OBJECT % 'a'}\n---\nkind: List\nitems:\n  - {OBJECT % 'b'}\n").objects

    assert str(first.locate().span) == "crs.yaml:1:46"
    assert str(second.locate().span) == "crs.yaml:5:50"
    assert str(second.locate("/kind").span) == "crs.yaml:5:22"
    assert (second.name, second.api_version) == ("ConfigMap/b", "v1")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("{}\n", ["the object lacks `apiVersion`", "the object lacks `kind`", "the object lacks `metadata.name`"]),
        ("{apiVersion: 1, kind: A, metadata: {name: a}}\n", ["`apiVersion` is a number; it has to be a string"]),
        ("{apiVersion: v1, kind: A, metadata: [a]}\n", ["the object lacks `metadata.name`"]),
        ("{apiVersion: v1, kind: A, metadata: {name: ''}}\n", ["the object lacks `metadata.name`"]),
        ("- 1\n- [a]\n", ["this is a number, not a Kubernetes object", "this is a list, not a Kubernetes object"]),
        ("", ["the file holds nothing"]),
    ],
    ids=["bare", "number", "metadata", "no name", "scalars", "empty"],
)
def test_what_is_no_object_is_told(read, text, messages):
    found = read(text)

    assert found.objects == ()
    assert sorted(problem.message for problem in found.problems) == sorted(messages)
    assert {problem.primary.span.path for problem in found.problems} == {"crs.yaml"}


def test_a_huge_file_is_not_read(tmp_path):
    file = tmp_path / "crs.yaml"
    with file.open("wb") as stream:
        stream.truncate(MAX_OBJECTS_BYTES + 1)

    assert [problem.name for problem in read_objects(file, "crs.yaml").problems] == ["input-limit"]


def test_a_folder_is_no_file(tmp_path):
    assert [problem.name for problem in read_objects(tmp_path, "crs").problems] == ["unreadable-file"]
