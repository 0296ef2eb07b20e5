"""No verb prints bytes that steer a terminal or a build server, and no input ends in a bug of ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from poolsmith.core.diagnostics.message_text import harmless
from poolsmith.core.sources.yaml_reader import read_documents
from poolsmith.core.sources.yaml_writer import emit

SAMPLE = Path(__file__).parents[2]
STEERING = "\x1b[31m\x9b31m\x07\u202e\u2066\u200b\u2028\u0085"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
COMMAND = re.compile(r"^[ \t]*::|##\[|##vso\[", re.MULTILINE)


def run(*arguments: str, shell: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "poolsmith", *arguments]
    if shell:
        command = ["sh", "-c", f'"$@" {shell}', "sh", *command]
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=False, cwd=SAMPLE, env=buffered
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name in ("profiles/lab-t4", "profiles/_bases"):
        shutil.copytree(SAMPLE / name, tmp_path / name)
    return tmp_path


@pytest.mark.rows(2, "each place once")
@pytest.mark.parametrize(
    "words",
    [
        (STEERING,),
        ("explain", f"a{STEERING}/b"),
        ("explain", f"lab-t4:{STEERING}"),
        ("check", f"x{STEERING}.yaml"),
        ("check", "--cluster", STEERING),
        ("ledger", "--cluster", STEERING),
        ("images", "--cluster", STEERING),
        ("grants", "--cluster", STEERING),
        ("schema", STEERING),
        ("catalog", "show", STEERING),
        ("template", "--release", STEERING, "-f", "x"),
        ("policy", "eval", "--policy", STEERING, "--object", STEERING),
        (f"--{STEERING}",),
    ],
)
def test_what_is_typed_is_shown_escaped(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.returncode in (1, 2, 3)
    assert not RAW.search(done.stdout + done.stderr)


@pytest.mark.deep("a whole run, 0.9 s; its parts have tests of their own")
def test_values_of_profiles_are_shown_escaped(project: Path) -> None:
    file = project / "profiles/lab-t4/cluster.yaml"
    evil = '"\\e[31m\\u202e\\u009b \\n::error::x\\n##[error]x"'
    text = file.read_text("utf-8")
    file.write_text(text.replace("spec:\n", f"spec:\n  stray: {evil}\n", 1), "utf-8")
    (project / f"profiles/lab-t4/{STEERING}.yaml").write_text(f"apiVersion: {evil}\n", "utf-8")
    for words in (("check", "--no-cache"), ("generate",), ("explain", "lab-t4"), ("ledger",), ("images",), ("grants",)):
        done = run(*words, "--root", str(project))
        assert not RAW.search(done.stdout + done.stderr), words
        assert not COMMAND.search(done.stdout + done.stderr), words


def test_a_whole_text_is_made_harmless() -> None:
    assert harmless("a\n\tb\n") == "a\n\tb\n"
    assert harmless(" ::error::x\na\x1bb\u202e##[x]") == " \\x3a:error::x\na\\x1bb\\u202e\\u0023#[x]"
    assert harmless("::error::x", with_commands=True) == "::error::x"


@pytest.mark.parametrize(
    "value", ["a\n::error::x\n", "a\n  ::x", "##[error]x", "a\n##vso[x]\n", "a\u2060\nb", "\U000e0041"]
)
def test_printed_yaml_is_harmless_and_means_the_same(value: str) -> None:
    text = emit({"a": value})
    assert harmless(text) == text
    assert not COMMAND.search(text)
    assert read_documents(harmless(text)) == [{"a": value}]


@pytest.mark.rows(7, "a row takes 0.074 s; each value of each column is seen first")
@pytest.mark.parametrize("where", [">/dev/full", ">&-", "2>&-", ">&- 2>&- <&-", "| true"])
@pytest.mark.parametrize("words", [("--version",), ("--help",), ("rules",)])
def test_output_that_nobody_takes_is_no_bug(words: tuple[str, ...], where: str) -> None:
    assert run(*words, shell=where).returncode in (0, 1)


def test_folders_nested_beyond_all_measure_are_no_bug(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_100):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    (tmp_path / "x.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n", "utf-8")
    done = run("check", str(tmp_path))
    assert done.returncode == 1
    assert "nested deeper than 64 folders" in done.stdout
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=False)


def test_a_link_out_of_the_folder_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside.yaml").write_text("apiVersion: v1\nkind: Secret\nstray: planted-outside\n", "utf-8")
    inside = tmp_path / "repository"
    inside.mkdir()
    (inside / "link.yaml").symlink_to("../outside.yaml")
    done = run("check", str(inside), "--root", str(inside))
    assert done.returncode == 1
    assert "PSM011" in done.stdout
    assert "planted" not in done.stdout


def test_values_without_a_release_are_nothing_to_check(tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text("driver: {version: 570.158.01}\n", "utf-8")
    done = run("check", str(tmp_path / "values.yaml"))
    assert done.returncode == 3
    assert "--release" in done.stderr
    assert run("check", str(tmp_path / "values.yaml"), "--release", "v26.3.3").returncode == 0
