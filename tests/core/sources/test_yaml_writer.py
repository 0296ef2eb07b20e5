"""What is written reads back as what was meant, for every YAML reader."""

from __future__ import annotations

import pytest
import yaml

from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit, emit_all

AWKWARD = [
    *(
        "",
        " ",
        "~",
        "null",
        "Null",
        "none",
        "y",
        "Y",
        "n",
        "N",
        "yes",
        "No",
        "on",
        "OFF",
        "true",
        "False",
        "TRUE",
    ),
    *(
        "1",
        "-1",
        "+1",
        "0777",
        "0o777",
        "08",
        "0x1F",
        "0b11",
        "1_000",
        "1e3",
        "1E3",
        "1.5e3",
        "1e400",
        "1.0",
        ".5",
    ),
    *(
        "22.04",
        "1.33",
        "0.17.1",
        "5047e85",
        "12:30",
        "12:30:00",
        "2024-01-01",
        ".inf",
        "-.inf",
        ".nan",
        "nan",
        "inf",
    ),
    *(
        "=",
        "<<",
        "-",
        "- a",
        "?",
        "? a",
        ":",
        "a:",
        "a: b",
        ": a",
        "a #b",
        "#a",
        "#",
        "&a",
        "*a",
        "!a",
        "!!str",
        "|",
    ),
    *(
        ">",
        "%a",
        "@a",
        "`a",
        "'a'",
        '"a"',
        "[a]",
        "{a}",
        "a]",
        ",",
        "---",
        "--- a",
        "...",
        " a",
        "a ",
        "\ta",
        "a\t",
    ),
    *(
        "a\nb",
        "a\n",
        "\na",
        "a\n\n",
        "a \nb",
        "\n",
        "a\n b",
        " a\nb",
        "a\n\tb",
        "a\rb",
        "a\x00b",
        "a\x07b",
        "\x1b[0m",
    ),
    *(
        "a\x85b",
        "a\u2028b",
        "a\ufeffb",
        "\ufffe",
        "a\u202eb",
        "a\xadb",
        "a\x7fb",
        "é",
        "漢字",
        "🙂",
        "a\\b",
        "a\\nb",
    ),
    *(
        "--- a\nb",
        "# a\nb",
        "<<<<<<< a\nb",
        "a\n---\nb",
        "a\n# b",
        "25%",
        "*.example.com",
        "gpu-a[001-016]",
        "C:\\x",
    ),
]
PLAIN = [
    *(
        "a",
        "a100",
        "kube-system",
        "nvcr.io/nvidia/driver:550",
        "/var/run/x.sock",
        "v26.3.3",
        "a b",
        "a,b",
        "a :b",
        "a::b",
    ),
    *(
        "app.kubernetes.io/name",
        "refs/heads/main",
        "_x",
        "https://git.example.com/gpu.git",
        "NVIDIA-A100-SXM4-80GB",
    ),
    *("yesterday", "nullable", "nothing", "a=b", "a(b)", "user@host"),
]


@pytest.mark.parametrize("text", AWKWARD)
@pytest.mark.parametrize(
    "wrap", [lambda text: {"k": text}, lambda text: [text], lambda text: {text: 1}, lambda text: text]
)
def test_an_awkward_string_stays_a_string_for_every_reader(text, wrap):
    written = emit(wrap(text))

    assert read_documents(written) == [wrap(text)]
    assert yaml.safe_load(written) == wrap(text)


@pytest.mark.parametrize("text", [text for text in AWKWARD if "\n" not in text])
def test_an_awkward_string_is_quoted(text):
    assert emit({"k": text}).startswith('k: "')


@pytest.mark.parametrize("text", PLAIN)
def test_an_innocent_string_is_plain(text):
    assert emit({"k": text}) == f"k: {text}\n"


@pytest.mark.parametrize("key", ["on", "y", "No", "5", "1e3", "null", "", "a: b", "<<", "~", "true"])
def test_a_key_that_could_be_something_else_is_quoted(key):
    assert emit({key: 1}) == f'"{key}": 1\n'


