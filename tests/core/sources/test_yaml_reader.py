"""YAML is read as Kubernetes reads it, and refused where something would be lost silently."""

from __future__ import annotations

import time

import pytest

from poolsmith.core.diagnostics import Position
from poolsmith.core.sources.yaml_nodes import MAX_ALIASED_NODES, MAX_DEPTH
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents


def problem_in(text):
    with pytest.raises(YamlProblem) as caught:
        read_documents(text)
    return caught.value


def place_of(text):
    problem = problem_in(text)
    return problem.reason, (problem.position.line, problem.position.column)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: no", {"a": False}),
        ("a: 'no'", {"a": "no"}),
        ('a: "1e3"', {"a": "1e3"}),
        ("a: |\n  1\n", {"a": "1\n"}),
        ("a: >-\n  yes\n", {"a": "yes"}),
        ("a: !foo 1", {"a": "1"}),
        ("a: !foo {b: 1}", {"a": {"b": 1}}),
        ("a: !foo [1]", {"a": [1]}),
        ("a: !!str 5", {"a": "5"}),
        ("a: !!str", {"a": ""}),
        ("a: !!int '5'", {"a": 5}),
        ("a: !!float 5", {"a": 5}),
        ("a: !!bool yes", {"a": True}),
        ('a: ! "true"', {"a": "true"}),
        ("a: !!binary aGVsbG8=", {"a": "hello"}),
        ("!!binary cHJpdmlsZWdlZA==: 1", {"privileged": 1}),
        ("a: !!timestamp 2024-01-01", {"a": "2024-01-01"}),
        ("a: =", {"a": "="}),
        ("a:", {"a": None}),
        ("? a", {"a": None}),
        ("{a, b: [c: d]}", {"a": None, "b": [{"c": "d"}]}),
        ("on: 1", {"true": 1}),
        ("y: 1", {"true": 1}),
        ("5: 1", {"5": 1}),
        ("0777: 1", {"511": 1}),
        ("1.5: 1", {"1.5": 1}),
        ("12:30: 1", {"12:30": 1}),
        ("[]", []),
        ("5", 5),
    ],
)
def test_a_document_has_the_data_that_kubernetes_sees(text, data):
    assert read_documents(text) == [data]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("", []),
        (" \n", []),
        ("# only a comment\n", []),
        ("---\n", [None]),
        ("---\na: 1\n", [{"a": 1}]),
        ("--- # comment\na: 1\n", [{"a": 1}]),
        ("---   \na: 1\n", [{"a": 1}]),
        ("---\r\na: 1\r\n", [{"a": 1}]),
        ("a: 1\n---\nb: 2\n...\n---\nc: 3\n", [{"a": 1}, {"b": 2}, {"c": 3}]),
        ("a: 1\n---\n", [{"a": 1}, None]),
        ("\ufeffa: 1\n", [{"a": 1}]),
    ],
)
def test_a_stream_has_its_documents_in_order(text, documents):
    assert read_documents(text) == documents


@pytest.mark.parametrize(
    ("text", "second", "first"),
    [
        ("a: 1\nb: 2\na: 3\n", (3, 1), (1, 1)),
        ("x:\n  - a: 1\n    a: 2\n", (3, 5), (2, 5)),
        ("{a: 1, a: 2}", (1, 8), (1, 2)),
        ("1: a\n'1': b\n", (2, 1), (1, 1)),
        ("yes: a\non: b\n", (2, 1), (1, 1)),
        ("0x10: a\n16: b\n", (2, 1), (1, 1)),
        ("a: 1\r\nb: 2\r\na: 3\r\n", (3, 1), (1, 1)),
        ("x: {<<: {a: 1}, <<: {b: 1}}", (1, 17), (1, 5)),
    ],
)
def test_a_duplicate_key_names_both_places(text, second, first):
    problem = problem_in(text)

    assert problem.reason == "duplicate-key"
    assert (problem.position, problem.related) == (Position(*second), Position(*first))
    assert f"first in line {first[0]}" in problem.message


def test_duplicate_keys_can_be_collected_and_the_first_value_counts():
    duplicates = []
    text = "x: &x {a: 1, a: 2}\nw: *x\nz:\n  b: {c: 1}\n  <<: {d: 1, d: 2}\n  b: 3\nz: 4\n"

    assert read_documents(text, duplicates) == [{"x": {"a": 1}, "w": {"a": 1}, "z": {"b": {"c": 1}, "d": 1}}]
    assert sorted((item.position.line, item.position.column) for item in duplicates) == [
        (1, 14),
        (5, 14),
        (6, 3),
        (7, 1),
    ]


