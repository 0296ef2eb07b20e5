"""The pipeline for GitLab, its script taken literally, and the image."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poolsmith.core.sources.yaml_reader import read_documents
from support.git_repository import commit_all, git

ROOT = Path(__file__).resolve().parents[2]
PIPELINE = read_documents((ROOT / "examples/gitlab/.gitlab-ci.yml").read_text("utf-8"))[0]["poolsmith"]
CONTAINERFILE = (ROOT / "examples/container/Containerfile").read_text("utf-8")
CLUSTER = "lab-t4"


@pytest.fixture
def job(tmp_path):
    """Run the job on a change of a fleet of one cluster."""
    from poolsmith.interface.app.generate import generate

    project, builds, path = tmp_path / "project", tmp_path / "builds", tmp_path / "path"
    for folder in (builds, path):
        folder.mkdir()
    for name in (f"profiles/{CLUSTER}", "profiles/_bases", "profiles/_schemas", "policies"):
        shutil.copytree(ROOT / name, project / name)
    generate(project)
    commit_all(project)
    base = git(project, "rev-parse", "HEAD")
    tool = tmp_path / "tool"
    shutil.copytree(ROOT / "action", tool / "action", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "requirements-run.lock", tool)
    commit_all(tool, "tool")
    git(tool, "config", "uploadpack.allowAnySHA1InWant", "true")
    stand_in = (
        f"#!{sys.executable} -I\nimport sys\nsys.path.insert(0, {str(ROOT / 'generator')!r})\n"
        "sys.argv += ['--today', '2026-11-20', '--jobs', '1']\nfrom poolsmith.interface.cli.main import main\nmain()\n"
    )
    (path / "python3").write_text(
        f'#!/bin/bash\nif [ "$*" = "-I -m venv $CI_BUILDS_DIR/venv" ]; then mkdir -p $CI_BUILDS_DIR/venv/bin;'
        f" cp {path}/tool $CI_BUILDS_DIR/venv/bin/poolsmith; cp {path}/pip $CI_BUILDS_DIR/venv/bin/pip;"
        f' else exec {sys.executable} "$@"; fi\n'
    )
    (path / "tool").write_text(stand_in)
    (path / "pip").write_text("#!/bin/bash\n[ -f requirements-run.lock ]\n")
    for name in path.iterdir():
        name.chmod(0o755)

    def run(change):
        git(project, "switch", "--quiet", "--create", "change")
        change(project)
        commit_all(project, "change")
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "GIT", "GITHUB"))}
        environment = {
            **inherited,
            **{key: str(value) for key, value in PIPELINE["variables"].items()},
            "PATH": f"{path}:{os.environ['PATH']}",
            "CI": "true",
            "CI_BUILDS_DIR": str(builds),
            "CI_PROJECT_DIR": str(project),
            "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
            "POOLSMITH_REPOSITORY": str(tool),
            "POOLSMITH_COMMIT": git(tool, "rev-parse", "HEAD"),
        }
        script = "set -eo pipefail\n" + "\n".join(PIPELINE["script"])
        done = subprocess.run(
            ["bash", "-c", script], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        return done, project

    return run


@pytest.mark.deep("a pipeline; that a hostile change fails stays")
def test_a_harmless_change_passes_and_leaves_its_reports(job):
    done, project = job(lambda folder: (folder / "README.md").write_text("A fleet.\n"))

    assert done.returncode == 0, done.stdout + done.stderr
    reports = PIPELINE["artifacts"]["reports"]
    assert (project / reports["junit"]).read_text().startswith("<?xml")
    assert isinstance(json.loads((project / reports["codequality"]).read_text()), list)
    assert (project / PIPELINE["artifacts"]["paths"][0]).is_file()


def hostile(folder):
    values = folder / f"output/clusters/{CLUSTER}/platform/values/gpu-operator.yaml"
    values.write_text(values.read_text() + "sandboxWorkloads:\n  enabled: true\n")
    for name in ("venv.py", "json.py", "poolsmith.py"):
        (folder / name).write_text("import pathlib; pathlib.Path('trapped').touch()\n")


@pytest.mark.real("a pipeline of GitLab")
def test_a_hostile_change_fails_at_its_line_and_runs_nothing(job):
    done, project = job(hostile)

    assert done.returncode == 1, done.stdout + done.stderr
    assert not list(project.rglob("trapped"))
    (found,) = [
        item
        for item in json.loads((project / "gl-code-quality-report.json").read_text())
        if item["check_name"].startswith("PSM502")
    ]
    assert found["severity"] == "major"
    assert found["location"]["path"].startswith(f"output/clusters/{CLUSTER}/")
    assert found["location"]["lines"]["begin"] >= 1
    assert re.fullmatch(r"[0-9a-f]{32}", found["fingerprint"])


def test_nothing_is_made_up_and_nothing_shallow():
    assert PIPELINE["image"].endswith("@sha256:<digest>")
    assert PIPELINE["variables"]["GIT_DEPTH"] == "0"
    assert PIPELINE["variables"]["POOLSMITH_COMMIT"] == "<full commit id>"


@pytest.mark.parametrize(("root", "path"), [("", "profiles/a.yaml"), ("fleets/lab/", "fleets/lab/profiles/a.yaml")])
def test_a_place_is_told_from_the_top_of_the_repository(tmp_path, root, path):
    finding = {"code": "PSM101", "name": "x", "message": "m", "fingerprint": "f", "severity": "warning"}
    place = {"primary": {"path": "profiles/a.yaml", "line": None}}
    report = {"diagnostics": [{**finding, **place, "status": "open"}, {**finding, **place, "status": "waived"}]}
    (tmp_path / "report.json").write_text(json.dumps(report))
    done = subprocess.run(
        [sys.executable, str(ROOT / "action/code_quality.py"), "report.json"],
        cwd=tmp_path,
        env={"POOLSMITH_ROOT": root},
        capture_output=True,
        text=True,
        check=True,
    )

    assert [(item["location"], item["severity"]) for item in json.loads(done.stdout)] == [
        ({"path": path, "lines": {"begin": 1}}, "minor")
    ]


def test_the_image_has_no_root_no_shell_and_nothing_that_no_lock_has():
    lines = [line for line in CONTAINERFILE.splitlines() if line and not line.startswith("#")]
    runs = [json.loads(line.removeprefix("RUN ")) for line in lines if line.startswith("RUN ")]
    installs = [run for run in runs if "install" in run]

    assert [line for line in lines if line.startswith("FROM ")] == ["FROM ${BASE} AS build", "FROM ${BASE}"]
    assert "ARG BASE" in lines
    assert "sha256:0" not in CONTAINERFILE
    assert len(installs) == 2
    assert {"--require-hashes", "requirements-run.lock"} <= set(installs[0])
    assert {"--no-deps", "--no-build-isolation", "--no-index"} <= set(installs[1])
    last = lines[lines.index("FROM ${BASE}") :]
    assert any(re.fullmatch(r"USER [1-9]\d*:[1-9]\d*", line) for line in last)
    assert not [line for line in last if line.startswith("RUN ")]
    for line in last:
        if line.startswith(("ENTRYPOINT ", "CMD ")):
            assert json.loads(line.partition(" ")[2])
