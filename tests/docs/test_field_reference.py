"""The field tables of docs/profiles.md are those of the model."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/profiles.md"


def _field_reference():
    """A module beside this one: tests are no package."""
    spec = importlib.util.spec_from_file_location("field_reference", Path(__file__).with_name("field_reference.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_field_tables_are_those_of_the_model(pytestconfig):
    reference = _field_reference()
    page = PAGE.read_text("utf-8")
    wanted = reference.replaced(page, reference.field_reference())
    if pytestconfig.getoption("--update-golden", default=False) or os.environ.get("UPDATE_DOCS") == "1":
        if os.environ.get("CI"):
            pytest.fail("docs are not rewritten in CI")
        PAGE.write_text(wanted, "utf-8")
        return
    assert page == wanted, "run `UPDATE_DOCS=1 python -m pytest tests/docs` and commit docs/profiles.md"


def test_every_field_has_a_row_with_a_meaning():
    from poolsmith.profiles.profile_sink import PROFILE_SPECS
    from poolsmith.shape.reader import field_places

    text = _field_reference().field_reference()
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert all(len(row) == 4 and row[3].strip(" |") for row in rows)
    named = {row[0].strip("| `").split(".")[-1].removesuffix("[]") for row in rows}
    assert named == set(field_places(PROFILE_SPECS))


def test_a_page_without_markers_is_refused():
    with pytest.raises(ValueError, match="fields:begin"):
        _field_reference().replaced("# nothing\n", "")
