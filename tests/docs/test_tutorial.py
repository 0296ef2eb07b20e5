"""docs/tutorial.md does what it says: its files are written, its commands run, their output compared.

A console block holds commands (`$ `) and what they print; a line `...` stands for any lines, `(...)` for anything in
parentheses. A block whose info
string has `file=<path>` is a file. `skip=<reason>` keeps a console block from being run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"
_FENCE = re.compile(r"^```(?P<info>[^\n`]+)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"\bfile=(?P<path>\S+)")
_SKIP = re.compile(r"\bskip=\S")


@dataclass(frozen=True)
class Block:
    line: int
    info: str
    body: str


@dataclass(frozen=True)
class Command:
    line: int
    text: str
    expected: tuple[str, ...]


def blocks_of(page: str) -> list[Block]:
    return [
        Block(page.count("\n", 0, found.start()) + 1, found["info"], found["body"]) for found in _FENCE.finditer(page)
    ]


def commands_of(block: Block) -> list[Command]:
    commands: list[Command] = []
    for offset, line in enumerate(block.body.splitlines(), 1):
        if line.startswith("$ "):
            commands.append(Command(block.line + offset, line[2:], ()))
        else:
            assert commands, f"line {block.line + offset}: output before any command"
            last = commands.pop()
            commands.append(Command(last.line, last.text, (*last.expected, line)))
    return commands


def as_expected(expected: tuple[str, ...], printed: str) -> bool:
    """`...` alone on a line matches any number of lines, none included; `(...)` whatever stands in parentheses."""
    inside = re.escape("(...)")
    exact = [re.escape(line).replace(inside, r"\([^\n()]*\)") + "\n" for line in expected]
    parts = [r"(?:[^\n]*\n)*?" if line == "..." else part for line, part in zip(expected, exact, strict=True)]
    return re.fullmatch("".join(parts), printed) is not None


@pytest.fixture
def shell(tmp_path):
    """Run a line in an empty folder, with a `poolsmith` on PATH that is this interpreter's."""
    programs, folder = tmp_path / "bin", tmp_path / "gpu-fleet"
    programs.mkdir()
    folder.mkdir()
    for name, module in (("poolsmith", "poolsmith"), ("pre-commit", "pre_commit")):
        shim = programs / name
        shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n', "utf-8")
        shim.chmod(0o755)
    environment = {
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT / "generator"),
        "HOME": str(tmp_path),
        "LC_ALL": "C",
        "PYTHONUTF8": "1",
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def run(line):
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        return done.stdout

    run.folder = folder
    return run


def test_the_tutorial_runs_from_start_to_end(shell):
    ran = 0
    for block in blocks_of(PAGE.read_text("utf-8")):
        if (file := _FILE.search(block.info)) is not None:
            target = shell.folder / file["path"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body, "utf-8")
        elif block.info.split()[0] == "console" and not _SKIP.search(block.info):
            for command in commands_of(block):
                printed = shell(command.text)
                ran += 1
                shown = "\n".join(command.expected)
                assert as_expected(command.expected, printed), (
                    f"docs/tutorial.md:{command.line}: `{command.text}` printed\n{printed}\nand the page says\n{shown}"
                )
    assert ran > 10, "the page has lost its commands"


def test_skipped_blocks_say_why():
    for block in blocks_of(PAGE.read_text("utf-8")):
        if "skip" in block.info:
            assert re.search(r'\bskip="[^"]{10,}"', block.info), f"line {block.line}: skip without a reason"


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        ((), "", True),
        ((), "text\n", False),
        (("a", "...", "d"), "a\nb\nc\nd\n", True),
        (("a", "...", "d"), "a\nd\n", True),
        (("a", "...", "d"), "a\nb\n", False),
        (("a.c",), "abc\n", False),
        (("...",), "", True),
        (("... more",), "x more\n", False),
        (("a (...) b",), "a (1) b\n", True),
        (("a (...) b",), "a (1) (2) b\n", False),
    ],
)
def test_three_dots_match_whole_lines_only(expected, printed, same):
    assert as_expected(expected, printed) is same
