"""Which files the pipelines of a revision run or read, as far as their texts name them."""

from __future__ import annotations

import posixpath
import re
from functools import cached_property
from typing import TYPE_CHECKING

from poolsmith.change.review.judge_names import IMPLIED, Part, may_run, part_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.change.review.git_texts import GitTexts

_WORD = re.compile(r"[A-Za-z0-9_.+@~/-]+")
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
