"""Use case: the commit that last changed the line that a finding is about.

Who is told at night that a node differs from its profile asks first who changed the profile. A line that is not
committed as it stands has no such commit, nor has anything where the project is in no repository of git.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import Location, UsageError
from poolsmith.core.pattern import pattern
from poolsmith.core.sources.git import Git

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from poolsmith.core.diagnostics import Diagnostic

_MOST_FILES = 40
_STACK = "/spec/stack"
_COMMIT = pattern(r"(?P<commit>[0-9a-f]{40,64}) \d+ (?P<line>\d+)(?: \d+)?")
_WHEN = "committer-time "


def with_last_changes(root: Path, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each finding with the commit of its line as a further place.

    One that stands at the stack as a whole is about something that no line of the profile says.
    """
    paths = dict.fromkeys(item.primary.span.path for item in found if _is_of_line(item))
    try:
        commits = {path: _commits_of_lines(root, path) for path in list(paths)[:_MOST_FILES]}
    except UsageError:
        return tuple(found)  # no git, or one that does not answer: the findings are what they are
    return tuple(_with_commit(item, commits) if _is_of_line(item) else item for item in found)


def _is_of_line(item: Diagnostic) -> bool:
    return item.primary.span.start is not None and item.primary.pointer != _STACK


def _with_commit(item: Diagnostic, commits: Mapping[str, Mapping[int, str]]) -> Diagnostic:
    span = item.primary.span
    said = commits.get(span.path, {}).get(span.start.line) if span.start is not None else None
    if said is None:
        return item
    return replace(item, related=(*item.related, Location(span=span, note=f"last changed in commit {said}")))


def _commits_of_lines(root: Path, path: str) -> dict[int, str]:
    """Of each line that is committed as it stands: `1a2b3c4d5e6f of 2026-11-27`. Raises UsageError.

    The file is compared here: git would run filters of the repository to compare it.
    """
    try:
        standing = (root / path).read_text("utf-8", "replace").split("\n")
    except OSError:
        return {}
    run = Git(root, "verify").run("blame", "--line-porcelain", "--no-textconv", "HEAD", "--", path, may_fail=True)
    said: dict[int, str] = {}
    commit, day, line = "", "", 0
    for text in run.stdout.decode("utf-8", "replace").split("\n") if run.returncode == 0 else ():
        head = _COMMIT.fullmatch(text)
        if head is not None:
            commit, line = head["commit"], int(head["line"])
        elif text.startswith(_WHEN):
            day = _day(text.removeprefix(_WHEN))
        elif text.startswith("\t") and standing[line - 1 : line] == [text[1:]]:
            said[line] = f"{commit[:12]} of {day}"
    return said


def _day(seconds: str) -> str:
    return str(dt.datetime.fromtimestamp(int(seconds), dt.UTC).date())
