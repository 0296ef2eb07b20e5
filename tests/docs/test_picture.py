"""The picture of the README shows the report as it is: whoever changes it makes the picture anew."""

from __future__ import annotations

import pytest

from tools.make_picture import DIGEST, IMAGES, digest, report


@pytest.mark.deep("a report of the whole fleet, drawn; a stale picture misleads nobody within a day")
def test_the_picture_is_that_of_the_report():
    assert DIGEST.read_text("utf-8").strip() == digest(report()), "run `make picture`, and look at docs/images/"
    for theme in ("light", "dark"):
        assert (IMAGES / f"diff-{theme}.png").read_bytes().startswith(b"\x89PNG\r\n")