@pytest.mark.parametrize(
    ("text", "merged"),
    [
        ("<<: {a: 1}\nb: 2", {"a": 1, "b": 2}),
        ("<<: {a: 1}\na: 2", {"a": 2}),
        ("b: 2\n<<: {a: 1}", {"a": 1, "b": 2}),
        ("<<: [{a: 1}, {a: 2, b: 2}]", {"a": 1, "b": 2}),
        ("<<: {<<: {a: 1}, b: 2}\nc: 3", {"a": 1, "b": 2, "c": 3}),
        ("!!merge <<: {a: 1}", {"a": 1}),
        ("'<<': {a: 1}", {"<<": {"a": 1}}),
        ("!!str <<: {a: 1}", {"<<": {"a": 1}}),
        ("a: <<", {"a": "<<"}),
    ],
)
def test_a_merge_key_brings_what_is_not_there(text, merged):
    assert read_documents(text) == [merged]


def test_an_anchored_mapping_can_be_merged_and_overridden():
    text = "base: &base {a: 1, b: 2}\npool:\n  <<: *base\n  b: 3\n"

    assert read_documents(text)[0]["pool"] == {"a": 1, "b": 3}


@pytest.mark.parametrize("text", ["<<: 5", "<<: [5]", "<<: [[{a: 1}]]", "<<:"])
def test_a_merge_key_takes_only_mappings(text):
    assert problem_in(text).reason == "yaml-syntax"


def test_a_merge_key_below_a_key_that_it_brings_is_refused_because_readers_disagree():
    problem = problem_in("x: &x {privileged: true}\ny:\n  privileged: false\n  <<: *x\n")

    assert problem.reason == "duplicate-key"
    assert (problem.position, problem.related) == (Position(4, 3), Position(3, 3))
    assert "`privileged`" in problem.message


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: &x 1\nb: *x", {"a": 1, "b": 1}),
        ("a: &x [1]\nb: *x\nc: [*x, *x]", {"a": [1], "b": [1], "c": [[1], [1]]}),
        ("a: &x\nb: *x", {"a": None, "b": None}),
        ("&k a: 1\nb: *k", {"a": 1, "b": "a"}),
    ],
)
def test_an_alias_repeats_its_anchor(text, data):
    assert read_documents(text) == [data]


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: &x 1\nb: *x\nc: &x [2]\nd: *x", [{"a": 1, "b": 1, "c": [2], "d": [2]}]),
        ("a: &x 1\n---\na: &x 2\nb: &x 3\nc: *x", [{"a": 1}, {"a": 2, "b": 3, "c": 3}]),
        ("- &x {k: 1}\n- &x\n  k: 2\n- {<<: *x, l: 3}", [[{"k": 1}, {"k": 2}, {"k": 2, "l": 3}]]),
        ("a: &x 1\nb: &x 2\n---\n---\nc: 3", [{"a": 1, "b": 2}, None, {"c": 3}]),
    ],
)
def test_an_anchor_that_is_defined_again_counts_from_there(text, data):
    assert read_documents(text) == data


@pytest.mark.parametrize("text", ["a: &x 1\nb: &x 2\nc: *y", "a: &x 1\nb: &x 2\nc: ["])
def test_what_is_wrong_beside_an_anchor_that_is_defined_again_is_told(text):
    assert problem_in(text).position.line >= 3


def test_aliased_collections_are_separate_copies():
    data = read_documents("a: &x {k: [1]}\nb: *x")[0]
    data["a"]["k"].append(2)

    assert data["b"] == {"k": [1]}


@pytest.mark.parametrize(
    "text",
    [
        "&a [*a]",
        "&a {b: *a}",
        "&a {<<: *a}",
        "&a {<<: [*a, *a]}",
        "&a [*a, *a, *a]",
        "a: &a\n  b: &b\n    - *a\n    - *b\n",
        "\n".join(["- &l0 [x, x]", *(f"- &l{n} [*l{n - 1}, *l{n - 1}]" for n in range(1, 64))]),
        "\n".join(["- &l0 {a: x}", *(f"- &l{n} {{a: *l{n - 1}, b: *l{n - 1}}}" for n in range(1, 64))]),
        "\n".join(["- &l0 {a: x}", *(f"- &l{n} {{<<: [*l{n - 1}, *l{n - 1}]}}" for n in range(1, 64))]),
        "a: &x [" + "1," * 200 + "]\nb: [" + "*x," * 60 + "]",
    ],
)
def test_alias_bombs_and_recursive_anchors_end_at_a_limit(text):
    started = time.perf_counter()

    assert problem_in(text).reason == "input-limit"
    assert time.perf_counter() - started < 2


