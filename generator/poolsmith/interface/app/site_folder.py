"""A folder of generated pages: what is in its list is replaced or removed, and nothing else is ever touched.

All pages are written beside their places first. Then each takes its place as a whole: a run that is stopped leaves
pages of which each is whole and in the list, and the next run puts them right.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import UsageError, WriteError
from poolsmith.core.diagnostics.message_text import printable
from poolsmith.interface.app.report_files import refuse_place

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LIST = ".poolsmith-site.json"
_STAGED = ".poolsmith-site-new"
_MOST_BYTES = 32 << 20


def write_site(root: Path, folder: Path, pages: Iterable[tuple[str, str]]) -> int:
    """How many pages, by paths below the folder with their texts. Raises UsageError, WriteError."""
    said = printable(str(folder))
    refuse_place(root, str(folder), said)
    owned = _owned(folder, said)
    staged = folder / f"{_STAGED}-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        staged.mkdir()
        try:
            written = _stage(staged, pages)
            _refuse_others(folder, written, owned, said)
            _keep_list(staged, folder, owned.union(written))
            for path in written:
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                (staged / path).replace(target)
            _remove(folder, owned.difference(written))
            _keep_list(staged, folder, written)
        finally:
            shutil.rmtree(staged, ignore_errors=True)
    except OSError as error:
        raise WriteError(f"{said}: {error.strerror or error}") from error
    return len(written)


def _keep_list(staged: Path, folder: Path, files: Iterable[str]) -> None:
    """First of all pages that may be there from now on, so that a run that is stopped owns what it wrote."""
    (staged / LIST).write_text(json.dumps({"version": 1, "files": sorted(files)}, indent=1) + "\n", "utf-8")
    (staged / LIST).replace(folder / LIST)


def _stage(staged: Path, pages: Iterable[tuple[str, str]]) -> list[str]:
    written = []
    for path, text in pages:
        target = staged / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", errors="backslashreplace", newline="")
        written.append(path)
    return sorted(written)


def _owned(folder: Path, said: str) -> frozenset[str]:
    """What an earlier run wrote; nothing in a folder that is new or empty. Raises UsageError for a folder of others."""
    if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
        return frozenset()
    if not folder.is_dir():
        raise UsageError(f"{said} is no folder")
    if not os.path.lexists(folder / LIST):
        raise UsageError(f"{said} holds files that no site of poolsmith is; name a folder that is empty")
    files = _listed(folder / LIST)
    if files is None:
        raise UsageError(f"{said}: {LIST} is not what poolsmith writes; name a folder that is empty")
    return frozenset(files)


def _listed(path: Path) -> list[str] | None:
    """None where it is no list of pages."""
    try:
        if path.is_symlink() or path.stat().st_size > _MOST_BYTES:
            return None
        files = json.loads(path.read_text("utf-8"))["files"]
        return files if all(isinstance(name, str) and _is_page(name) for name in files) else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_page(name: str) -> bool:
    """Below the folder, and of the kind that is written: what a list names that somebody edited is not removed."""
    return name.endswith(".html") and not name.startswith("/") and ".." not in name.split("/")


def _refuse_others(folder: Path, written: Iterable[str], owned: frozenset[str], said: str) -> None:
    for path in written:
        target = folder / path
        if os.path.lexists(target) and path not in owned:
            raise UsageError(f"{said}: {path} is a file of somebody else; nothing was changed")
        for place in (target, *target.parents):
            if place == folder:
                break
            if place.is_symlink():
                raise UsageError(f"{said}: {path} is reached by a symbolic link; nothing was changed")


def _remove(folder: Path, gone: Iterable[str]) -> None:
    """Pages of clusters and pools that are no more, and their folders where these are empty."""
    for path in sorted(gone):
        target = folder / path
        if any(place.is_symlink() for place in target.parents if place != folder and folder in place.parents):
            continue
        target.unlink(missing_ok=True)
        for parent in target.parents:
            if parent == folder or any(parent.iterdir()):
                break
            parent.rmdir()
