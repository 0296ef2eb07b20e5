"""What pages of the documentation have in common: tables made from code, and commands with what they print."""

from __future__ import annotations

import os
import re

import pytest


@pytest.fixture
def assert_table():
    """A page has these lines between the markers of that name; with UPDATE_DOCS they are put there."""

    def check(page, name, lines):
        text = page.read_text("utf-8")
        begin, end = (f"<!-- {name}:{word} -->\n" for word in ("begin", "end"))
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        table = "".join(f"{line}\n" for line in lines)
        if os.environ.get("UPDATE_DOCS"):
            page.write_text(before + begin + table + end + after, "utf-8")

        assert begin + table + end in page.read_text("utf-8")

    return check


@pytest.fixture
def as_pattern():
    """What a page shows, as a pattern: a line of three dots stands for any lines."""

    def pattern(shown):
        parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
        return re.compile("(?:.*\n)*?".join(parts))

    return pattern
