"""What comes out: JSON for machines, annotations for GitHub, text for people, and escape codes for terminals only."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
import termios

import pytest

from poolsmith import __version__
from poolsmith.interface.report.formats import FORMATS, Format

ESCAPE = "\x1b"


@pytest.fixture
def broken(sample_project):
    """The sample fleet with an error, beside the notes that it has anyway."""
    path = sample_project / "profiles/edge/l4.yaml"
    path.write_text(path.read_text().replace("  gpu:\n    product: NVIDIA-L4\n", "  gpu:\n    produkt: NVIDIA-L4\n"))
    for folder in (sample_project / "profiles").iterdir():
        if not folder.name.startswith(("_", "edge")):
            shutil.rmtree(folder)  # findings of many clusters are shortened in text
    return sample_project


@pytest.mark.parametrize("verb", [["generate"], ["generate", "--check"], ["check"]], ids=" ".join)
def test_json_is_one_document_with_the_promised_fields(broken, run_cli, verb):
    result = run_cli([*verb, "--root", broken, "--format", "json"])
    report = json.loads(result.out)

    assert set(report) == {"version", "tool", "summary", "diagnostics"}
    assert (report["version"], report["tool"]) == (1, f"poolsmith {__version__}")
    assert {"checked", "skipped", "waived", "notEvaluated", "errors", "warnings", "notes"} <= set(report["summary"])
    for item in report["diagnostics"]:
        assert set(item) == {
            "code", "name", "severity", "message", "subject", "primary", "related", "help", "fingerprint", "status"
        }  # fmt: skip
        assert {"path", "line", "column", "pointer"} <= set(item["primary"])
        assert re.fullmatch("PSM[0-9]{3}", item["code"])
        assert item["severity"] in ("error", "warning", "note")
        assert re.fullmatch("[0-9a-f]{32}", item["fingerprint"])
        assert item["status"] == "open"
    counts = [
        sum(item["severity"] == severity for item in report["diagnostics"]) for severity in ("error", "warning", "note")
    ]
    assert counts == [report["summary"][name] for name in ("errors", "warnings", "notes")]


def test_a_finding_names_line_column_pointer_and_help(broken, run_cli):
    report = run_cli(["generate", "--root", broken, "--format", "json"])
    (item,) = [item for item in report.diagnostics if item["code"] == "PSM101"]

    assert item["primary"] == {"path": "profiles/edge/l4.yaml", "line": 11, "column": 5, "pointer": "/spec/gpu/produkt"}
    assert item["help"] == "did you mean `product`?"
    assert item["subject"].startswith("edge")


@pytest.mark.sample
def test_a_clean_run_counts_what_it_checked(sample_project, run_cli):
    summary = run_cli(["generate", "--root", sample_project, "--format", "json"]).report["summary"]

    assert summary["checkedByKind"]["clusters"] == 13
    assert summary["checkedByKind"]["pools"] == 31
    assert summary["checked"] > 18
    assert summary["errors"] == 0


def test_a_fingerprint_does_not_move_with_the_line(broken, run_cli):
    def fingerprints():
        report = run_cli(["generate", "--root", broken, "--format", "json"])
        return sorted(item["fingerprint"] for item in report.diagnostics if item["code"] == "PSM101")

    before = fingerprints()
    path = broken / "profiles/edge/l4.yaml"
    path.write_text("# a comment\n" + path.read_text())

    assert fingerprints() == before


@pytest.mark.rows(3, "a process each")
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
@pytest.mark.parametrize("form", ["json", "text", "github"])
def test_any_encoding_of_the_pipe_will_do(sample_project, start_cli, encoding, form):
    (sample_project / "profiles/_bases/self.yaml").write_text(
        "apiVersion: poolsmith/v1\nkind: NodePoolBase\nmetadata: {name: self}\nspec:\n  extends: [self] # ünïcode →\n"
    )
    process = start_cli(
        ["generate", "--root", sample_project, "--format", form], env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    )
    out, err = process.communicate()

    assert (process.returncode, err) == (1, b"")
    text = out.decode(encoding)
    assert form != "json" or any("self → self" in item["message"] for item in json.loads(text)["diagnostics"])


def test_github_shows_at_most_ten_of_each_severity_and_then_the_whole_report(synthetic_fleet, run_cli):
    root = synthetic_fleet(3, 5)
    for path in (root / "profiles").glob("*/pool-*.yaml"):
        path.write_text(path.read_text() + "  diver: {}\n")
    github, text = (run_cli(["generate", "-v", "--root", root, "--format", form]).out for form in ("github", "text"))
    lines = github.splitlines()

    assert [line.partition(" ")[0] for line in lines[:10]] == ["::error"] * 10
    token = lines[10].removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", token)
    assert lines[-1] == f"::{token}::"
    assert lines[11:-2] == text.splitlines()
    assert lines[-2].startswith("5 more findings: ")
    assert text.count("error PSM101") == 15


def test_every_run_stops_commands_with_another_token(broken, run_cli):
    tokens = {
        re.search("::stop-commands::(.*)", run_cli(["generate", "--root", broken, "--format", "github"]).out)[1]
        for _ in range(3)
    }

    assert len(tokens) == 3


def test_an_annotation_escapes_its_properties_and_its_message(broken, run_cli):
    (broken / "profiles/edge/a,b:c%0A.yaml").write_text("a: [\n")
    lines = run_cli(["generate", "--root", broken, "--format", "github"]).out.splitlines()

    assert any(line.startswith("::error file=profiles/edge/a%2Cb%3Ac%250A.yaml,line=") for line in lines)
    assert any("%0Ahelp: did you mean `product`?" in line for line in lines)


def test_inside_github_actions_the_format_is_github(broken, run_cli, monkeypatch):
    run_cli(["--version"])
    monkeypatch.setenv("GITHUB_ACTIONS", "true")

    assert run_cli(["generate", "--root", broken]).out.startswith("::error ")
    assert json.loads(run_cli(["generate", "--root", broken, "--format", "json"]).out)


@pytest.mark.rows(4, "a process each")
@pytest.mark.parametrize("form", ["text", "json", "github"])
@pytest.mark.parametrize("environment", [{}, {"FORCE_COLOR": "0"}, {"TERM": "xterm-256color"}], ids=str)
def test_a_pipe_gets_no_escape_codes(broken, start_cli, form, environment):
    out, err = start_cli(["generate", "--root", broken, "--format", form], env=environment).communicate()

    assert ESCAPE.encode() not in out + err


def on_a_terminal(args, environment, *, cwd=None, columns=None):
    """What a terminal would show."""
    main, other = pty.openpty()
    if columns is not None:
        termios.tcsetwinsize(other, (40, columns))
    command = [sys.executable, "-m", "poolsmith", *map(str, args)]
    process = subprocess.Popen(command, stdin=other, stdout=other, stderr=other, env=environment, cwd=cwd)
    os.close(other)
    shown = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(main)
    process.wait()
    return shown.decode()


@pytest.mark.rows(3, "a process each")
@pytest.mark.parametrize(
    ("flags", "environment", "coloured"),
    [
        ([], {}, True),
        (["--no-color"], {}, False),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": ""}, True),
        (["--format", "json"], {}, False),
        (["--format", "github"], {}, False),
    ],
)
def test_a_terminal_gets_colours_unless_it_wants_none(broken, repository, flags, environment, coloured):
    base = {
        name: value for name, value in os.environ.items() if name not in ("GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR")
    }
    base |= {"PYTHONPATH": str(repository / "generator"), "TERM": "xterm-256color", **environment}
    shown = on_a_terminal(["generate", "--root", broken, *flags], base)

    assert "PSM101" in shown
    assert (ESCAPE in shown) is coloured


def test_lines_are_as_wide_as_the_terminal(broken, repository):
    environment = dict(os.environ) | {
        "PYTHONPATH": str(repository / "generator"),
        "TERM": "xterm-256color",
        "NO_COLOR": "1",
    }
    environment.pop("GITHUB_ACTIONS", None)
    narrow, wide = (on_a_terminal(["generate"], environment, cwd=broken, columns=columns) for columns in (60, 500))

    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, wide.splitlines()))
    assert narrow.split() == wide.split()


@pytest.mark.rows(3, "a check of the fleet each")
@pytest.mark.parametrize(
    "flags", [["-v"], ["--group-by", "cluster"], ["--group-by", "file", "-v"], ["--format", "sarif"]], ids=" ".join
)
@pytest.mark.parametrize("fail_on", ["error", "note"])
def test_no_flag_of_the_report_changes_the_exit_code(sample_project, run_cli, flags, fail_on):
    args = ["generate", "--fail-on", fail_on]
    assert run_cli([*args, *flags], cwd=sample_project).code == run_cli(args, cwd=sample_project).code


def test_a_step_gets_its_summary_where_there_is_a_format_for_it(broken, run_cli, monkeypatch, tmp_path):
    summary = tmp_path / "summary.md"
    summary.write_text("from a step before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setitem(FORMATS, "markdown", Format(".md", check="text"))
    args = ["generate", "--format", "github"]
    run_cli(args, cwd=broken)
    text = summary.read_text()

    assert text.startswith("from a step before\n")
    assert "\nprofiles/edge/l4.yaml:11:5: error PSM101 " in text
    summary.write_bytes(b"x" * (1 << 20))
    result = run_cli(args, cwd=broken)
    assert result.err == "poolsmith: the step's summary has no room for this report\n"
    assert summary.stat().st_size == 1 << 20


def test_annotations_name_files_from_the_top_of_the_repository(broken, run_cli):
    (broken.parent / ".git").mkdir()
    lines = run_cli(["generate", "--root", broken, "--format", "github"]).out.splitlines()

    assert any(line.startswith("::error file=sample/profiles/edge/l4.yaml,line=11,col=5,") for line in lines)


def test_a_report_that_cannot_be_written_hides_no_finding(broken, run_cli, monkeypatch, tmp_path):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("poolsmith.interface.app.report_files._replace", fail)
    result = run_cli(["check", "--output", tmp_path / "a.json"], cwd=broken)

    assert result.code == 1
    assert "error PSM101" in result.out
    assert "No space left on device" in result.err


def test_a_terminal_is_not_steered_by_a_profile(broken, repository):
    path = broken / "profiles/edge/l4.yaml"
    path.write_text(path.read_text() + '  "\\e[2J[red]x[/red]": 1\n')
    base = dict(os.environ) | {"PYTHONPATH": str(repository / "generator"), "TERM": "xterm-256color"}
    base.pop("NO_COLOR", None)
    base.pop("GITHUB_ACTIONS", None)
    shown = on_a_terminal(["generate", "--root", broken], base)

    assert "\x1b[2J" not in shown
    assert "\\x1b[2J[red]x[/red]" in shown


@pytest.mark.parametrize(
    "args", [["rules"], ["schema", "NodePool"], ["generate"], ["--help"], ["--version"]], ids=" ".join
)
def test_a_reader_that_goes_away_is_no_bug(broken, start_cli, args):
    reader, writer = os.pipe()
    os.close(reader)
    process = start_cli(args, stdout=writer, cwd=broken)
    os.close(writer)
    _, err = process.communicate()

    assert process.returncode == 1
    assert err == b""
