"""Which files the pipelines of a revision run or read, by their names and by the texts that name them.

All names are compared in lower case: some file systems do not tell cases apart. Texts come from git's objects; a file
that is too large or no text has none.
"""

from __future__ import annotations

import posixpath
import re
from enum import Enum, auto
from fnmatch import translate
from functools import cache, cached_property
from typing import TYPE_CHECKING

from poolsmith.core.facts import store
from poolsmith.core.pattern import pattern as compiled_later
from poolsmith.core.sources.git import Git
from poolsmith.guard.policies.revision import SUBMODULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from poolsmith.guard.policies.revision import GitFile


class Part(Enum):
    """What a file may decide."""

    APPROVAL = auto()
    """Who has to approve a change, or what merges it."""
    VIEW = auto()
    """What reviewers and delivery engines see of the repository."""
    ATTRIBUTES = auto()
    """.gitattributes"""
    PIPELINE = auto()
    """What runs on pull requests."""
    HOOK = auto()
    """What runs on commits, or is offered to run there."""
    BOT = auto()
    """What proposes changes of its own."""
    PIN = auto()
    """What gets installed, and which commands do what."""


_FILE = "review/judge_files.yaml"
_SCRIPTS = (".sh", ".bash", ".py", ".mk", ".js", ".mjs", ".ts", ".rb", ".pl", ".ps1")
IMPLIED: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\bg?make\b", ("makefile", "gnumakefile")),
    (r"\btox\b", ("tox.ini", "pyproject.toml", "setup.cfg")),
    (r"\bnox\b", ("noxfile.py",)),
    (r"\bjust\b", ("justfile",)),
    (r"\btask\b", ("taskfile.yml", "taskfile.yaml")),
    (r"\bpre-commit\b", (".pre-commit-config.yaml",)),
    (r"(?m:^)(?:(?!\bpip3? install\b)[^\n])*+pip3? install\b[^\n]*\s\.", ("pyproject.toml", "setup.py", "setup.cfg")),
    (r"\b(uv|poetry|pdm|hatch|pipenv)\b", ("pyproject.toml", "uv.lock", "poetry.lock", "pdm.lock", "pipfile.lock")),
    (r"\bdocker\b", ("dockerfile",)),
    (r"\bmise\b", ("mise.toml", ".mise.toml", ".tool-versions")),
)
"""Words of a command, and the files at the top or in the project that it reads without being told."""


@cache
def _forms() -> tuple[tuple[tuple[Part, re.Pattern[str]], ...], ...]:
    """Of paths, then of names, by part. Every path of a repository is held against them. No pack of facts adds any."""
    table = store.read_own_yaml(_FILE)
    return tuple(
        tuple((Part[part], re.compile("|".join(map(translate, listed)))) for part, listed in table[kind].items())
        for kind in ("paths", "names")
    )


def part_of(path: str) -> Part | None:
    """None of a file that may have to do with the check only because something runs it."""
    lowered = path.casefold()
    for text, forms in zip((lowered, lowered.rpartition("/")[2]), _forms(), strict=True):
        for part, form in forms:
            if form.match(text):
                return part
    return None


def may_run(path: str, mode: str) -> bool:
    """Whether a file that a pipeline names is more than a text to it."""
    name = path.casefold().rpartition("/")[2]
    return mode == "100755" or name.endswith(_SCRIPTS) or part_of(path) is not None


_WORD = compiled_later(r"[A-Za-z0-9_.+@~/-]+")
_OURS = "poolsmith"
_OF_THE_ACTION = "GITHUB_ACTION_PATH/"
"""How the steps of an action name its own files; `${...}` and expressions end in a brace, and leave a slash."""
_MOST_FILES = 2_000
_IMPLIED = tuple((re.compile(pattern), names) for pattern, names in IMPLIED)


