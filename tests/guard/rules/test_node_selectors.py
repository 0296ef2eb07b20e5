"""Selectors of driver objects against all nodes that there can be."""

from __future__ import annotations

import time
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from poolsmith.guard.rules.setup.driver_setup import (
    DriverSelector,
    SelectorIndex,
    are_compatible,
    compatible_pairs,
    matches,
    serve,
)

KEYS = ("pool", "zone", "os")
VALUES = ("a", "b", "c")
SELECTORS = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES))
SPACE = [
    {key: value for key, value in zip(KEYS, values, strict=True) if value}
    for values in product(("", *VALUES), repeat=3)
]
"""Each node that these labels allow: any value, or none."""


@given(st.lists(SELECTORS, max_size=8))
def test_a_pair_is_compatible_when_some_node_matches_both(selectors):
    by_nodes = {
        (one, other)
        for one in range(len(selectors))
        for other in range(one + 1, len(selectors))
        if any(matches(node, selectors[one]) and matches(node, selectors[other]) for node in SPACE)
    }

    found = list(compatible_pairs(selectors))

    assert len(found) == len(set(found))
    assert set(found) == by_nodes


@given(SELECTORS, SELECTORS)
def test_the_union_of_two_compatible_selectors_is_a_node_that_both_match(one, other):
    if are_compatible(one, other):
        node = one | other
        assert matches(node, one)
        assert matches(node, other)
    else:
        assert any(one[key] != other[key] for key in one.keys() & other.keys())


@given(st.lists(SELECTORS, max_size=8))
def test_the_index_finds_what_each_selector_says_by_itself(selectors):
    index = SelectorIndex(selectors)

    for node in SPACE:
        assert index.matching(node) == [place for place, item in enumerate(selectors) if matches(node, item)]


DRIVERS = st.lists(st.builds(DriverSelector, SELECTORS, st.booleans()), max_size=6)


@given(DRIVERS)
def test_with_owners_a_default_steps_back_for_any_other(drivers):
    served = serve(drivers, SPACE, by_owner=True).by_node

    for node, found in zip(SPACE, served, strict=True):
        own = [place for place, item in enumerate(drivers) if not item.is_default and matches(node, item.selector)]
        defaults = [place for place, item in enumerate(drivers) if item.is_default]
        assert list(found) == (own or defaults)


@given(DRIVERS)
def test_before_owners_every_object_counts_by_its_selector(drivers):
    served = serve(drivers, SPACE, by_owner=False)

    for place, node in enumerate(SPACE):
        assert list(served.by_node[place]) == [at for at, item in enumerate(drivers) if matches(node, item.selector)]
        assert (place in served.unserved) == (not served.by_node[place])
        assert (place in served.contested) == (len(served.by_node[place]) > 1)
    assert set(served.idle(len(drivers))) == {
        at for at, item in enumerate(drivers) if not any(matches(node, item.selector) for node in SPACE)
    }


def test_thousands_of_objects_of_one_label_are_told_apart_at_once():
    many = [{"pool": f"pool-{number}", "gpu": "true"} for number in range(5_000)]
    nodes = [{"pool": f"pool-{number}", "gpu": "true", "zone": "a"} for number in range(5_000)]
    start = time.perf_counter()

    assert list(compatible_pairs(many)) == []
    assert serve([DriverSelector(item) for item in many], nodes, by_owner=False).contested == ()
    assert time.perf_counter() - start < 2
