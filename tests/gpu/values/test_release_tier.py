"""Versions that are no known release: which side of the known ones they are on."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.value_paths import value_paths
from poolsmith.gpu.values.release_tier import judged_by

OF_DRA = value_paths("nvidia-dra-driver-gpu").tags
OF_OPERATOR = value_paths().tags


@pytest.mark.parametrize(
    ("said", "tags", "side"),
    [
        ("v1.11.1", OF_OPERATOR, "older"),
        ("v99.1.0", OF_OPERATOR, "newer"),
        ("v25.3.99", OF_OPERATOR, "between"),
        ("25.2.0", OF_DRA, "older"),  # the chart counts from 0.4.0 on, after 25.12.0
        ("0.3.0", OF_DRA, "older"),
        ("0.99.0", OF_DRA, "newer"),
        ("1.0.0", OF_DRA, "newer"),
        ("25.9.0", OF_DRA, "between"),
    ],
)
def test_a_version_is_older_or_newer_than_all_or_among_them(said, tags, side):
    by = judged_by(said, tags, floats=False)

    assert (by.is_older, bool(by.tags)) == (side == "older", side == "between")
