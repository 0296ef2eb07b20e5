"""Sections of a page that change this repository: each is done in a copy of it, and who changed which file is noted.

On top of what `walks.py` reads: a block with `file=<path> after="<line>"` goes into the file, behind each line that is exactly
this one. The command `sed` edits by hand; what other commands change is made. A command that fails ends the walk.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

from support.walks import ROOT, Shell, as_expected, blocks_of, commands_of

_FILE = re.compile(r'\bfile=(?P<path>\S+)(?: after="(?P<after>[^"]*)")?')
_COPIED = ("generator", "tests", "docs", "profiles", "policies", "output", "pyproject.toml", "Makefile", "README.md")
_LEFT = shutil.ignore_patterns(".hypothesis", ".pytest_cache", "golden", "miniatures", "data.new")
_NOT_OURS = ("__pycache__", ".pytest_cache", ".hypothesis", ".venv", "compiled", ".ruff_cache", ".mypy_cache")


@dataclass
class Touched:
    """Paths from the root of the repository."""

    by_hand: set[str] = field(default_factory=set)
    made: set[str] = field(default_factory=set)
    commands: int = 0


class Checkout(Shell):
    """A copy of this repository, with what `make` would have installed."""

    def __init__(self, place):
        super().__init__(place, place / "poolsmith")
        for name in _COPIED:
            source, target = ROOT / name, self.folder / name
            if source.is_dir():
                shutil.copytree(source, target, ignore=_LEFT)
            else:
                shutil.copy2(source, target)
        shutil.copy2(ROOT / "requirements.lock", self.folder)
        self._environment["PYTHONPATH"] = f"{self.folder / 'generator'}"
        self._install()

    def _install(self):
        programs = self.folder / ".venv/bin"
        programs.mkdir(parents=True)
        for name, line in (("python", ""), ("poolsmith", "-m poolsmith ")):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {line}"$@"\n', "utf-8")
            (programs / name).chmod(0o755)
        for stamp in ("installed", "ready"):
            (programs.parent / f".{stamp}").touch()

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
        assert done.returncode == 0, f"`{line}` ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def put(self, path, body, after=None):
        target = self.folder / path
        if after is None:
            assert not target.exists(), f"{path} is there already"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body, "utf-8")
            return
        lines = target.read_text("utf-8").splitlines(keepends=True)
        assert f"{after}\n" in lines, f"{path} has no line `{after}`"
        target.write_text("".join(line + body if line == f"{after}\n" else line for line in lines), "utf-8")

    def state(self):
        """Each file, and by what a change of it is seen."""
        found = {}
        for folder, names, files in os.walk(self.folder):
            names[:] = [name for name in names if name not in _NOT_OURS]
            for name in files:
                seen = os.stat(path := os.path.join(folder, name))
                found[os.path.relpath(path, self.folder)] = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
        return found


def sections_of(page):
    """Titles of the second level, and from which line to which."""
    lines = page.read_text("utf-8").splitlines()
    starts = [number for number, line in enumerate(lines, 1) if line.startswith("## ")]
    return {
        lines[start - 1].removeprefix("## "): (start, end)
        for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True)
    }


def walk_section(page, title, checkout):
    """Do what one section says."""
    start, end = sections_of(page)[title]
    touched, before = Touched(), checkout.state()
    for block in blocks_of(page.read_text("utf-8")):
        if not start < block.line < end:
            continue
        if (file := _FILE.search(block.info)) is not None:
            checkout.put(file["path"], block.body, file["after"])
            before = _noted(touched.by_hand, before, checkout.state())
        elif block.info.split()[0] == "console" and "skip=" not in block.info:
            for command in commands_of(block):
                printed = checkout(command.text)
                shown = "\n".join(command.expected)
                assert as_expected(command.expected, printed), (
                    f"{page.name}:{command.line}: `{command.text}` printed\n{printed}\nand the page says\n{shown}"
                )
                touched.commands += 1
                who = touched.by_hand if command.text.startswith("sed ") else touched.made
                before = _noted(who, before, checkout.state())
    return touched


def _noted(who, before, after):
    who.update(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    return after
