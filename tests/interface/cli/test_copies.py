"""Every verb with formats writes its report to files, too."""

from __future__ import annotations

import csv
import json
from importlib import import_module

import click
import pytest

from poolsmith.interface.cli.main import _run
from poolsmith.interface.cli.verbs import _ONCE, VERBS, _commands, _take_output, cli


def verbs_with_formats():
    context = click.Context(cli)
    for name in VERBS:
        _, command, _ = cli.resolve_command(context, [name])
        for below in _commands(command):
            if any("--format" in item.opts for item in below.params):
                yield name, below


def test_every_verb_with_formats_takes_output():
    lacking = {name for name, one in verbs_with_formats() if all("--output" not in item.opts for item in one.params)}

    assert lacking == _ONCE


@pytest.mark.sample("edge")
@pytest.mark.parametrize("line", ["ledger", "images", "inventory", "drift", "rules", "explain edge", "catalog list"])
def test_a_file_has_what_would_be_printed(sample_project, monkeypatch, capsys, line):
    monkeypatch.chdir(sample_project)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "")
    assert _run([*line.split(), "--format", "json"]) == 0
    wanted = capsys.readouterr().out
    assert _run(line.split()) == 0
    shown = capsys.readouterr().out
    assert _run([*line.split(), "--output", "report.json", "--output", "text=report"]) == 0

    assert capsys.readouterr().out == shown
    assert (sample_project / "report.json").read_text("utf-8") == wanted
    assert json.loads(wanted)
    assert "\x1b" not in (sample_project / "report").read_text("utf-8")


@pytest.mark.sample("edge")
def test_formats_of_one_verb_have_endings(sample_project, monkeypatch, capsys):
    monkeypatch.chdir(sample_project)
    assert _run(["inventory", "--output", "pools.csv"]) == 0
    rows = csv.DictReader((sample_project / "pools.csv").read_text("utf-8").splitlines())
    assert {row["cluster"] for row in rows} == {"edge"}
    assert _run(["inventory", "--output", "pools.xml"]) == 2
    assert _run(["images", "--output", "profiles/images.json"]) == 2

    said = capsys.readouterr().err
    assert "there are `.txt`, `.json`, `.csv`" in said
    assert "is in profiles/, which holds no reports" in said
    assert not (sample_project / "profiles/images.json").exists()


def test_a_verb_that_has_its_own_way_keeps_it():
    command = import_module("poolsmith.interface.cli.check").command
    before = list(command.params)
    _take_output(command)

    assert command.params == before
