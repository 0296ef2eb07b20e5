"""The mark that names the place of a mistake in a test's text."""

from __future__ import annotations

import pytest

from support.clusters import placed
from support.marked import unmarked


@pytest.mark.parametrize(
    ("text", "expected"),
    [("«a: 1\n", ("a: 1\n", "1:1")), ("a: 1\nb: [x, «y]\n", ("a: 1\nb: [x, y]\n", "2:8")), ("a:\n«", ("a:\n", "2:1"))],
)
def test_a_mark_goes_and_leaves_its_place(text, expected):
    assert unmarked(text) == expected


@pytest.mark.parametrize("text", ["a", "«a«b"])
def test_a_text_has_one_mark(text):
    with pytest.raises(ValueError, match="one «"):
        unmarked(text)


def test_the_place_in_a_profile_is_that_of_its_file():
    cluster, pools, place = placed({}, {"a": {"os": '{id: «ubunut, version: "22.04"}'}})

    assert (cluster, pools, place) == ({}, {"a": {"os": '{id: ubunut, version: "22.04"}'}}, "a.yaml:5:12")
    assert placed({"«stack": "{}"}, {"a": {}}) == ({"stack": "{}"}, {"a": {}}, "cluster.yaml:6:3")
