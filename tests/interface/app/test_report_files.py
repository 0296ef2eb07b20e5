"""Where `--output` writes, and where it never does."""

from __future__ import annotations

import json
import os

import pytest

from poolsmith.core.diagnostics import UsageError
from poolsmith.interface.app.report_files import report_files, write_reports
from poolsmith.interface.report.formats import CHECK, FORMATS, names_for


@pytest.fixture
def project(tmp_path, monkeypatch):
    for folder in ("profiles/lab", "policies", "output/clusters", ".git", "reports"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "profiles/lab/cluster.yaml").write_text("kept\n")
    (tmp_path / "README.md").write_text("kept\n")
    (tmp_path / "values.yaml").write_text("kept\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_format_is_named_or_follows_from_the_ending(project):
    files = report_files(project, ("a.json", "text=b", "json=c.txt", "reports/D.TXT", "./x=y.json"), names_for(CHECK))

    assert [file.format for file in files] == ["json", "text", "json", "text", "json"]
    assert files[-1].path == str(project / "x=y.json")


@pytest.mark.parametrize("name", names_for(CHECK))
def test_every_ending_is_of_one_format(name):
    ending = FORMATS[name].ending
    assert not ending or [one for one, item in FORMATS.items() if item.ending == ending] == [name]


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("output/report.json", "is in output/"),
        ("output/clusters/report.json", "is in output/"),
        ("profiles/lab/cluster.yaml", "no format has this ending"),
        ("json=profiles/lab/cluster.yaml", "is in profiles/"),
        ("json=policies/waivers.yaml", "is in policies/"),
        ("json=reports/../policies/waivers.yaml", "is in policies/"),
        ("json=.git/config", "is in .git/"),
        ("nowhere/report.json", "there is no folder"),
        ("json=values.yaml", "is a YAML file"),
        ("json=reports", "is no regular file"),
        ("report.docx", "no format has this ending"),
        ("pdf=report", "`pdf` is no format"),
        ("json=", "takes the path of a file"),
        ("", "takes the path of a file"),
        ("json=-", "takes the path of a file"),
        ("json=/dev/null", "is no regular file"),
        ("json=a\0b", "null"),
    ],
)
def test_where_nothing_is_written(project, wanted, why):
    with pytest.raises(UsageError, match=why):
        report_files(project, (wanted,), names_for(CHECK))


def test_two_reports_are_two_files(project):
    with pytest.raises(UsageError, match="one file twice"):
        report_files(project, ("a.json", "text=./reports/../a.json"), names_for(CHECK))


@pytest.mark.parametrize("target", ["../elsewhere.json", "README.md", "nothing"])
def test_nothing_is_written_through_a_link(project, target):
    (project / "a.json").symlink_to(target)
    with pytest.raises(UsageError, match="is a symbolic link"):
        report_files(project, ("a.json",), names_for(CHECK))


def test_nothing_is_written_through_a_folder_that_is_a_link(project, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (project / "linked").symlink_to(elsewhere)
    with pytest.raises(UsageError, match="linked is a symbolic link"):
        report_files(project, ("linked/a.json",), names_for(CHECK))


def test_the_way_to_the_project_may_have_links(project, tmp_path_factory):
    door = tmp_path_factory.mktemp("door") / "door"
    door.symlink_to(project)
    files = report_files(project, (str(door / "reports/a.json"),), names_for(CHECK))
    write_reports(project, files, lambda _: "x")

    assert (project / "reports/a.json").read_text() == "x"
    with pytest.raises(UsageError, match="is in policies/"):
        report_files(project, (str(door / "policies/a.json"),), names_for(CHECK))


def test_a_link_that_appears_meanwhile_is_not_followed(project):
    files = report_files(project, ("a.json",), names_for(CHECK))
    (project / "a.json").symlink_to("README.md")
    with pytest.raises(UsageError, match="is a symbolic link"):
        write_reports(project, files, lambda _: "x")

    assert (project / "README.md").read_text() == "kept\n"


def test_a_file_is_replaced_as_a_whole_or_not_at_all(project, monkeypatch):
    (project / "a.json").write_text("before")
    files = report_files(project, ("a.json",), names_for(CHECK))

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(Exception, match="No space left"):
        write_reports(project, files, lambda _: "after")
    assert (project / "a.json").read_text() == "before"
    assert sorted(path.name for path in project.glob(".*")) == [".git"]


def test_one_run_prints_and_writes_the_same_findings(sample_project, run_cli, tmp_path):
    args = ["check", "--root", sample_project, "--output", tmp_path / "r.json", "--output", f"text={tmp_path / 'r'}"]
    result = run_cli(args)
    report = json.loads((tmp_path / "r.json").read_text())

    assert result.code == 1
    assert f": {report['summary']['errors']} errors, " in result.out
    assert (tmp_path / "r").read_text() == result.out


def test_a_wrong_path_is_told_before_the_run(sample_project, run_cli):
    (sample_project / "profiles/edge/l4.yaml").write_text("[")
    result = run_cli(["check", "--root", sample_project, "--output", "nowhere/x.json"])

    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("poolsmith: --output nowhere/x.json: there is no folder ")
