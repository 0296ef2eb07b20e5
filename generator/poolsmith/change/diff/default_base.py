"""The revision that a change is compared with, when nobody names one: where it left the remote's default branch."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from poolsmith.change.diff.change_report import Revision
from poolsmith.core.diagnostics import UsageError
from poolsmith.core.diagnostics.printable import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from poolsmith.core.sources.git import Git

_GUESSES = ("refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master")


def default_base(git: Git, head: str = "HEAD") -> Revision:
    """The merge base of `head` with the remote's default branch. Raises UsageError that says what to do."""
    git.run("rev-parse", "--git-dir")  # outside of a repository git says so
    tip = _resolved(git, head)
    if tip is None:
        raise UsageError(f"{git.flag}: there is no commit yet to compare with; commit the base first")
    branch = next(_default_branches(git), None)
    if branch is None:
        raise UsageError(
            "there is neither a default branch of a remote nor a branch `main` or `master` to compare with"
            f"{_shallow(git)}; name the base, such as `{git.flag} origin/main`"
        )
    found = git.run("merge-base", "--", branch, tip, may_fail=True).stdout.decode().strip()
    if not found:
        raise UsageError(
            f"`{shown(branch)}` and `{printable(shorten(head))}` have no commit in common here{_shallow(git)}; "
            f"name the base with {git.flag}"
        )
    return Revision(name=shown(branch), commit=found.splitlines()[0])


def shown(branch: str) -> str:
    for prefix in ("refs/remotes/", "refs/heads/"):
        branch = branch.removeprefix(prefix)
    return printable(shorten(branch))


def _default_branches(git: Git) -> Iterator[str]:
    """Branches that exist, most likely first: what the remotes call their HEAD, `origin` before the others."""
    heads = git.run("for-each-ref", "--format=%(refname)%00%(symref)", "refs/remotes/*/HEAD", may_fail=True).stdout
    known = sorted(line.split("\0") for line in os.fsdecode(heads).splitlines() if "\0" in line)
    known.sort(key=lambda item: item[0] != "refs/remotes/origin/HEAD")
    for branch in (*(symref for _, symref in known if symref), *_GUESSES):
        if _resolved(git, branch) is not None:
            yield branch


def _resolved(git: Git, revision: str) -> str | None:
    found = git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}", may_fail=True)
    return found.stdout.decode().strip() or None if found.returncode == 0 else None


def _shallow(git: Git) -> str:
    said = git.run("rev-parse", "--is-shallow-repository", may_fail=True).stdout.strip()
    if said != b"true":
        return ""
    return ": the clone is shallow. Fetch its history (`git fetch --unshallow`; `fetch-depth: 0` of actions/checkout)"
