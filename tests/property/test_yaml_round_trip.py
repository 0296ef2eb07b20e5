"""Whatever JSON can say survives being written and read, by poolsmith and by another reader."""

from __future__ import annotations

import contextlib
import copy

import yaml
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.sources import pointer as pointers
from poolsmith.core.sources.yaml_reader import YamlProblem, read_documents
from poolsmith.core.sources.yaml_writer import emit, emit_all

WORDS = st.sampled_from(
    [
        "",
        "y",
        "no",
        "on",
        "null",
        "~",
        "1e3",
        "0o7",
        "08",
        "12:30",
        "=",
        "<<",
        "---",
        "a: b",
        "- a",
        "#",
        "a #b",
        "|",
        "\n",
        "a\n",
        " a\nb",
        "\x85",
    ]
)
TEXTS = st.text() | WORDS | st.text(alphabet=" \t\n\r:#-'\"\\,[]{}&*!|>%@`?.0123456789eEabyno~=<", max_size=12)
# Integers beyond 64 bits are floats to Kubernetes.
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
DATA = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
MAPPINGS = st.dictionaries(TEXTS, DATA, max_size=4)
YAMLISH = st.text(alphabet=" \t\n\r:#-'\"\\,[]{}&*!|>%@`?.01eaby~=<\ufeff\x00\x85\u2028é", max_size=60)


@given(DATA, st.booleans())
def test_what_is_written_is_read_back_by_both_readers(data, indent_lists):
    text = emit(data, indent_lists=indent_lists)

    assert read_documents(text) == [data]
    assert yaml.load(text, Loader=yaml.CSafeLoader) == data


@given(st.lists(DATA, min_size=1, max_size=4), st.lists(TEXTS, max_size=2))
def test_several_documents_are_read_back(documents, header):
    assert read_documents(emit_all(documents, header=header)) == documents


def pointers_of(node, pointer=""):
    if isinstance(node, dict):
        for key, value in node.items():
            below = pointers.join(pointer, key)
            yield below
            yield from pointers_of(value, below)
    elif isinstance(node, list):
        for index, value in enumerate(node):
            yield from pointers_of(value, pointers.join(pointer, index))


@given(MAPPINGS, st.lists(TEXTS, max_size=2), st.lists(TEXTS, min_size=1, max_size=2), st.booleans())
def test_comments_change_nothing(data, header, lines, indent_lists):
    comments = dict.fromkeys(pointers_of(data), lines)
    text = emit(data, header=header, comments=comments, indent_lists=indent_lists)

    assert read_documents(text) == [data]


@given(DATA, st.booleans())
def test_writing_is_deterministic(data, indent_lists):
    assert emit(data, indent_lists=indent_lists) == emit(copy.deepcopy(data), indent_lists=indent_lists)


@given(st.text() | YAMLISH | st.text(alphabet=st.characters()))
def test_any_text_is_read_or_is_a_problem(text):
    with contextlib.suppress(YamlProblem):
        assert isinstance(read_documents(text), list)


@given(st.binary(max_size=60))
def test_any_bytes_that_are_text_are_read_or_are_a_problem(content):
    with contextlib.suppress(YamlProblem):
        assert isinstance(read_documents(content.decode("utf-8", "surrogateescape")), list)
