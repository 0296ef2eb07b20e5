"""The workflow that makes releases: what builds can't publish, what publishes runs no code of ours; and its steps work."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from poolsmith import __version__
from poolsmith.core.sources.yaml_reader import read_documents
from support.git_repository import commit_all

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = read_documents((ROOT / ".github/workflows/release.yaml").read_text("utf-8"))[0]
BUILD, PUBLISH, CONTAINER = (WORKFLOW["jobs"][name] for name in ("build", "publish", "oci"))
LOCKS = {"requirements-run.lock", "requirements-live.lock", "requirements-dask.lock"}
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yaml"))


def script(job, name):
    return next(step["run"] for step in job["steps"] if step.get("name") == name)


def test_it_starts_at_tags_of_versions_only():
    assert WORKFLOW["on"] == {"push": {"tags": ["v[0-9]+.[0-9]+.[0-9]+"]}}
    assert WORKFLOW["permissions"] == {}


def test_what_builds_can_only_read():
    assert BUILD["permissions"] == {"contents": "read"}


def test_what_publishes_runs_nothing_of_the_project():
    signing = {"id-token": "write", "attestations": "write"}
    assert PUBLISH["permissions"] == signing | {"contents": "write"}
    assert CONTAINER["permissions"] == signing | {"packages": "write"}
    for job in (PUBLISH, CONTAINER):
        assert job["needs"] == "build"
        assert not any("checkout" in step.get("uses", "") for step in job["steps"])
        scripts = " ".join(step.get("run", "") for step in job["steps"])
        assert not re.search(r"python|pip|make|npm|bash|\./|docker (?:run|build|compose|exec|start)", scripts)


def test_a_container_stands_on_a_base_with_a_digest_and_is_attested_where_it_lies(tmp_path):
    build = script(BUILD, "Build the container")
    for base in ("docker.io/library/python:3.12", "python@sha512:0"):
        assert run(build, tmp_path, {**os.environ, "BASE": base}).returncode == 1
    attested = [step["with"] for step in CONTAINER["steps"] if step.get("uses", "").startswith("actions/attest@")]
    assert attested == [
        {
            "subject-name": "${{ steps.push.outputs.name }}",
            "subject-digest": "${{ steps.push.outputs.digest }}",
            "push-to-registry": True,
        }
    ]


def test_what_is_pushed_is_what_was_built_under_the_name_of_the_repository(tmp_path):
    (tmp_path / "docker").write_text(
        '#!/bin/sh\nif [ "$1" = login ]; then cat > login; else echo "$*" >> calls; fi\n'
        "[ $1 = inspect ] && echo ghcr.io/acme/tool@sha256:abc\nexit 0\n"
    )
    (tmp_path / "docker").chmod(0o755)
    environment = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
        "GH_TOKEN": "token",
        "ACTOR": "me",
        "REPOSITORY": "Acme/Tool",
        "TAG": "v1.2.3",
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    done = run(script(CONTAINER, "Push"), tmp_path, environment)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "calls").read_text().splitlines()[:3] == [
        "load --input image/poolsmith.tar",
        "tag poolsmith ghcr.io/acme/tool:v1.2.3",
        "push ghcr.io/acme/tool:v1.2.3",
    ]
    assert (tmp_path / "login").read_text() == "token"
    assert (tmp_path / "output").read_text() == "name=ghcr.io/acme/tool\ndigest=sha256:abc\n"


def test_wheel_sources_and_bill_are_attested():
    attested = [step["with"] for step in PUBLISH["steps"] if step.get("uses", "").startswith("actions/attest@")]

    assert attested == [
        {"subject-path": "dist/*"},
        {"subject-path": "dist/*.whl", "sbom-path": "dist/poolsmith.cdx.json"},
    ]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_no_workflow_puts_what_others_chose_into_a_script(path):
    found = read_documents(path.read_text("utf-8"))[0]
    for job in found["jobs"].values():
        for step in job["steps"]:
            assert "${{" not in step.get("run", "")
            assert "secrets." not in json.dumps(step)
            if "checkout@" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
    assert found["permissions"] == {}


@pytest.fixture
def checkout(tmp_path):
    """What a checkout of a tag has, as far as the steps need it, in a repository; the environment of a step."""
    folder = tmp_path / "checkout"
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in ("generator", "tests/tools"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in (
        "pyproject.toml",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
        "NOTICE",
        "SECURITY.md",
        "requirements.lock",
    ):
        shutil.copy(ROOT / name, folder / name)
    for name in LOCKS:
        shutil.copy(ROOT / name, folder / name)
    commit_all(folder)
    binaries = tmp_path / "temp/build/bin"
    binaries.mkdir(parents=True)
    (binaries / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (binaries / "python").chmod(0o755)
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return folder, {**clean, "RUNNER_TEMP": str(tmp_path / "temp")}


def run(text, folder, environment):
    return subprocess.run(
        ["bash", "-e", "-c", text], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.rows(2, "two tags of four")
@pytest.mark.parametrize(
    ("tag", "code"), [(f"v{__version__}", 0), ("v9.9.9", 1), (__version__, 1), (f"v{__version__}; true", 1)]
)
def test_a_tag_that_is_not_the_version_is_no_release(checkout, tag, code):
    folder, environment = checkout

    assert run(script(BUILD, "The tag is the version"), folder, {**environment, "TAG": tag}).returncode == code


@pytest.mark.deep("the release is built twice")
def test_the_build_is_whole_and_the_same_each_time(checkout):
    folder, environment = checkout
    done = run(script(BUILD, "Build"), folder, environment)
    assert done.returncode == 0, done.stderr
    first = digests(folder)
    assert run("rm -rf dist; " + script(BUILD, "Build"), folder, environment).returncode == 0

    assert digests(folder) == first
    told = dict(reversed(line.split("  ")) for line in (folder / "dist/SHA256SUMS").read_text().splitlines())
    assert told == {name: digest for name, digest in first.items() if name != "SHA256SUMS"}
    name = f"poolsmith-{__version__}"
    assert set(first) == {
        f"{name}-py3-none-any.whl",
        f"{name}.tar.gz",
        *LOCKS,
        "poolsmith.cdx.json",
        "SHA256SUMS",
    }
    assert json.loads((folder / "dist/poolsmith.cdx.json").read_text())["bomFormat"] == "CycloneDX"
    with tarfile.open(folder / f"dist/{name}.tar.gz") as sources:
        packed = {item.partition("/")[2] for item in sources.getnames()}
    assert {"LICENSE", "NOTICE", "SECURITY.md", "requirements-run.lock", "pyproject.toml"} <= packed


def digests(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (folder / "dist").iterdir()}
