"""Versions of a chart, and ranges of them, as Helm reads them; the expectations are those of Masterminds/semver."""

from __future__ import annotations

import pytest

from poolsmith.gpu.catalog.version_ranges import is_one_version, is_range, lines_in, released_in

TAGS = ("v24.9.2", "v25.3.0", "v25.3.4", "v25.10.1", "v26.3.3")


@pytest.mark.parametrize("text", ["25.3.4", "v25.3.4", "=25.3.4", "= v25.3.4", "25.3.4-rc.1", "0.17.1+build.5"])
def test_one_version(text):
    assert is_one_version(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*", TAGS),
        ("x", TAGS),
        (">=0.0.0-0", TAGS),
        (">=25.3.4", TAGS[2:]),
        (">25.3", TAGS[3:]),
        (">25.3.0", TAGS[2:]),
        ("<25.3.4", TAGS[:2]),
        ("<=25.3", TAGS[:3]),
        ("^25.3.0", TAGS[1:4]),
        ("^v25.10.0", TAGS[3:4]),
        ("~25.3.0", TAGS[1:3]),
        ("~25", TAGS[1:4]),
        ("25.x", TAGS[1:4]),
        ("25.3.*", TAGS[1:3]),
        ("v25.3", TAGS[1:3]),
        ("25", TAGS[1:4]),
        (">=25.3.0 <26.0.0", TAGS[1:4]),
        (">= 25.3.0, < 26.0.0", TAGS[1:4]),
        ("25.3.0 - 25.10", TAGS[1:4]),
        ("24.9.x || >=26", (TAGS[0], TAGS[4])),
        ("!=25.3.4, 25.3.x", TAGS[1:2]),
    ],
)
def test_a_range_takes_in(text, expected):
    assert not is_one_version(text)
    assert released_in(text, TAGS) == expected


@pytest.mark.parametrize(
    "text", ["", "main", "${version}", "{{ .Values.v }}", "25.3.4.5", "sha256:00ff", "latest", ">=", "1" * 300]
)
def test_what_is_no_range(text):
    assert not is_range(text)


def test_lines_are_told_once_each():
    assert lines_in("^25.3.0", TAGS) == ("25.3", "25.10")
