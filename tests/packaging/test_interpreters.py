"""Each Python that poolsmith supports says the same, with what an installation makes for it and without."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
NAMED = "POOLSMITH_PYTHONS"
"""A variable: interpreters that have the packages of requirements-run.lock, as PATH separates folders."""
PACKAGES = "import yaml, click, rich, re2, cel_expr_python, sys; print('%d.%d' % sys.version_info[:2])"
PROJECT = ("profiles", "policies", "output", "examples")
RUNS = ("check", "generate --check", "ledger", "check --all --format json output examples")


@cache
def interpreters() -> dict[str, str]:
    """Those that are named, that runs this test, and of PATH, by version; the first of each."""
    candidates = [*os.environ.get(NAMED, "").split(os.pathsep), sys.executable, *map("python{}".format, VERSIONS)]
    found: dict[str, str] = {}
    for candidate in candidates:
        if place := shutil.which(candidate):
            found.setdefault(answer((place, "-c", PACKAGES), ROOT)[1].decode().strip(), place)
    return found


def answer(command, folder, package=""):
    """The exit code, what it prints, and what it says beside."""
    environment = {"HOME": str(folder), "PATH": os.environ["PATH"], "PYTHONPATH": str(package)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The sample fleet, and the sources of a checkout in which nothing was made yet."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in PROJECT:
        shutil.copytree(ROOT / name, folder / name)
    shutil.copytree(ROOT / "generator", folder / "plain", ignore=shutil.ignore_patterns("compiled", "__pycache__"))
    return folder


@pytest.fixture(scope="module")
def expected(checkout):
    """What the interpreter of the tests says, with nothing made."""
    return {run: said(sys.executable, run, checkout, "plain") for run in RUNS}


def said(python, run, checkout, package):
    return answer((python, "-m", "poolsmith", *run.split()), checkout, checkout / package)


@pytest.mark.deep("the sample fleet eight times in each interpreter")
@pytest.mark.parametrize("version", VERSIONS)
def test_each_says_the_same_with_and_without_what_an_installation_makes(version, checkout, expected):
    python = interpreters().get(version)
    if python is None:
        pytest.skip(f"no Python {version} with the packages of requirements-run.lock: on PATH, or in {NAMED}")
    made = checkout / f"made-{version}"
    shutil.copytree(checkout / "plain", made, ignore=shutil.ignore_patterns("__pycache__"))
    assert answer((python, "-m", "poolsmith.core.facts.twins"), checkout, made) == (0, b"", b"")
    kept = {path.name.partition(".")[0] for path in (made / "poolsmith/data/compiled").iterdir()}
    assert kept > {"code", "patterns"}, "what an installation makes"

    for run in RUNS:
        assert expected[run][0] in (0, 1), expected[run][2]
        for package in ("plain", made.name):
            assert not difference(said(python, run, checkout, package), expected[run]), (run, package)


def difference(found, expected):
    """The exit codes, or the first line that differs; nothing where all is the same."""
    if found == expected:
        return ()
    lines = [b"".join(streams).splitlines(keepends=True) for _, *streams in (found, expected)]
    return found[0], expected[0], next((pair for pair in zip_longest(*lines) if pair[0] != pair[1]), None)
