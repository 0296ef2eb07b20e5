"""The pictures of README and docs show the report as it is: whoever changes it makes the pictures anew."""

from __future__ import annotations

import pytest

from tools.make_picture import DIGEST, IMAGES, SHOTS, SIZES, THEMES, digest, report


@pytest.mark.deep("a report of the whole fleet, drawn; a stale picture misleads nobody within a day")
def test_the_picture_is_that_of_the_report():
    assert DIGEST.read_text("utf-8").strip() == digest(report()), "run `make picture`, and look at docs/images/"


def test_each_picture_is_there_and_small_and_shown(repository):
    text = (repository / "docs/reports.md").read_text("utf-8")
    names = [f"{name}-{width}-{theme}.webp" for name, *_ in SHOTS for width, _ in SIZES for theme in THEMES]

    assert sorted(path.name for path in IMAGES.glob("*.webp")) == sorted(names)
    assert all((IMAGES / name).stat().st_size < 100_000 for name in names)
    assert [name for name in names if f"images/{name}" not in text] == []
