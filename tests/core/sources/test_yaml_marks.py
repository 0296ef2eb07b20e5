"""A pointer leads to its key's line and column, or to the nearest ancestor's."""

from __future__ import annotations

import pytest

from poolsmith.core.diagnostics import Position
from poolsmith.core.sources.source_file import SourceFile
from poolsmith.core.sources.yaml_places import Marks
from poolsmith.core.sources.yaml_reader import read_documents

TEXT = """\
# comment
metadata:
  name: a100
  labels: {app.kubernetes.io/name: x, "a~b": y}
spec:
  names:
    - one
    - {two: 2}
    -
      three: 3
  defaults: &d
    deep: {er: 1}
  copy: *d
  merged:
    <<: *d
    own: "quoted"
  list: [*d, [a, 'b']]
  on: yes
  empty:
  text: |
    several
    lines
"""


def source(text=TEXT):
    return SourceFile("profiles/prod/a100.yaml", text, read_documents(text)[0])


@pytest.mark.parametrize(
    ("pointer", "line", "column"),
    [
        ("/metadata", 2, 1),
        ("/metadata/name", 3, 3),
        ("/metadata/labels/app.kubernetes.io~1name", 4, 12),
        ("/metadata/labels/a~0b", 4, 39),
        ("/spec/names", 6, 3),
        ("/spec/names/0", 7, 7),
        ("/spec/names/1", 8, 7),
        ("/spec/names/1/two", 8, 8),
        ("/spec/names/2", 10, 7),
        ("/spec/names/2/three", 10, 7),
        ("/spec/defaults/deep/er", 12, 12),
        ("/spec/copy", 13, 3),
        ("/spec/copy/deep", 12, 5),
        ("/spec/merged/own", 16, 5),
        ("/spec/merged/deep", 12, 5),
        ("/spec/merged/deep/er", 12, 12),
        ("/spec/list/0/deep", 12, 5),
        ("/spec/list/1/1", 17, 18),
        ("/spec/true", 18, 3),
        ("/spec/empty", 19, 3),
    ],
)
def test_a_pointer_leads_to_its_key(pointer, line, column):
    assert source().locate(pointer).span.start == Position(line, column)


@pytest.mark.parametrize(
    ("pointer", "line", "column"),
    [
        ("/metadata/nope", 2, 1),
        ("/metadata/name/below/a/scalar", 3, 3),
        ("/spec/names/7", 6, 3),
        ("/spec/names/x", 6, 3),
        ("/spec/names/-1", 6, 3),
        ("/spec/merged/deep/nope", 12, 5),
        ("/spec/empty/nope", 19, 3),
    ],
)
def test_a_missing_pointer_leads_to_the_nearest_ancestor(pointer, line, column):
    assert source().locate(pointer).span.start == Position(line, column)


@pytest.mark.parametrize("pointer", ["", "/nope", "/nope/deeper"])
def test_a_pointer_without_an_ancestor_means_the_whole_file(pointer):
    location = source().locate(pointer)

    assert (location.span.start, location.source_line) == (None, None)
    assert str(location.span) == "profiles/prod/a100.yaml"


def test_a_location_tells_file_pointer_note_line_and_extent():
    location = source().locate("/metadata/name", "here")

    assert (str(location.span), location.span.end) == ("profiles/prod/a100.yaml:3:3", Position(3, 7))
    assert (location.pointer, location.note, location.source_line) == (
        "/metadata/name",
        "here",
        "  name: a100",
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_with_every_kind_of_line_end(newline):
    location = source("a: 1\nb:\n  é: 1\n  c: 2\n".replace("\n", newline)).locate("/b/c")

    assert (location.span.start, location.source_line) == (Position(4, 3), "  c: 2")


def test_columns_count_code_points():
    assert source("{é😀: 1, b: 2}").locate("/b").span.start == Position(1, 9)


@pytest.mark.parametrize(
    ("pointer", "there"),
    [
        ("", True),
        ("/spec/copy/deep/er", True),
        ("/spec/merged/deep", True),
        ("/spec/empty", True),
        ("/spec/names/1/two", True),
        ("/metadata/labels/app.kubernetes.io~1name", True),
        ("/metadata/labels/app.kubernetes.io/name", False),
        ("/spec/names/3", False),
        ("/spec/names/one", False),
        ("/metadata/name/x", False),
    ],
)
def test_a_file_has_what_it_says_and_null_counts(pointer, there):
    assert source().has(pointer) is there


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a: 22.10", "22.10"),
        ("a: '022'", "022"),
        ("a: on", "on"),
        ("a:", ""),
        ("a: {b: 1}", None),
        ("b: 1", None),
    ],
)
def test_a_scalar_is_told_as_it_was_written(text, written):
    assert source(text).written("/a") == written


def test_marks_exist_for_each_document():
    text = "a: 1\n---\n# x\nb: 2\n"

    assert Marks(text, 1).key("/b") == (Position(4, 1), Position(4, 2))
    assert Marks(text, 2).key("/b") is None


def test_a_text_that_can_not_be_read_has_no_marks():
    assert Marks("a: [").key("/a") is None


def test_the_digest_is_of_the_bytes():
    assert source("a: é\n").digest == "sha256:7b4c0d74a603dd4c402e0ec1eba36d650f9ce3f7a98596e5329630cc5704cd63"
