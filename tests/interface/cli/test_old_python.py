"""A Python that is too old is told by its version, before anything else can be missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GENERATOR = Path(__file__).parents[3] / "generator"
_OLD = """
import sys, runpy
sys.version_info, sys.version = {version}, "{text} (main)"
runpy.run_module("poolsmith", run_name="__main__")
"""


@pytest.mark.parametrize(("version", "text"), [((3, 10, 13), "3.10.13"), ((2, 7, 18), "2.7.18")])
def test_it_is_told_before_a_module_of_ours_is_read(version, text):
    program = _OLD.format(version=version, text=text)
    environment = os.environ | {"PYTHONPATH": str(GENERATOR)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], env=environment, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr == f"poolsmith needs Python 3.11 or later, and {sys.executable} is {text}\n"


def older():
    """Interpreters of this machine that are too old: those on PATH, and those of pyenv."""
    found = [shutil.which(f"python{name}") for name in ("2.7", "3.8", "3.10")]
    found += sorted(map(str, Path.home().glob(".pyenv/versions/*/bin/python")))
    for program in filter(None, found):
        asked = (program, "-c", "import sys; sys.stdout.write(sys.version.split()[0])")
        told = subprocess.run(asked, capture_output=True, text=True, check=False)
        if told.returncode == 0 and tuple(map(int, told.stdout.split(".")[:2])) < (3, 11):
            yield program, told.stdout


def test_real_ones_say_so_too():
    environment = os.environ | {"PYTHONPATH": str(GENERATOR), "PYTHONDONTWRITEBYTECODE": "1"}
    for program, version in older():
        done = subprocess.run(
            [program, "-m", "poolsmith", "check"], env=environment, capture_output=True, text=True, check=False
        )

        assert (done.returncode, done.stderr.split(" and ")[0]) == (1, "poolsmith needs Python 3.11 or later,"), version


def test_a_checkout_says_its_version_before_anything_is_installed(tmp_path):
    environment = {"PYTHONPATH": str(GENERATOR)}
    done = subprocess.run(
        [sys.executable, "-S", "-m", "poolsmith", "--version"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("poolsmith ")
