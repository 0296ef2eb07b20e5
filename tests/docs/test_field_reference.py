"""The field tables of docs/profiles.md are those of the model."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from docs import field_reference as reference

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/profiles.md"


def test_the_field_tables_are_those_of_the_model(pytestconfig):
    page = PAGE.read_text("utf-8")
    wanted = reference.replaced(page, reference.field_reference())
    if pytestconfig.getoption("--update-golden", default=False) or os.environ.get("UPDATE_DOCS") == "1":
        if os.environ.get("TESTS_RUN_IN_CI"):
            pytest.fail("docs are not rewritten in CI")
        PAGE.write_text(wanted, "utf-8")
        return
    assert page == wanted, "run `UPDATE_DOCS=1 python -m pytest tests/docs` and commit docs/profiles.md"


def test_every_field_has_a_row_with_a_meaning():
    from poolsmith.core.shape.reader import field_places
    from poolsmith.fleet.profiles.bases import PROFILE_SPECS

    text = reference.field_reference()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert all(len(row) == 4 and row[3].strip(" |") for row in rows)
    named = {row[0].strip("| `").split(".")[-1].removesuffix("[]") for row in rows}
    assert named == set(field_places(PROFILE_SPECS))


def test_a_page_without_markers_is_refused():
    with pytest.raises(ValueError, match="fields:begin"):
        reference.replaced("# nothing\n", "")
