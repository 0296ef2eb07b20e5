"""The revision that a change is judged against: the base of a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poolsmith.core.record import record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

LINK = "120000"
SUBMODULE = "160000"


@record(kw_only=False)
class GitFile:
    """An entry of a revision's tree: git's mode (six octal digits) and the id of its content."""

    mode: str
    blob: str


@record
class BaseRevision:
    """`folder` holds `profiles/` and `policies/` as the base has them.

    `commit` is its id. `files` are all files of the base, by path from the top of the repository. `prefix` leads from
    that top to the project's root: empty, or with a slash at its end.
    """

    folder: Path
    prefix: str
    files: Mapping[str, GitFile]
    commit: str = ""
