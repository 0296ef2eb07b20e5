"""Each values document of a repository is judged, or said not to be: deliverer by deliverer, with its twin."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from poolsmith.core.diagnostics import NoInputError
from poolsmith.interface.app import check_paths

TABLE = Path(__file__).with_name("small_repositories.md").read_text("utf-8")
ROWS = [part.partition("\n") for part in re.split(r"^### ", TABLE, flags=re.MULTILINE)[1:]]
FILES = re.compile(r"^```yaml\n# (?P<path>\S+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("body", [row[2] for row in ROWS], ids=[row[0] for row in ROWS])
def test_what_is_told_is_what_is_right(tmp_path, body):
    for match in FILES.finditer(body):
        path = tmp_path / match["path"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(match["text"])
    try:
        outcome = check_paths(tmp_path, [tmp_path])
    except NoInputError:
        told, covered = [], "nothing"
    else:
        told = [f"{item.code} {item.primary.span}" for item in outcome.diagnostics if item.severity != "note"]
        covered = outcome.coverage.line.partition(" GPU")[0] if outcome.coverage is not None else "-"

    assert told == re.findall(r"^Told: (.*)$", body, re.MULTILINE)
    assert covered == re.findall(r"^Coverage: (.*)$", body, re.MULTILINE)[0]
