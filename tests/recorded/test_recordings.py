"""The recordings themselves: small, in one form, without prose, and each told of in README.md."""

from __future__ import annotations

import lzma
import re

import pytest

from recorded.record import LONG_TEXT, flow_text, without_prose, without_scripts
from support.recordings import DATA, ENDING, packed, recording

NAMES = sorted(path.name.removesuffix(ENDING) for path in DATA.iterdir())
DESCRIPTION = re.compile('"(description|summary)":"(?!x*")')
"""Other than a filler."""
README = DATA.with_name("README.md")


def test_each_file_has_its_row():
    rows = README.read_text("utf-8").splitlines()

    assert [name for name in NAMES if not any(row.startswith(f"| `{name}` |") for row in rows)] == []


def test_all_together_are_small():
    assert sum(path.stat().st_size for path in DATA.iterdir()) < 580_000


@pytest.mark.rows(2, "recordings of each form; a few megabytes each")
@pytest.mark.parametrize("name", NAMES)
def test_the_same_values_are_the_same_text(name):
    held = recording(name)
    text = lzma.decompress((DATA / f"{name}{ENDING}").read_bytes())

    assert list(held) == sorted(held)
    assert lzma.decompress(packed(held)) == text


@pytest.mark.parametrize("name", ["gpu_operator", "neighbours", "kubernetes_schemas"])
def test_what_others_publish_has_no_comments_and_no_descriptions(name):
    for key, line in recording(name)._lines.items():
        assert not DESCRIPTION.search(line), key
        assert "#!/" not in line, key


def test_fields_called_description_stay_and_descriptions_go():
    schema = {"description": "prose", "properties": {"description": {"type": "string", "description": "prose"}}}

    assert without_prose(schema) == {"properties": {"description": {"type": "string"}}}


def test_a_script_keeps_its_length():
    script = "#!/bin/sh\n" * LONG_TEXT

    assert without_scripts({"data": {"run.sh": script, "short": "a"}}) == {
        "data": {"run.sh": "x" * len(script), "short": "a"}
    }


def test_a_key_that_stands_twice_stands_twice_in_flow_style():
    assert flow_text("a: 1\na: '1'\n5: [x y, z]\n") == '---\n{a: 1, a: "1", 5: ["x y", z]}\n'
