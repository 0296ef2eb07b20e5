"""The page on Pod Security names each check with its level, its version and what it replaces."""

from __future__ import annotations

import re

from poolsmith.kubernetes.pod_security.engine import CHECKS
from poolsmith.kubernetes.pod_security.standard import NEWEST


def test_the_table_of_the_page_is_the_registry(repository):
    text = (repository / "docs/pod-security.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \| 1\.(\d+) \|(.*)\|$", text, re.MULTILINE)

    assert [
        (name, level, int(since), set(re.findall(r"replaces `(\w+)`", rest))) for name, level, since, rest in rows
    ] == [(check.id, check.level, check.since, set(check.replaces)) for check in CHECKS]
    assert f"`1.0` to `1.{NEWEST}`" in text
