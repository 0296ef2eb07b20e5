"""Pages whose commands are run: files are written, commands run, their output compared.

A console block holds commands (`$ `) and what they print; a line `...` stands for any lines, `(...)` for anything in
parentheses. A block whose info string has `file=<path>` is a file. `skip=<reason>` keeps a console block from being run.
With UPDATE_WALKS what commands print is written into the page, to be read and cut by hand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
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


class Shell:
    """Runs lines in a folder, with a `poolsmith` on PATH that is this interpreter's, and no settings of a user."""

    def __init__(self, place, folder):
        programs = place / "bin"
        programs.mkdir()
        folder.mkdir()
        for name, module in (("poolsmith", "poolsmith"), ("pre-commit", "pre_commit")):
            shim = programs / name
            shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n', "utf-8")
            shim.chmod(0o755)
        self.folder = folder
        self._environment = {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "generator"),
            "HOME": str(place),
            "LC_ALL": "C",
            "PYTHONUTF8": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def __call__(self, line):
        done = subprocess.run(
            ["sh", "-c", line],
            cwd=self.folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )
        return done.stdout


def sample_shell(place):
    """A shell in a clone of the sample fleet, all of it committed."""
    shell = Shell(place, place / "gpu-fleet")
    for name in ("profiles", "policies", "output"):
        shutil.copytree(ROOT / name, shell.folder / name)
    shell(
        "git init -q -b main . && git config user.name You && git config user.email you@example.com && git add -A . "
        "&& git commit -qm 'The fleet'"
    )
    return shell


def walk(page, shell):
    """Do what a page says; how many commands ran."""
    text = page.read_text("utf-8")
    ran = 0
    for block in blocks_of(text):
        if (file := _FILE.search(block.info)) is not None:
            target = shell.folder / file["path"]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.body, "utf-8")
        elif block.info.split()[0] == "console" and not _SKIP.search(block.info):
            said = []
            for command in commands_of(block):
                printed = shell(command.text)
                ran += 1
                said.append(f"$ {command.text}\n{printed}")
                if os.environ.get("UPDATE_WALKS"):
                    continue
                shown = "\n".join(command.expected)
                assert as_expected(command.expected, printed), (
                    f"{page.name}:{command.line}: `{command.text}` printed\n{printed}\nand the page says\n{shown}"
                )
            text = text.replace(f"```{block.info}\n{block.body}```", f"```{block.info}\n{''.join(said)}```", 1)
    if os.environ.get("UPDATE_WALKS"):
        page.write_text(text, "utf-8")
    return ran