class Pipelines:
    """Of one revision. `prefix` leads from the top of the repository to the project, `own` are the project's folders
    that are no part of its pipelines."""

    def __init__(self, texts: GitTexts, prefix: str, own: tuple[str, ...]) -> None:
        self._texts = texts
        self._prefix = prefix
        self._own = own
        self._folders = frozenset(path.rpartition("/")[0] for path in texts.files)

    @cached_property
    def judging(self) -> frozenset[str]:
        """Files that pipelines run or read which have to do with poolsmith, these included."""
        found: set[str] = set()
        roots = [path for path in self._texts.files if part_of(path) in (Part.PIPELINE, Part.HOOK)]
        self._texts.of(roots)
        for root in roots:
            reached = self.reached(root)
            if any(self.names_us(path) for path in reached):
                found |= reached
        return frozenset(found)

    def names_us(self, path: str) -> bool:
        return _OURS in (self._texts.text(path) or "").casefold()

    def reached(self, root: str) -> frozenset[str]:
        """With the files that these name in turn."""
        seen, pending = {root}, [root]
        while pending and len(seen) < _MOST_FILES:
            texts = self._texts.of(pending)
            pending = []
            for path, text in texts.items():
                for named in self._named(path, text or ""):
                    if named not in seen:
                        seen.add(named)
                        pending.append(named)
        return frozenset(seen)

    def _named(self, path: str, text: str) -> Iterator[str]:
        here = path.rpartition("/")[0]
        for word in {word.removeprefix(_OF_THE_ACTION).lstrip("/") for word in _WORD.findall(text)}:
            for folder in {"", self._prefix.rstrip("/"), here}:
                there = posixpath.normpath(posixpath.join(folder, word))
                if there in self._texts.files:
                    if self._is_run(there):
                        yield there
                elif word.startswith("./") and there in self._folders:
                    yield from self._action(there)
        for pattern, names in _IMPLIED:
            if pattern.search(text):
                yield from (item for item in self._texts.files if self._is_at_top(item, names))

    def _action(self, folder: str) -> Iterator[str]:
        """All files of an action of one's own: what its first one runs, nobody can tell."""
        if any(f"{folder}/{name}" in self._texts.files for name in ("action.yml", "action.yaml")):
            yield from (path for path in self._texts.files if path.startswith(f"{folder}/"))

    def _is_run(self, path: str) -> bool:
        return not path.startswith(self._own) and may_run(path, self._texts.files[path].mode)

    def _is_at_top(self, path: str, names: tuple[str, ...]) -> bool:
        return path.removeprefix(self._prefix).casefold() in names or path.casefold() in names


FLAG = "--policies-from"
_MOST_BYTES = 1 << 20


class GitTexts:
    """Of one tree. Each text is read once."""

    def __init__(self, root: Path, files: Mapping[str, GitFile]) -> None:
        self.files = files
        self._git = Git(root, FLAG)
        self._texts: dict[str, bytes | None] = {}

    def of(self, paths: Iterable[str]) -> dict[str, str | None]:
        """By path; only of files that there are. Raises UsageError for objects that are not in the clone."""
        there = [path for path in dict.fromkeys(paths) if path in self.files]
        self._read({self.files[path].blob for path in there if self.files[path].mode != SUBMODULE})
        return {path: _decoded(self._texts.get(self.files[path].blob)) for path in there}

    def content(self, path: str) -> bytes | None:
        """The bytes of a file; None where there is none, or too much."""
        if path not in self.files or self.files[path].mode == SUBMODULE:
            return None
        self._read({self.files[path].blob})
        return self._texts.get(self.files[path].blob)

    def text(self, path: str) -> str | None:
        return self.of((path,)).get(path)

    def _read(self, blobs: set[str]) -> None:
        unread = sorted(blobs - self._texts.keys())
        if not unread:
            return
        sizes = self._git.sizes(unread)
        # of a missing object there is no size: reading it will say so
        small = [blob for blob, size in zip(unread, sizes, strict=True) if size is None or size <= _MOST_BYTES]
        self._texts.update(dict.fromkeys(unread))
        for blob, content in zip(small, self._git.contents(small), strict=True):
            self._texts[blob] = content


def _decoded(content: bytes | None) -> str | None:
    if content is None:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None
