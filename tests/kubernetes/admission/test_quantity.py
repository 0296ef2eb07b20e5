"""Quantities as Kubernetes' own parser writes them again (recorded with tests/oracle/normalise)."""

from __future__ import annotations

import pytest

from poolsmith.kubernetes.quantity import QuantityError, canonical_quantity

WRITTEN = {
    "-0": "0",
    "1000": "1k",
    "1000m": "1",
    "1.5": "1500m",
    "1.50": "1500m",
    "1.000": "1",
    "0.5": "500m",
    ".5": "500m",
    "0.1": "100m",
    "0.100": "100m",
    "100e1": "1e3",
    "1e-10": "1e-9",
    "1.5e2": "150",
    "1000k": "1M",
    "1000000k": "1G",
    "1000E": "1",
    "0.5n": "1n",
    "1024Ki": "1Mi",
    "2048Mi": "2Gi",
    "0.5Gi": "512Mi",
    "1.5Gi": "1536Mi",
    "0.1Ki": "102400m",
    "0.0001Ki": "102400u",
    "-0.5Ki": "-512",
    "8Ei": "9223372036854775807",
    "9223372036854775807Ki": "9223372036854775807",
    "0.123456789": "123456789n",
    "0.1234567891": "123456790n",
    "000.5": "500m",
    "Mi": "0",
    ".": "0",
    "+": "0",
    "-": "0",
    "e3": "0",
}
KEPT = [
    "0",
    "1",
    "+5",
    "05",
    "-7",
    "1500m",
    "1500",
    "1.500",
    "5.",
    "100",
    "1024",
    "1e3",
    "1E3",
    "1e-3",
    "1e-9",
    "1k",
    "1M",
    "1E",
    "99E",
    "1n",
    "1u",
    "1Ki",
    "1023Mi",
    "1025Mi",
    "8Gi",
    "9Gi",
    "-1Ki",
    "1Ei",
    "9223372036854775807",
    "9223372036854775808",
    "12345678901234567890",
]
NONE = ["1x", "1K", "1ki", "1Kii", "1e", "1e1.5", "1.2.3", "--1", "1m1", "0x10", "1_000", "", "1 000"]


@pytest.mark.parametrize("text", WRITTEN)
def test_what_is_not_canonical_is_written_anew(text):
    assert canonical_quantity(text) == WRITTEN[text]


@pytest.mark.parametrize("text", KEPT)
def test_what_counts_as_canonical_is_kept(text):
    assert canonical_quantity(text) == text


@pytest.mark.parametrize("text", [*NONE, "1" * 300, "1e99999", "1e-99999"])
def test_what_is_no_quantity_or_larger_than_anybody_means(text):
    with pytest.raises(QuantityError):
        canonical_quantity(text)
