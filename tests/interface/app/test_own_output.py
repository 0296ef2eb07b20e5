"""What poolsmith writes, read as a stranger's: alone, without profiles, in its place and in a folder of another repository."""

import shutil
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, note, settings

from bench import fleet
from poolsmith.core.diagnostics import Severity
from poolsmith.interface.app import check_paths, generate
from property.test_unlike_pools import Shown, on_disk
from property.unlike_pools import fleets
from support.circles import DEEP

REPOSITORY = Path(__file__).resolve().parents[3]
ELSEWHERE = "config/release"
"""What a unit of the sample takes from the repository of others, with the definitions that come with it."""

LABELS = ("PSM264", "PSM775")


def stranger(top, output, below=""):
    """A repository that holds the output alone."""
    (top / ".git").mkdir(parents=True)
    (top / ".git/HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    shutil.copytree(output, top / below / "output")
    return check_paths(top, [top])


def is_understood(outcome):
    """Every values document is read, every release known, every label of nodes given by what is expected of them, and
    nothing is wrong."""
    reasons = [f"{item.what}: {item.reason}" for item in outcome.skipped if ELSEWHERE not in item.reason]
    assert [text for text in reasons if "not among the files" in text or "gpu-operator release" in text] == []
    assert [item for item in outcome.diagnostics if item.severity is Severity.ERROR] == []
    assert [item.message for item in outcome.diagnostics if item.code in LABELS] == []
    assert outcome.needs.get("unsupplied", 0) == 0


def told(outcome, below=""):
    return Counter(
        (item.code, item.primary.span.path.removeprefix(below), item.message) for item in outcome.diagnostics
    )


def test_the_sample_is_understood_in_its_place_and_moved(tmp_path):
    here = stranger(tmp_path / "here", REPOSITORY / "output")
    moved = stranger(tmp_path / "moved", REPOSITORY / "output", "platform/gpu")

    is_understood(here)
    is_understood(moved)
    assert told(moved, "platform/gpu/") == told(here)
    assert moved.needs == here.needs


@pytest.mark.parametrize("unlike", [False, True])
def test_fleets_are_understood(tmp_path, unlike):
    fleet.write_fleet(tmp_path / "project", 40, unlike=unlike)
    generate(tmp_path / "project")

    here = stranger(tmp_path / "here", tmp_path / "project/output")
    moved = stranger(tmp_path / "moved", tmp_path / "project/output", "a/b")

    is_understood(here)
    is_understood(moved)
    assert told(moved, "a/b/") == told(here)


@settings(max_examples=400 if DEEP else 8, deadline=None, suppress_health_check=list(HealthCheck))
@given(files=fleets.projects())
def test_random_fleets_are_understood_in_their_place_and_moved(files):
    note(Shown(files))
    with on_disk(files) as root, tempfile.TemporaryDirectory() as folder:
        written = generate(root).written
        event("generated" if written else "refused")
        if written:
            here = stranger(Path(folder) / "here", root / "output")
            moved = stranger(Path(folder) / "moved", root / "output", "a/b")
            is_understood(here)
            is_understood(moved)
            assert told(moved, "a/b/") == told(here)
            assert moved.needs == here.needs
