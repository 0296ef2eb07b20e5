"""What a run is about: the commit that a change is held against, found from what started the run."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, Any

from step import at

if TYPE_CHECKING:
    from pathlib import Path

_REQUESTS = frozenset(("pull_request", "pull_request_target"))
_DEPTH = "give actions/checkout `fetch-depth: 0`"


class BaseError(Exception):
    """Why the change can't be compared, and what to do."""


def base_of(folder: Path, event_name: str, event: dict[str, Any], asked: str) -> str:
    """A commit; empty where the run is about no change. Raises BaseError.

    For the merge that GitHub makes of a pull request it is what was merged into; else where both sides parted.
    """
    if event_name in _REQUESTS:
        _must_be_checked_out(folder, str(at(event, "pull_request", "head", "sha")))
    if asked:
        return _commit(folder, asked)
    if event_name == "merge_group":
        return _commit(folder, str(at(event, "merge_group", "base_sha")))
    if event_name not in _REQUESTS:
        return ""
    head, tip = str(at(event, "pull_request", "head", "sha")), str(at(event, "pull_request", "base", "sha"))
    parents = _parents(folder)
    if len(parents) > 1 and parents[1] == head:
        return _commit(folder, parents[0])
    parted = _git(folder, "merge-base", _commit(folder, tip), "HEAD")
    if not parted:
        raise BaseError(f"the history of the change and of its base don't meet in this clone: {_DEPTH}")
    return parted


def _must_be_checked_out(folder: Path, head: str) -> None:
    """A run that judges the base in place of the change would always be green."""
    here = _git(folder, "rev-parse", "HEAD")
    if not here:
        raise BaseError("there is no git repository with a commit here: check the change out first")
    if head in (here, *_parents(folder)) or _answers(folder, "merge-base", "--is-ancestor", head, "HEAD"):
        return
    raise BaseError(
        "what is checked out is not the pull request: give actions/checkout a `ref`, as docs/github.md shows it"
    )


def _commit(folder: Path, revision: str) -> str:
    found = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if not found:
        raise BaseError(f"the base `{revision[:80]}` is not in this clone: {_DEPTH}")
    return found


def _parents(folder: Path) -> list[str]:
    """As the commit itself names them: they are told although a shallow clone does not have them."""
    text = _git(folder, "cat-file", "commit", "HEAD").partition("\n\n")[0]
    return [line.removeprefix("parent ") for line in text.splitlines() if line.startswith("parent ")]


def _git(folder: Path, *words: str) -> str:
    """Empty where git fails."""
    done = _run(folder, *words)
    return done.stdout.strip() if done.returncode == 0 else ""


def _answers(folder: Path, *words: str) -> bool:
    return _run(folder, *words).returncode == 0


def _run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0"}
    return subprocess.run(
        ["git", "-c", "core.fsmonitor=false", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
