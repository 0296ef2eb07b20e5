"""Values merge as Helm merges them."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.kubernetes.helm.values_merge import merge_files, merge_over_defaults

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3),
    max_leaves=12,
)
VALUES = st.dictionaries(st.sampled_from("abcd"), JSON, max_size=4)


@pytest.mark.parametrize(
    ("defaults", "values", "merged"),
    [
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": {"b": 1}, "c": 2}, {"a": None}, {"c": 2}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": None}}, {"a": {"c": 2}}),
        ({"a": {"b": 1}}, {"a": "text"}, {"a": "text"}),
        ({"a": 1}, {"a": {"b": 1}}, {"a": {"b": 1}}),
        ({"a": {}}, {"a": {"b": None}}, {"a": {"b": None}}),
        ({}, {"new": {"x": 1}}, {"new": {"x": 1}}),
    ],
    ids=["maps", "lists", "null map", "null key", "map by text", "text by map", "null of nobody", "unknown"],
)
def test_over_defaults(defaults, values, merged):
    assert merge_over_defaults(defaults, values) == merged


def test_files_merge_in_order_and_a_null_survives_to_the_chart():
    merged = merge_files([{"a": {"b": 1, "c": 2}, "l": [1, 2]}, {"a": {"b": None}, "l": [3]}])

    assert merged == {"a": {"b": None, "c": 2}, "l": [3]}
    assert merge_over_defaults({"a": {"b": 5, "c": 6}}, merged) == {"a": {"c": 2}, "l": [3]}


def test_a_later_file_takes_a_null_back():
    assert merge_files([{"a": None}, {"a": {"b": 1}}]) == {"a": {"b": 1}}


@given(VALUES, VALUES)
def test_nothing_is_changed_or_shared(defaults, values):
    before = copy.deepcopy((defaults, values))
    merged = merge_over_defaults(defaults, values)
    for key in list(merged):
        if isinstance(merged[key], dict | list):
            merged[key].clear()

    assert (defaults, values) == before


@given(VALUES)
def test_no_values_are_the_defaults(defaults):
    assert merge_over_defaults(defaults, {}) == defaults
    assert merge_files([defaults]) == defaults