@pytest.mark.parametrize("length", [999, 1000, 1030, 5000])
@pytest.mark.parametrize("wrap", [lambda mapping: mapping, lambda mapping: [mapping], lambda mapping: {"a": [mapping]}])
@pytest.mark.parametrize("value", [1, "a\nb\n", {"c": 1}, [1]])
def test_a_key_of_any_length_can_be_read_back(length, wrap, value):
    data = wrap({"k" * length: value, "after": 2})

    for indent_lists in (True, False):
        written = emit(data, indent_lists=indent_lists)
        assert read_documents(written) == [data]
        assert yaml.safe_load(written) == data


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (True, "true"),
        (False, "false"),
        (None, "null"),
        (0, "0"),
        (-5, "-5"),
        (2**64 - 1, "18446744073709551615"),
        (1.5, "1.5"),
        (1e21, "1.0e+21"),
        (1e-7, "1.0e-07"),
        (1.5e300, "1.5e+300"),
        ({}, "{}"),
        ([], "[]"),
        ("", '""'),
        ("a\tb", '"a\\tb"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("a\r\nb", '"a\\r\\nb"'),
        ("\x1b\u2028\ufeff", '"\\x1b\\u2028\\ufeff"'),
    ],
)
def test_a_leaf_has_one_spelling(value, written):
    assert emit({"k": value}) == f"k: {written}\n"
    assert emit([value]) == f"- {written}\n"
    assert emit(value) == f"{written}\n"


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan")])
def test_what_json_can_not_say_is_refused(value):
    with pytest.raises(ValueError, match="no JSON form"):
        emit({"k": value})


@pytest.mark.parametrize("value", [object(), b"bytes", {"k": {1, 2}}, ("tuple",)])
def test_what_is_not_plain_data_is_refused(value):
    with pytest.raises(TypeError):
        emit(value)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\nb", "k: |-\n  a\n  b\n"),
        ("a\nb\n", "k: |\n  a\n  b\n"),
        ("a\nb\n\n\n", "k: |+\n  a\n  b\n\n\n"),
        ("a\n\n  b\n", "k: |\n  a\n\n    b\n"),
        ("a\n", "k: |\n  a\n"),
        ("a \nb", 'k: "a \\nb"\n'),
        (" a\nb", 'k: " a\\nb"\n'),
        ("a\nb\x07", 'k: "a\\nb\\x07"\n'),
        ("a\nb\u202e", 'k: "a\\nb\\u202e"\n'),
    ],
)
def test_several_lines_become_a_literal_block_where_that_is_safe(text, written):
    assert emit({"k": text}) == written


NESTED = {"a": [{"b": 1, "c": [1, [2, 3], []]}, "x", {"d": {"e": "f\ng\n"}}], "h": {"i": {}}}


def test_lists_are_indented_by_default():
    assert emit(NESTED) == (
        "a:\n  - b: 1\n    c:\n      - 1\n      -\n        - 2\n        - 3\n      - []\n"
        "  - x\n  - d:\n      e: |\n        f\n        g\nh:\n  i: {}\n"
    )


def test_lists_can_stand_flush_with_their_key():
    assert emit(NESTED, indent_lists=False) == (
        "a:\n- b: 1\n  c:\n  - 1\n  -\n    - 2\n    - 3\n  - []\n- x\n- d:\n    e: |\n      f\n      g\nh:\n  i: {}\n"
    )


def test_keys_keep_their_order():
    assert emit({"b": 1, "a": 2}) == "b: 1\na: 2\n"


def test_a_header_and_comments_stand_above_what_they_speak_of():
    written = emit(
        {"a": 1, "b/c": {"d": [{"e": 1, "f": 2}]}},
        header=["generated", ""],
        comments={"/a": ["one", "two"], "/b~1c": ["three"], "/b~1c/d/0/e": ["four"], "/b~1c/d/0/f": ["five"]},
    )

    assert written == (
        "# generated\n#\n# one\n# two\na: 1\n# three\nb/c:\n  d:\n    # four\n    - e: 1\n      # five\n      f: 2\n"
    )


@pytest.mark.parametrize("indent_lists", [True, False])
def test_a_comment_never_becomes_a_part_of_the_block_above_it(indent_lists):
    data = {"k": ["block\n", {"a": "block\n", "b": "block\n\n"}, {"c": 1}], "z": 1}
    pointers = ["/k/1/a", "/k/1/b", "/k/2/c", "/z"]
    written = emit(data, comments={pointer: ["comment"] for pointer in pointers}, indent_lists=indent_lists)

    assert written.count("# comment") == len(pointers)
    assert read_documents(written) == [data]


@pytest.mark.parametrize("line", ["a\nb: 1", "a\rb: 1", "a\u2028b: 1", "a\x85b: 1", "\ufeff", "a\x00"])
def test_a_comment_can_not_be_ended_by_its_text(line):
    written = emit({"k": 1}, header=[line], comments={"/k": [line]})

    assert len(written.splitlines()) == 3
    assert read_documents(written) == [{"k": 1}]


def test_several_documents_are_one_stream():
    written = emit_all([{"a": 1}, {"b": "x\n"}, {"c": 1}], header=["generated"])

    assert written == "# generated\na: 1\n---\nb: |\n  x\n---\nc: 1\n"
    assert read_documents(written) == [{"a": 1}, {"b": "x\n"}, {"c": 1}]
