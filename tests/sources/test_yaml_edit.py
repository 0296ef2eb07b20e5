"""An edit changes one value and leaves every other byte alone."""

from __future__ import annotations

import pytest

from poolsmith.sources.yaml_edit import replace_scalar
from poolsmith.sources.yaml_reader import read_documents

TEXT = """\
# Cluster of the second floor   \n\

apiVersion: poolsmith/v1
spec:
  stack: {release: v26.3.3, kind: operator}   # pinned
  'quoted key':   "quoted value"    # stays


  list:
    - 1
    -
    - "c"
  empty:   # nothing yet
  last: true"""


@pytest.mark.parametrize(
    ("pointer", "value", "before", "after"),
    [
        ("/apiVersion", "poolsmith/v2", "apiVersion: poolsmith/v1", "apiVersion: poolsmith/v2"),
        ("/spec/stack/release", "v26.3.4", "release: v26.3.3,", "release: v26.3.4,"),
        ("/spec/stack/release", "1e3", "release: v26.3.3,", 'release: "1e3",'),
        ("/spec/stack/release", "a, b: c", "release: v26.3.3,", 'release: "a, b: c",'),
        ("/spec/stack/release", "a,b", "release: v26.3.3,", 'release: "a,b",'),
        ("/spec/stack/kind", "x]}", "kind: operator}", 'kind: "x]}"}'),
        ("/spec/quoted key", "new", '   "quoted value"    #', "   new    #"),
        ("/spec/list/0", 2, "- 1\n", "- 2\n"),
        ("/spec/list/1", "b", "    -\n", "    - b\n"),
        ("/spec/list/2", None, '- "c"', "- null"),
        ("/spec/empty", "x", "empty:   # nothing", "empty: x   # nothing"),
        ("/spec/last", False, "last: true", "last: false"),
        ("/spec/last", "on", "last: true", 'last: "on"'),
        ("/spec/last", "tab\t", "last: true", 'last: "tab\\t"'),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_only_the_value_changes(pointer, value, before, after, newline):
    text = TEXT.replace("\n", newline)
    before, after = before.replace("\n", newline), after.replace("\n", newline)

    assert replace_scalar(text, pointer, value) == text.replace(before, after, 1)


@pytest.mark.parametrize("text", ["é: 🙂 # ü\nb: 1\n", "a: 'x''y'\nb: 1\n", "a: |\n  ü\nb: 1\n"])
def test_text_beyond_ascii_moves_nothing(text):
    assert replace_scalar(text, "/b", 2) == text.replace("b: 1", "b: 2")


@pytest.mark.parametrize("pointer", ["/nope", "/spec", "/spec/list", "/spec/list/7", "/apiVersion/x"])
def test_a_pointer_without_a_scalar_is_a_key_error(pointer):
    with pytest.raises(KeyError):
        replace_scalar(TEXT, pointer, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: |\n  block\n", "x"),
        ("a: >-\n  folded\n", "x"),
        ("a: plain\n  continued\n", "x"),
        ('a: "quoted\n  continued"\n', "x"),
        ("a: 1\n", "two\nlines\n"),
        ("a: 1\n", {}),
        ("a: 1\n", ["x"]),
        ("a: 1\n", float("nan")),
    ],
)
def test_values_of_several_lines_are_refused(text, value):
    with pytest.raises(ValueError):
        replace_scalar(text, "/a", value)


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ("a: &x 1\nb: *x\n", "/a"),
        ("a: &x 1\nb: *x\n", "/b"),
        ("a: &x {k: 1}\nb: *x\n", "/b/k"),
        ("a: &x {k: 1}\nb:\n  <<: *x\n", "/b/k"),
        ("[&x 1, *x]", "/1"),
    ],
)
def test_a_value_that_others_share_is_refused(text, pointer):
    with pytest.raises(ValueError, match="other values hang on it"):
        replace_scalar(text, pointer, 2)


def test_a_tag_is_replaced_together_with_its_value():
    assert replace_scalar("a: !!str 5 # five\n", "/a", 6) == "a: 6 # five\n"


def test_the_other_documents_stay():
    text = "a: 1\n---\na: 2\n"

    assert replace_scalar(text, "/a", 3) == "a: 3\n---\na: 2\n"
    assert read_documents(replace_scalar(text, "/a", 3)) == [{"a": 3}, {"a": 2}]
