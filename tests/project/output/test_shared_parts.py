"""What trees have in common, and the patches that make each of them out of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.core.sources.pointer import MISSING
from poolsmith.project.output.kustomization import common, patches
from support.kustomize_build import patched

KEYS = st.sampled_from(["name", "containers", "volumes", "a/b", "c~d", "", "x"])
SCALARS = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "a", "b"])
TREES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


@given(st.lists(st.dictionaries(KEYS, TREES, max_size=4), min_size=1, max_size=4))
def test_each_tree_is_the_common_part_with_its_patches(trees):
    base = common(trees)

    assert base is not MISSING
    assert [patched(base, list(patches(base, tree))) for tree in trees] == trees


@given(st.dictionaries(KEYS, TREES, max_size=4), st.integers(1, 4))
def test_of_equal_trees_all_is_common(tree, number):
    assert common([tree] * number) == tree
    assert list(patches(tree, tree)) == []


@pytest.mark.parametrize(
    ("trees", "expected"),
    [
        ([1, 2], MISSING),
        ([{"a": 1, "b": 2}, {"a": 1, "b": 3}], {"a": 1}),
        ([{"a": [1, 2, 3]}, {"a": [1, 2, 4]}], {"a": [1, 2]}),
        ([{"a": [{"name": "x", "v": 1}]}, {"a": [{"name": "x", "v": 2}]}], {}),
        (
            [{"containers": [{"name": "x", "v": 1}]}, {"containers": [{"name": "x", "v": 2}]}],
            {"containers": [{"name": "x"}]},
        ),
    ],
)
def test_containers_are_shared_in_part_other_items_as_a_whole(trees, expected):
    assert common(trees) == expected


def test_neither_the_base_nor_a_target_is_changed():
    base, target = {"a": [1]}, {"a": [1, {"b": 2}], "c": {}}
    made = patched(base, list(patches(base, target)))
    made["a"][1]["b"] = 3

    assert (base, target) == ({"a": [1]}, {"a": [1, {"b": 2}], "c": {}})
