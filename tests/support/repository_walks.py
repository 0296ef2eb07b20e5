"""Sections of a page that change this repository: each is done in a copy of it, and who changed which file is noted.

On top of what `walks.py` reads: a block with `file=<path> after="<line>"` or `before="<line>"` goes into the file, beside
each line that is exactly this one. The command `sed` edits by hand; what other commands change is made. A command that fails ends the walk.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from hashlib import sha256

from support.walks import ROOT, Shell, as_expected, blocks_of, commands_of

_FILE = re.compile(r"""\bfile=(?P<path>\S+)(?: (?P<side>after|before)=(?P<quote>["'])(?P<line>.*?)(?P=quote))?$""")
_COPIED = ("generator", "docs", "profiles", "policies", "output", "pyproject.toml", "Makefile", "requirements.lock")
_LEFT = (
    "golden",
    "miniatures",
    "oracle",
    "fuzz",
    "pull_requests",
    "control_plane",
    "real_tools",
    "guard",
    "__pycache__",
)
"""Folders of tests that no section runs, and one with more than a thousand examples, which are linked."""
_EXAMPLES = "tests/guard/rules/examples"
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
        (self.folder / "tests").mkdir()
        tests = [path for path in (ROOT / "tests").iterdir() if path.name not in _LEFT]
        for folder, paths in ((self.folder, [ROOT / name for name in _COPIED]), (self.folder / "tests", tests)):
            subprocess.run(["cp", "-Rp", *map(str, paths), str(folder)], check=True)
        shutil.copytree(ROOT / "tests/guard", self.folder / "tests/guard", ignore=shutil.ignore_patterns("examples"))
        (self.folder / _EXAMPLES).mkdir()
        for example in (ROOT / _EXAMPLES).iterdir():
            (self.folder / _EXAMPLES / example.name).symlink_to(example)
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

    def put(self, path, body, side, beside):
        target = self.folder / path
        if side is None:
            assert not target.exists(), f"{path} is there already"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body, "utf-8")
            return
        lines = target.read_text("utf-8").splitlines(keepends=True)
        assert f"{beside}\n" in lines, f"{path} has no line `{beside}`"
        put = {"after": lambda line: line + body, "before": lambda line: body + line}[side]
        target.write_text("".join(put(line) if line == f"{beside}\n" else line for line in lines), "utf-8")

    def state(self, before=None):
        """The content of each file; what has not been written since `before` was taken is not read again."""
        found = {}
        for path in _files(self.folder):
            seen = path.stat()
            stamp = (seen.st_mtime_ns, seen.st_size, seen.st_ino)
            name = path.relative_to(self.folder).as_posix()
            known = (before or {}).get(name)
            content = known[1] if known and known[0] == stamp else sha256(path.read_bytes()).digest()
            found[name] = (stamp, content)
        return found


def _files(folder):
    for path in folder.iterdir():
        if path.name in _NOT_OURS or path.is_symlink():
            continue
        if path.is_dir():
            yield from _files(path)
        else:
            yield path


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
            checkout.put(file["path"], block.body, file["side"], file["line"])
            before = _noted(touched.by_hand, before, checkout.state(before))
        elif block.info.split()[0] == "console" and "skip=" not in block.info:
            for command in commands_of(block):
                printed = checkout(command.text)
                shown = "\n".join(command.expected)
                assert as_expected(command.expected, printed), (
                    f"{page.name}:{command.line}: `{command.text}` printed\n{printed}\nand the page says\n{shown}"
                )
                touched.commands += 1
                who = touched.by_hand if command.text.startswith("sed ") else touched.made
                before = _noted(who, before, checkout.state(before))
    return touched


def _noted(who, before, after):
    contents = [{path: content for path, (_, content) in state.items()} for state in (before, after)]
    who.update(path for path, _ in contents[0].items() ^ contents[1].items())
    return after
