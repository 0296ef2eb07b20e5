"""A project that stays loaded: it says what `check` says, and one save costs a part of a check."""

from __future__ import annotations

import subprocess
import sys

import pytest

from interface.app.editor.client import GENERATOR, environment
from poolsmith.interface.app import check_project
from poolsmith.interface.app.editor.kept_project import KeptProject, ReplacedError
from support.exact_counts import exact_counts

POOL = "profiles/prod-eu/a100-mig.yaml"
_SAVES = """
import gc, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from poolsmith.interface.app.editor.kept_project import KeptProject
gc.disable()
calls = 0
def count(frame, event, argument):
    global calls
    calls += event in ("call", "c_call")
kept = KeptProject(Path())
kept.judge()
profile = Path(sys.argv[2])
profile.write_text(profile.read_text() + "# saved\\n")
sys.setprofile(count)
kept.judge()
sys.setprofile(None)
print(calls)
"""


def test_a_save_takes_less_than_a_fifth_of_a_cold_check(sample_project, repository):
    """Exact counts of calls: of the largest cluster's profile, among four."""
    command = [sys.executable, "-I", "-c", _SAVES, str(GENERATOR), POOL]
    given = environment() | {"PYTHONHASHSEED": "0"}
    cold = exact_counts(["check", "--no-cache", "--jobs", "1"], sample_project, ends=(0, 1)).calls
    result = subprocess.run(command, cwd=sample_project, capture_output=True, text=True, check=True, env=given)

    assert int(result.stdout) < 0.3 * cold


@pytest.mark.sample("edge", "prod-eu")
def test_it_says_what_a_check_says_after_each_kind_of_save(sample_project):
    kept = KeptProject(sample_project)
    profile, base = sample_project / POOL, sample_project / "profiles/_bases/a100.yaml"
    waivers, output = (
        sample_project / "policies/waivers.yaml",
        next((sample_project / "output").rglob("values.yaml"), None),
    )
    sound = profile.read_text("utf-8")
    saves = (
        lambda: None,
        lambda: profile.write_text(sound.replace("count: 8", "count: 4"), "utf-8"),
        lambda: profile.write_text("kind: [\n", "utf-8"),
        lambda: profile.write_text(sound, "utf-8"),
        lambda: base.write_text(base.read_text("utf-8").replace("product:", "prodct:"), "utf-8"),
        lambda: base.write_text(base.read_text("utf-8").replace("prodct:", "product:"), "utf-8"),
        lambda: waivers.unlink(missing_ok=True),
        lambda: output and output.unlink(),
        profile.unlink,
        lambda: profile.write_text(sound, "utf-8"),
    )
    for save in saves:
        save()

        assert kept.judge() == check_project(sample_project)


@pytest.mark.sample("edge")
def test_a_process_whose_code_was_replaced_answers_no_more(sample_project, monkeypatch):
    kept = KeptProject(sample_project)
    kept.judge()
    monkeypatch.setattr("poolsmith.interface.app.editor.kept_project.tool_state", lambda: "newer")

    with pytest.raises(ReplacedError, match="start it again"):
        kept.judge()


@pytest.mark.sample("edge")
def test_watch_prints_a_report_at_first_and_after_each_save(sample_project):
    command = [sys.executable, "-m", "poolsmith", "watch", "--runs", "2"]
    process = subprocess.Popen(
        command, cwd=sample_project, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    first = ""
    while "checked " not in first:
        first += process.stdout.readline()
    profile = sample_project / "profiles/edge/l4.yaml"
    profile.write_text(profile.read_text("utf-8").replace("driver:", "drivr:"), "utf-8")
    rest, said = process.communicate(timeout=60)

    assert process.returncode == 1
    assert "profiles/edge/l4.yaml:\n" in rest
    assert "did you mean `driver`?" in rest
    assert said == ""


@pytest.mark.sample("edge")
def test_watch_waits_while_the_profiles_are_away(sample_project):
    command = [sys.executable, "-m", "poolsmith", "watch", "--runs", "3"]
    process = subprocess.Popen(
        command, cwd=sample_project, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while "checked " not in process.stdout.readline():
        pass
    (sample_project / "profiles").rename(sample_project / "away")
    assert "has no folder `profiles`" in process.stderr.readline()
    (sample_project / "away").rename(sample_project / "profiles")
    rest, said = process.communicate(timeout=60)

    assert "checked 1 cluster" in rest
    assert said == ""


@pytest.mark.parametrize("verb", ["watch", "lsp"])
def test_nobody_edits_in_a_pipeline(tmp_path, verb):
    command = [sys.executable, "-m", "poolsmith", verb]
    given = environment() | {"CI": "true"}
    result = subprocess.run(command, cwd=tmp_path, env=given, capture_output=True, text=True, check=False, timeout=60)

    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr == (
        f"poolsmith: `poolsmith {verb}` waits for somebody who edits files, and CI is set here: use `poolsmith check`\n"
    )
