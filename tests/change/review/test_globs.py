"""One pattern includes another exactly where it matches all that the other matches."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from poolsmith.change.review.widened_grants import includes
from poolsmith.guard.ledger.grants.matching import glob_matches

PATTERNS = st.text("ab*?", min_size=1, max_size=5)
WORDS = tuple("".join(letters) for size in range(7) for letters in product("abc", repeat=size))


@given(PATTERNS, PATTERNS)
def test_it_is_what_trying_all_words_says(wide, narrow):
    matched = [word for word in WORDS if glob_matches(narrow, word)]

    assert includes(wide, narrow) == all(glob_matches(wide, word) for word in matched)


@pytest.mark.parametrize(
    ("wide", "narrow", "expected"),
    [
        ("*", "prod-*", True),
        ("prod-*", "*", False),
        ("prod-*", "prod-eu", True),
        ("prod-*", "prod-?u-*", True),
        ("prod-?", "prod-*", False),
        ("?*", "*?", True),
        ("*a*a*a*a*a*a*b", "*" + "a?" * 40, False),
        ("*" + "?" * 60, "?" * 60 + "*", True),
    ],
)
def test_patterns_as_people_write_them(wide, narrow, expected):
    assert includes(wide, narrow) is expected
