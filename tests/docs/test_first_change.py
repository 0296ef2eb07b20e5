"""docs/first-change.md: each section is done in a copy of the repository, ends green, and says which files it edits."""

from __future__ import annotations

import json
import re

import pytest

from support.recordings import as_yaml, recording
from support.repository_walks import Checkout, sections_of, walk_section
from support.walks import ROOT, blocks_of

PAGE = ROOT / "docs/first-change.md"
TEXT = PAGE.read_text("utf-8")
MOST = {"A rule": 5, "A field of a profile": 2, "A GPU product": 1, "A container runtime": 3, "A release": 2}
"""Files that are edited by hand; what needs more of them has become harder."""
PROSE = ("Before you open a pull request",)
DATA = "generator/poolsmith/data"


def promised(title):
    """What a section says that it edits."""
    start, end = sections_of(PAGE)[title]
    section = "\n".join(TEXT.splitlines()[start : end - 1])
    (line,) = re.findall(r"^\*\*By hand:\*\*((?:.+\n)+)", section, re.MULTILINE)
    return set(re.findall(r"`([^`]+)`", line))


def made(title, checkout):
    """What the commands of a section make, once all of them ended well and what is edited is what the section says."""
    touched = walk_section(PAGE, title, checkout)

    assert touched.commands
    assert touched.by_hand == promised(title)
    assert len(touched.by_hand) <= MOST[title]
    assert not touched.made & touched.by_hand
    return touched.made


def test_a_rule_is_five_files_by_hand(tmp_path):
    assert made("A rule", Checkout(tmp_path)) == {
        "docs/rules.md",
        "generator/poolsmith/data/rules.json",
    }


@pytest.mark.deep("a copy of the repository, and each field of a cluster tried in it")
def test_a_field_is_its_declaration_and_its_use(tmp_path):
    assert made("A field of a profile", Checkout(tmp_path)) == {
        "docs/profiles.md",
        "profiles/_schemas/cluster.schema.json",
    }


@pytest.mark.deep("a copy of the repository, and the sample fleet generated in it")
def test_a_product_is_one_entry(tmp_path):
    found = made("A GPU product", Checkout(tmp_path))

    assert {path for path in found if not path.endswith("poolsmith.lock.json")} == set()


@pytest.mark.deep("a copy of the repository, and the sample fleet compared in it")
def test_a_runtime_is_its_names_and_its_paths(tmp_path):
    found = made("A container runtime", Checkout(tmp_path))

    assert {path for path in found if not path.endswith("poolsmith.lock.json")} == {
        "docs/profiles.md",
        "profiles/_schemas/node-pool.schema.json",
        "profiles/_schemas/node-pool-base.schema.json",
    }


class OperatorBeside(Checkout):
    """With the operator's repository as it was recorded: without the templates of its chart.

    The two entries that are made of them are those of another release of the line, as a patch release has them.
    """

    FROM, TO = "v26.7.0", "v26.7.1"

    def __init__(self, place):
        super().__init__(place)
        files, folder = recording("gpu_operator"), f"gpu-operator/{self.FROM}"
        for path in files.below(folder):
            target = place / "gpu-operator" / path.removeprefix(f"{folder}/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(as_yaml(files[path]), "utf-8")

    def __call__(self, line):
        printed = super().__call__(line)
        if "--into" in line:
            for entries in ("charts/gpu-operator", "projection"):
                text = json.dumps({"like": self.FROM, "changes": []})
                (self.folder / DATA / entries / f"{self.TO}.json").write_text(text, "utf-8")
        return printed


@pytest.mark.deep("a copy of the repository, and a release imported into it; the walk of a rule stays")
def test_a_release_is_an_entry_and_a_line(tmp_path):
    entries = ("charts/gpu-operator", "crds", "gpu_cluster", "nvidia_driver", "operands", "projection")

    assert made("A release", OperatorBeside(tmp_path)) == {
        "docs/catalog.md",
        f"{DATA}/schemas/gpu-operator.schemas.z",
        *(f"{DATA}/{folder}/{OperatorBeside.TO}.json" for folder in entries),
    }


def test_each_section_is_walked_or_prose():
    assert sorted(sections_of(PAGE)) == sorted((*MOST, *PROSE))
    for title in PROSE:
        start, end = sections_of(PAGE)[title]
        assert not [block for block in blocks_of(TEXT) if start < block.line < end]


@pytest.mark.parametrize("block", blocks_of(TEXT), ids=lambda block: f"line-{block.line}")
def test_no_block_is_left_out(block):
    assert "file=" in block.info or block.info == "console"


def test_each_path_of_the_prose_exists():
    words = re.findall(r"(?<!`)`(\w[\w.-]*(?:/[\w.-]+)+)`(?!`)", TEXT)
    there = {word for word in words if (ROOT / word).exists() or (ROOT / "generator/poolsmith" / word).exists()}

    assert set(words) - there <= {word for title in MOST for word in promised(title)}
