"""Half an object, and several broken documents in one file: each is told at its line, and the sound ones are judged."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import NoInputError
from poolsmith.interface.app.check import check_paths

HALVES = {
    "no apiVersion": ("kind: ConfigMap\nmetadata: {name: a}\n", "1:1", "`apiVersion`"),
    "a null apiVersion": ("apiVersion: null\nkind: ConfigMap\nmetadata: {name: a}\n", "1:1", "`apiVersion`"),
    "no kind": ("apiVersion: v1\nmetadata: {name: a}\n", "1:1", "`kind`"),
    "a null kind": ("apiVersion: v1\nkind: null\nmetadata: {name: a}\n", "2:1", "`kind`"),
    "an empty kind": ('apiVersion: v1\nkind: ""\nmetadata: {generateName: a-}\n', "2:1", "`kind`"),
    "a kind that is a number": ("apiVersion: v1\nkind: 1\nmetadata: {name: a}\n", "2:1", "`kind`"),
}
NO_OBJECTS = {
    "values of a chart": "kind: DaemonSet\nreplicas: 1\n",
    "values with metadata of their own": "kind: DaemonSet\nmetadata: {labels: {a: b}}\n",
    "anything": "services: [a]\n",
}
SOUND = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: sound}\n"


def told(root):
    return [
        (str(item.primary.span).removeprefix("file.yaml:"), item.name)
        for item in check_paths(root, [root], everything=True).diagnostics
    ]


@pytest.mark.parametrize("case", HALVES)
@pytest.mark.parametrize("beside", ["", f"\n---\n{SOUND}"], ids=["alone", "beside a sound one"])
def test_half_an_object_is_an_error_at_its_line(write_files, case, beside):
    text, place, lacking = HALVES[case]
    root = write_files({"file.yaml": text + beside})
    (found,) = check_paths(root, [root], everything=True).diagnostics

    assert (str(found.primary.span), found.name) == (f"file.yaml:{place}", "schema-violation")
    assert lacking in found.message


@pytest.mark.parametrize("case", NO_OBJECTS)
def test_what_is_no_object_is_skipped(write_files, case):
    root = write_files({"file.yaml": NO_OBJECTS[case]})
    with pytest.raises(NoInputError):
        check_paths(root, [root], everything=True)

    write_files({"other.yaml": SOUND})
    outcome = check_paths(root, [root], everything=True)

    assert outcome.diagnostics == ()
    assert [item.what for item in outcome.skipped] == ["file.yaml"]


def test_each_broken_document_is_told_and_the_others_are_judged(write_files):
    documents = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: 1}\n",
        ": : [\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: []\n",
        "a: 1\na: 2\n",
        "apiVersion: v1\nmetadata: {name: c}\n",
        "bar: }\n",
    )
    root = write_files({"file.yaml": "---\n".join(documents)})

    assert told(root) == [
        ("4:8", "schema-violation"),
        ("6:1", "yaml-syntax"),
        ("11:1", "schema-violation"),
        ("13:1", "schema-violation"),
        ("14:1", "duplicate-key"),
        ("16:1", "schema-violation"),
        ("19:6", "yaml-syntax"),
    ]


@pytest.mark.parametrize("text", ["a: [\n", "---\na: [\n", "a: |\n  ---\nb: ]\n"])
def test_a_file_that_is_one_broken_document_has_one_problem(write_files, text):
    root = write_files({"file.yaml": text})

    assert [name for _, name in told(root)] == ["yaml-syntax"]


def test_a_file_of_very_many_broken_documents_has_one_problem(write_files):
    root = write_files({"file.yaml": "---\na: [\n" * 1000})

    assert [name for _, name in told(root)] == ["yaml-syntax"]
