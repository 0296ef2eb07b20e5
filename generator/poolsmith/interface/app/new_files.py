"""Files that are written where nothing stands: all of them or none."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from poolsmith.core.diagnostics import WriteError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TEMPORARY = ".poolsmith-new"


def write_new_files(root: Path, texts: Mapping[str, str]) -> None:
    """Texts by their paths below a root; a file that exists is never touched. Raises WriteError."""
    written: list[Path] = []
    try:
        for path, text in texts.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            _write_new(target, text)
            written.append(target)
    except OSError as error:
        for target in written:
            with suppress(OSError):
                target.unlink()
        message = f"can't write {error.filename2 or error.filename or next(iter(texts))}: {error.strerror or error}"
        raise WriteError(f"{message}; nothing was changed") from error


def _write_new(target: Path, text: str) -> None:
    """The whole file or none, and only where nothing stands. Raises OSError."""
    temporary = target.parent / f"{_TEMPORARY}-{os.getpid()}"
    try:
        temporary.write_text(text, "utf-8")
        os.link(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def replace_file(target: Path, text: str) -> None:
    """The whole new text, or the old one. Raises WriteError."""
    temporary = target.parent / f"{_TEMPORARY}-{os.getpid()}"
    try:
        if target.is_symlink() or target.parent.is_symlink():
            raise WriteError(f"{target} is reached by a symbolic link; nothing was changed")
        temporary.write_text(text, "utf-8", newline="")
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except OSError as error:
        raise WriteError(f"can't write {target}: {error.strerror or error}; nothing was changed") from error
    finally:
        temporary.unlink(missing_ok=True)