def test_aliases_may_expand_to_a_bounded_number_of_nodes():
    repeats = (MAX_ALIASED_NODES // 101) - 1
    text = "a: &x [" + "1," * 100 + "]\nb: [" + "*x," * repeats + "]"

    assert len(read_documents(text)[0]["b"]) == repeats


@pytest.mark.parametrize("opener", ["[", "- "])
def test_nesting_is_allowed_up_to_the_limit(opener):
    close = "]" * MAX_DEPTH if opener == "[" else "1"
    node = read_documents(opener * MAX_DEPTH + close)[0]
    depth = 1
    while isinstance(node[0] if node else None, list):
        node, depth = node[0], depth + 1

    assert depth == MAX_DEPTH


@pytest.mark.parametrize(
    "text",
    [
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
        "{a: " * (MAX_DEPTH + 1) + "}" * (MAX_DEPTH + 1),
        "- " * (MAX_DEPTH + 1),
        "\n".join(" " * level + "a:" for level in range(MAX_DEPTH + 2)),
        "? " * (MAX_DEPTH + 1),
        "[" * 10_000,
        "[" * 10_000 + "]" * 10_000,
        "{a: " * 10_000,
        "{a: " * 10_000 + "}" * 10_000,
        "- " * 10_000,
        "? " * 10_000,
        "[? " * 10_000,
        "!!seq [" * 10_000,
        "\n".join(" " * level + "a:" for level in range(10_000)),
        "[" * 900_000,
    ],
    ids=lambda text: f"{text[:7]!r} x {len(text)}",
)
def test_deeper_nesting_is_refused_quickly(text):
    started = time.perf_counter()

    assert problem_in(text).reason in ("input-limit", "not-json")
    assert time.perf_counter() - started < 3


@pytest.mark.parametrize("text", [": " * 100_000, "a: " * 100_000, "&a " * 100_000, "[: " * 100_000, "'" * 99_999])
def test_long_runs_of_indicators_never_crash_the_reader(text):
    assert isinstance(problem_in(text), YamlProblem)


def test_many_openers_without_nesting_are_fine():
    assert len(read_documents("- [x-y, {a: -}]\n" * 2_000)[0]) == 2_000


@pytest.mark.parametrize(
    ("text", "reason", "line", "column"),
    [
        ("spec:\n\tgpu: 1\n", "yaml-syntax", 2, 1),
        ("a: [1, 2\nb: 3\n", "yaml-syntax", 2, 2),
        ("a: b: c\n", "yaml-syntax", 1, 5),
        ("a: 'open\n", "yaml-syntax", 2, 1),
        ("a: *nowhere\n", "yaml-syntax", 1, 4),
        ("a: @x\n", "yaml-syntax", 1, 4),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n", "merge-conflict-marker", 2, 1),
        ("a: 1\n=======\nb: 1\n", "merge-conflict-marker", 2, 1),
        ("a: 1\n||||||| base\nb: 1\n", "merge-conflict-marker", 2, 1),
        ("a: 1\n>>>>>>> branch\r\n", "merge-conflict-marker", 2, 1),
        ("--- {kind: Bogus}\n", "text-after-document-marker", 1, 5),
        ("a: 1\n---   b: 1\n", "text-after-document-marker", 2, 7),
        ("a: 1\n---b: 1\n", "text-after-document-marker", 2, 4),
        ("--- |\n text\n", "text-after-document-marker", 1, 5),
        ("a: 1\nb: \x07\n", "yaml-syntax", 2, 4),
        ("é: é\x00\n", "yaml-syntax", 1, 5),
        ("a: 1\n~: 2\n", "not-json", 2, 1),
        ("null: 2\n", "not-json", 1, 1),
        ("? [a]\n: 1\n", "not-json", 1, 3),
        ("{a: 1}: 2\n", "not-json", 1, 1),
        ("a:\n  b: .inf\n", "not-json", 2, 6),
        ("- -.INF\n", "not-json", 1, 3),
        ("a: .nan\n", "not-json", 1, 4),
        (".nan: 1\n", "not-json", 1, 1),
        ("a: !!binary x!\n", "not-json", 1, 4),
        ("a: !!binary gICA\n", "not-json", 1, 4),
    ],
)
def test_what_can_not_be_read_is_refused_at_its_place(text, reason, line, column):
    assert place_of(text) == (reason, (line, column))


@pytest.mark.parametrize("text", ["a: \ud800", "!%ED%A0%80 x", 'a: "\\ud800"'])
def test_a_surrogate_is_a_problem_of_the_text(text):
    assert problem_in(text).reason == "yaml-syntax"


def test_a_tab_is_called_a_tab():
    problem = problem_in("spec:\n  a: 1\n \t b: 2\n")

    assert "tab" in problem.message
    assert problem.help == "replace the tab by blanks"


@pytest.mark.parametrize(
    "text", ["a: |\n  <<<<<<< HEAD\n", "# ======= #\na: 1", "a: |\n  --- text\n", "title: x\n========: 1"]
)
def test_what_only_looks_like_a_marker_is_text(text):
    assert len(read_documents(text)) == 1


def test_quoted_infinity_is_text():
    assert read_documents("a: '.inf'") == [{"a": ".inf"}]


def test_a_message_shows_no_more_than_the_start_of_a_long_key():
    key = "k" * 500

    assert len(problem_in(f"{key}: 1\n{key}: 2\n").message) < 250
